// Loops of the nondeterministic stack; see nondeterministic_kernel.h. Compiled once for each
// instruction set, with the common sizes as compile-time constants and generically for the rest.
#include "kernel/memory/nondeterministic_fixed.h"
#include "kernel/memory/nondeterministic_generic.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {
namespace {

template <class F>
NondeterministicKernel<F> choose(int q, int s) {
  const auto fixed = [&]<int kQ, int kS>(NondeterministicKernel<F>& kernel) {
    if (q == kQ && s == kS)
      kernel = {Fixed<F, kQ, kS>::step, Fixed<F, kQ, kS>::step_backward,
                Fixed<F, kQ, kS>::finish_backward};
  };
  NondeterministicKernel<F> kernel{Generic<F>::step, Generic<F>::step_backward,
                                   Generic<F>::finish_backward};
  fixed.template operator()<1, 2>(kernel);
  fixed.template operator()<1, 3>(kernel);
  fixed.template operator()<2, 2>(kernel);
  fixed.template operator()<2, 3>(kernel);
  fixed.template operator()<3, 2>(kernel);
  fixed.template operator()<3, 3>(kernel);
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
