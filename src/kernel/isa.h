// Run-time selection of the instruction set. Every *.isa.cpp is compiled once for each. The
// functions of one copy are in the namespace isa_<name>; other files call them through an
// isa_kernel().
#pragma once
#include <string>
#include <vector>

// For functions that kernel files share with others. They must never be emitted as functions of
// their own, because the linker could keep the copy of any instruction set.
#define PUSHDOWN_INLINE [[gnu::always_inline]] inline
// The same for functions that CUDA kernels use, too.
#ifdef __CUDACC__
#define PUSHDOWN_INLINE_ANYWHERE __host__ __device__ __forceinline__
#else
#define PUSHDOWN_INLINE_ANYWHERE PUSHDOWN_INLINE
#endif
#define PUSHDOWN_JOIN_(a, b) a##b
#define PUSHDOWN_JOIN(a, b) PUSHDOWN_JOIN_(a, b)
#define PUSHDOWN_ISA_NAMESPACE PUSHDOWN_JOIN(isa_, PUSHDOWN_ISA)
#define PUSHDOWN_OWN_ISA Isa::PUSHDOWN_ISA

namespace pushdown {

enum class Isa { baseline, avx2, avx512 };

// Returns the instruction sets that this build contains and this processor supports, slowest first.
std::vector<Isa> usable_isas();
// Returns the one in use: the best usable one, or the one that the environment variable
// PUSHDOWN_ISA names.
Isa current_isa();
// Returns "baseline", "avx2" or "avx512".
std::string isa_name(Isa isa);

// A table of functions for one instruction set. Each *.isa.cpp has a specialization for its own,
// PUSHDOWN_OWN_ISA.
template <class Kernel, Isa isa, class... Arguments>
Kernel isa_kernel(const Arguments&... arguments);

// Returns the table for `isa`, one of usable_isas().
template <class Kernel, class... Arguments>
Kernel kernel_for(Isa isa, const Arguments&... arguments) {
#ifdef PUSHDOWN_WITH_AVX512
  if (isa == Isa::avx512) return isa_kernel<Kernel, Isa::avx512>(arguments...);
#endif
#ifdef PUSHDOWN_WITH_AVX2
  if (isa == Isa::avx2) return isa_kernel<Kernel, Isa::avx2>(arguments...);
#endif
  return isa_kernel<Kernel, Isa::baseline>(arguments...);
}

}  // namespace pushdown
