// How a strength of a step (of a push, of a pop, of a reading) comes about from the controller's
// hidden vector h, for each of K memories side by side:
//   sigmoid      1 / (1 + exp(-(W h + b)))                     (Grefenstette et al. 2015)
//   expectation  E[p] = sum_{i=0}^{k} i p_i, p = softmax(W h + b), k being the greatest strength
//                                                              (Merrill et al. 2019, section 2.2)
//   fixed        1, without parameters
// Rows of W are ordered by memory, those of an expectation then by i.
#pragma once
#include "kernel/memory/memory_shape.h"
#include "stack/kinds.h"

namespace pushdown {

class StrengthLayer {
 public:
  // `how`: one of the names above. The layer becomes {name}_weight and {name}_bias.
  StrengthLayer(const std::string& name, const std::string& how, std::int64_t greatest,
                std::int64_t memories, const ModuleContext& context, ParameterList& parameters);

  // hidden : ... x H -> ... x K; undefined where it is fixed to 1.
  Tensor operator()(const Tensor& hidden) const;
  // ... x K x (k+1); undefined where it is no expectation.
  Tensor distribution(const Tensor& hidden) const;

  StrengthKind kind() const { return kind_; }
  const ActionLayer& layer() const { return layer_; }  // undefined tensors where fixed

 private:
  StrengthKind kind_;
  std::int64_t greatest_, memories_;
  ActionLayer layer_;
};

// push, pop, read and max_strength.
std::vector<OptionSpec> strength_options();

}  // namespace pushdown
