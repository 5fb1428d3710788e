#include "kernel/step_program.h"

namespace pushdown {

#define PUSHDOWN_DECLARE(isa)             \
  namespace isa_##isa {                   \
    StepKernel<float> step_kernel_f();    \
    StepKernel<double> step_kernel_d();   \
    ArrayKernel<float> array_kernel_f();  \
    ArrayKernel<double> array_kernel_d(); \
  }
PUSHDOWN_DECLARE(baseline)
PUSHDOWN_DECLARE(avx2)
PUSHDOWN_DECLARE(avx512)
#undef PUSHDOWN_DECLARE
namespace isa_baseline {
std::int64_t step_tape(const MemoryShape& shape);
std::int64_t step_memory_scratch(const MemoryShape& shape);
}  // namespace isa_baseline

template <>
StepKernel<float> step_kernel(Isa isa) {
#ifdef PUSHDOWN_X86
  if (isa == Isa::avx512) return isa_avx512::step_kernel_f();
  if (isa == Isa::avx2) return isa_avx2::step_kernel_f();
#endif
  return isa_baseline::step_kernel_f();
}

template <>
StepKernel<double> step_kernel(Isa isa) {
#ifdef PUSHDOWN_X86
  if (isa == Isa::avx512) return isa_avx512::step_kernel_d();
  if (isa == Isa::avx2) return isa_avx2::step_kernel_d();
#endif
  return isa_baseline::step_kernel_d();
}

template <>
ArrayKernel<float> array_kernel(Isa isa) {
#ifdef PUSHDOWN_X86
  if (isa == Isa::avx512) return isa_avx512::array_kernel_f();
  if (isa == Isa::avx2) return isa_avx2::array_kernel_f();
#endif
  return isa_baseline::array_kernel_f();
}

template <>
ArrayKernel<double> array_kernel(Isa isa) {
#ifdef PUSHDOWN_X86
  if (isa == Isa::avx512) return isa_avx512::array_kernel_d();
  if (isa == Isa::avx2) return isa_avx2::array_kernel_d();
#endif
  return isa_baseline::array_kernel_d();
}

std::int64_t step_tape_size(const MemoryShape& memory) { return isa_baseline::step_tape(memory); }
std::int64_t step_memory_scratch_size(const MemoryShape& memory) {
  return isa_baseline::step_memory_scratch(memory);
}

}  // namespace pushdown
