#include "kernel/vocabulary.h"

namespace pushdown {

#define PUSHDOWN_DECLARE(isa)                       \
  namespace isa_##isa {                             \
    VocabularyKernel<float> vocabulary_kernel_f();  \
    VocabularyKernel<double> vocabulary_kernel_d(); \
  }
PUSHDOWN_DECLARE(baseline)
PUSHDOWN_DECLARE(avx2)
PUSHDOWN_DECLARE(avx512)
#undef PUSHDOWN_DECLARE

template <>
VocabularyKernel<float> vocabulary_kernel(Isa isa) {
#ifdef PUSHDOWN_X86
  if (isa == Isa::avx512) return isa_avx512::vocabulary_kernel_f();
  if (isa == Isa::avx2) return isa_avx2::vocabulary_kernel_f();
#endif
  return isa_baseline::vocabulary_kernel_f();
}

template <>
VocabularyKernel<double> vocabulary_kernel(Isa isa) {
#ifdef PUSHDOWN_X86
  if (isa == Isa::avx512) return isa_avx512::vocabulary_kernel_d();
  if (isa == Isa::avx2) return isa_avx2::vocabulary_kernel_d();
#endif
  return isa_baseline::vocabulary_kernel_d();
}

}  // namespace pushdown
