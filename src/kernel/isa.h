// Run-time choice of the instruction set. Every *.isa.cpp is compiled once for each. The functions
// of one copy live in the namespace isa_<name>; what others may call is an isa_kernel() of it.
#pragma once
#include <string>
#include <vector>

// For what kernel files share with others: never emitted as a function of its own, of which the
// linker would keep the copy of any instruction set.
#define PUSHDOWN_INLINE [[gnu::always_inline]] inline
#define PUSHDOWN_JOIN_(a, b) a##b
#define PUSHDOWN_JOIN(a, b) PUSHDOWN_JOIN_(a, b)
#define PUSHDOWN_ISA_NAMESPACE PUSHDOWN_JOIN(isa_, PUSHDOWN_ISA)
#define PUSHDOWN_OWN_ISA Isa::PUSHDOWN_ISA
// PUSHDOWN_BASELINE_ONLY: a build without the others, which takes less time.
#if (defined(__x86_64__) || defined(_M_X64)) && !defined(PUSHDOWN_BASELINE_ONLY)
#define PUSHDOWN_X86
#endif

namespace pushdown {

enum class Isa { baseline, avx2, avx512 };

// The instruction sets that this build holds and this processor has, slowest first.
std::vector<Isa> usable_isas();
// The one in use: the best usable, or the one that the environment variable PUSHDOWN_ISA names.
Isa current_isa();
// "baseline", "avx2", "avx512".
std::string isa_name(Isa isa);

// A table of functions for one instruction set. Each *.isa.cpp has a specialization for its own,
// PUSHDOWN_OWN_ISA.
template <class Kernel, Isa isa, class... Arguments>
Kernel isa_kernel(const Arguments&... arguments);

// The table for `isa`, one of usable_isas().
template <class Kernel, class... Arguments>
Kernel kernel_for(Isa isa, const Arguments&... arguments) {
#ifdef PUSHDOWN_X86
  if (isa == Isa::avx512) return isa_kernel<Kernel, Isa::avx512>(arguments...);
  if (isa == Isa::avx2) return isa_kernel<Kernel, Isa::avx2>(arguments...);
#endif
  return isa_kernel<Kernel, Isa::baseline>(arguments...);
}

}  // namespace pushdown
