// Loops of the nondeterministic stack; see nondeterministic_kernel.h. Compiled once for each
// instruction set, with the common sizes as compile-time constants and generically for the rest.
// PUSHDOWN_GENERIC_SIZES: a copy that this machine does not use has no constants, because they take
// most of the time of its compilation.
#ifndef PUSHDOWN_GENERIC_SIZES
#include "kernel/memory/nondeterministic_fixed.h"
#endif
#include "kernel/memory/nondeterministic_generic.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {
namespace {

template <class F>
NondeterministicKernel<F> choose(int q, int s) {
  NondeterministicKernel<F> kernel{Generic<F>::step, Generic<F>::step_backward,
                                   Generic<F>::finish_backward};
#ifndef PUSHDOWN_GENERIC_SIZES
  const auto fixed = [&]<int kQ, int kS> {
    if (q == kQ && s == kS)
      kernel = {Fixed<F, kQ, kS>::step, Fixed<F, kQ, kS>::step_backward,
                Fixed<F, kQ, kS>::finish_backward};
  };
  fixed.template operator()<1, 2>();
  fixed.template operator()<1, 3>();
  fixed.template operator()<2, 2>();
  fixed.template operator()<2, 3>();
  fixed.template operator()<3, 2>();
  fixed.template operator()<3, 3>();
#endif
  return kernel;
}

}  // namespace

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE

namespace pushdown {

template <>
NondeterministicKernel<float> isa_kernel<NondeterministicKernel<float>, PUSHDOWN_OWN_ISA>(
    const int& states, const int& symbols) {
  return PUSHDOWN_ISA_NAMESPACE::choose<float>(states, symbols);
}
template <>
NondeterministicKernel<double> isa_kernel<NondeterministicKernel<double>, PUSHDOWN_OWN_ISA>(
    const int& states, const int& symbols) {
  return PUSHDOWN_ISA_NAMESPACE::choose<double>(states, symbols);
}

}  // namespace pushdown
