#include "kernel/dense.h"

namespace pushdown {

#define PUSHDOWN_DECLARE(isa)             \
  namespace isa_##isa {                   \
    DenseKernel<float> dense_kernel_f();  \
    DenseKernel<double> dense_kernel_d(); \
  }
PUSHDOWN_DECLARE(baseline)
PUSHDOWN_DECLARE(avx2)
PUSHDOWN_DECLARE(avx512)
#undef PUSHDOWN_DECLARE

template <>
DenseKernel<float> dense_kernel(Isa isa) {
#ifdef PUSHDOWN_X86
  if (isa == Isa::avx512) return isa_avx512::dense_kernel_f();
  if (isa == Isa::avx2) return isa_avx2::dense_kernel_f();
#endif
  return isa_baseline::dense_kernel_f();
}

template <>
DenseKernel<double> dense_kernel(Isa isa) {
#ifdef PUSHDOWN_X86
  if (isa == Isa::avx512) return isa_avx512::dense_kernel_d();
  if (isa == Isa::avx2) return isa_avx2::dense_kernel_d();
#endif
  return isa_baseline::dense_kernel_d();
}

}  // namespace pushdown
