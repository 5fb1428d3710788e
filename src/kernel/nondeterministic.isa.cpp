// Loops of the nondeterministic stack; see nondeterministic.h. Compiled once for each instruction
// set: with sizes known when compiling for the common ones, and for the rest.
#include "kernel/nondeterministic_fixed.h"
#include "kernel/nondeterministic_generic.h"

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

NondeterministicKernel<float> nondeterministic_kernel_f(int states, int symbols) {
  return choose<float>(states, symbols);
}
NondeterministicKernel<double> nondeterministic_kernel_d(int states, int symbols) {
  return choose<double>(states, symbols);
}

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
