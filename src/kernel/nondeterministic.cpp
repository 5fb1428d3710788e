#include "kernel/nondeterministic.h"

namespace pushdown {

#define PUSHDOWN_DECLARE(isa)                                                          \
  namespace isa_##isa {                                                                \
    NondeterministicKernel<float> nondeterministic_kernel_f(int states, int symbols);  \
    NondeterministicKernel<double> nondeterministic_kernel_d(int states, int symbols); \
  }
PUSHDOWN_DECLARE(baseline)
PUSHDOWN_DECLARE(avx2)
PUSHDOWN_DECLARE(avx512)
#undef PUSHDOWN_DECLARE

template <>
NondeterministicKernel<float> nondeterministic_kernel(Isa isa, int states, int symbols) {
#ifdef PUSHDOWN_X86
  if (isa == Isa::avx512) return isa_avx512::nondeterministic_kernel_f(states, symbols);
  if (isa == Isa::avx2) return isa_avx2::nondeterministic_kernel_f(states, symbols);
#endif
  return isa_baseline::nondeterministic_kernel_f(states, symbols);
}

template <>
NondeterministicKernel<double> nondeterministic_kernel(Isa isa, int states, int symbols) {
#ifdef PUSHDOWN_X86
  if (isa == Isa::avx512) return isa_avx512::nondeterministic_kernel_d(states, symbols);
  if (isa == Isa::avx2) return isa_avx2::nondeterministic_kernel_d(states, symbols);
#endif
  return isa_baseline::nondeterministic_kernel_d(states, symbols);
}

}  // namespace pushdown
