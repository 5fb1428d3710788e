// Computes the strength of a push, a pop or a reading from the controller's hidden vector h, for
// each of K parallel memories:
//   sigmoid      1 / (1 + exp(-(W h + b)))                     (Grefenstette et al. 2015)
//   expectation  E[p] = sum_{i=0}^{k} i p_i, p = softmax(W h + b), k being the greatest strength
//                                                              (Merrill et al. 2019, section 2.2)
//   fixed        1, without parameters
// Rows of W are ordered by memory, then, for an expectation, by i.
#pragma once
#include "kernel/memory/memory_shape.h"
#include "stack/kinds.h"

namespace pushdown {

class StrengthLayer {
 public:
  // `how`: one of the names above. The layer becomes {name}_weight and {name}_bias.
  StrengthLayer(const std::string& name, const std::string& how, std::int64_t greatest,
                std::int64_t memories, const ModuleContext& context, ParameterList& parameters);

  // hidden : ... x H -> ... x K; undefined if fixed to 1.
  Tensor operator()(const Tensor& hidden) const;
  // ... x K x (k+1); undefined unless it is an expectation.
  Tensor distribution(const Tensor& hidden) const;

  StrengthKind kind() const { return kind_; }
  const ActionLayer& layer() const { return layer_; }  // undefined tensors if fixed

 private:
  StrengthKind kind_;
  std::int64_t greatest_, memories_;
  ActionLayer layer_;
};

// Returns the options push, pop, read and max_strength.
std::vector<OptionSpec> strength_options();

}  // namespace pushdown
