// Stratification stack (Grefenstette et al. 2015, equations 1-3): vectors V[1..t] with strengths s.
// A step first pops a thickness u from the top, then pushes v with strength d:
//   s'[i] = max(0, s[i] - max(0, u - sum_{j>i} s[j]))  for i < t,   s'[t] = d
// and reads the top layer of thickness one:
//   r = sum_i min(s'[i], max(0, 1 - sum_{j>i} s'[j])) V[i],   r = 0 before any step.
// Where both arguments of the min are equal the gradient goes to the strength, as in the paper's
// supplement. Controller interface of Dusell and Chiang (2020), section 5.4:
//   d = sigmoid(W_d h + b_d),  u = sigmoid(W_u h + b_u),  v = tanh(W_v h + b_v).
// Cost O(t m) at step t.
#include "base/check.h"
#include "stack/kinds.h"

namespace pushdown {
namespace {

struct Strata : StackState {
  Tensor vectors;    // B x t x m, bottom first
  Tensor strengths;  // B x t

  StackStatePtr detached() const override {
    auto copy = std::make_shared<Strata>();
    copy->vectors = vectors.detach();
    copy->strengths = strengths.detach();
    return copy;
  }
  std::size_t bytes() const override { return tensor_bytes(vectors) + tensor_bytes(strengths); }
  std::vector<Tensor> tensors() const override { return {vectors, strengths}; }
  StackStatePtr with_tensors(const std::vector<Tensor>& given) const override {
    check_state_tensors("stack.stratification", tensors(), given);
    auto copy = std::make_shared<Strata>();
    copy->vectors = given[0];
    copy->strengths = given[1];
    return copy;
  }
};

// sum_{j>i} s[j] for every i : B x t
Tensor strength_above(const Tensor& strengths) {
  return strengths.flip(1).cumsum(1).flip(1) - strengths;
}

// push, pop : B x 1; vector : B x m
std::shared_ptr<Strata> stratification_step(const Strata& old, const Tensor& push,
                                            const Tensor& pop, const Tensor& vector) {
  auto next = std::make_shared<Strata>();
  const Tensor kept = (old.strengths - (pop - strength_above(old.strengths)).relu()).relu();
  next->strengths = at::cat({kept, push}, 1);
  next->vectors = at::cat({old.vectors, vector.unsqueeze(1)}, 1);
  return next;
}

Tensor stratification_reading(const Strata& strata) {
  const Tensor room = (1 - strength_above(strata.strengths)).relu();
  const Tensor share = at::where(strata.strengths <= room, strata.strengths, room);  // B x t
  return at::bmm(share.unsqueeze(1), strata.vectors).squeeze(1);
}

std::shared_ptr<Strata> empty_strata(std::int64_t batch, std::int64_t size,
                                     at::TensorOptions options) {
  auto strata = std::make_shared<Strata>();
  strata->vectors = at::zeros({batch, 0, size}, options);
  strata->strengths = at::zeros({batch, 0}, options);
  return strata;
}

class StratificationStack : public Stack {
 public:
  StratificationStack(const Json& options, const ModuleContext& context)
      : size_(options["size"]),
        options_(context.tensor_options),
        push_(make_action_layer("push", 1, 1.0, context, parameters_)),
        pop_(make_action_layer("pop", 1, 1.0, context, parameters_)),
        vector_(make_action_layer("vector", size_, 5.0 / 3.0, context, parameters_)) {}

  std::int64_t reading_size() const override { return size_; }
  StackStatePtr initial(std::int64_t batch, std::int64_t) const override {
    return empty_strata(batch, size_, options_);
  }
  StackStatePtr update(const StackStatePtr& state, const Tensor& hidden) const override {
    return stratification_step(static_cast<const Strata&>(*state), push_(hidden).sigmoid(),
                               pop_(hidden).sigmoid(), vector_(hidden).tanh());
  }
  Tensor reading(const StackStatePtr& state) const override {
    return stratification_reading(static_cast<const Strata&>(*state));
  }
  bool fused(FusedStack& plan) const override {
    plan.shape.stack = ScanStack::stratification;
    plan.shape.size = size_;
    plan.action_weight = at::cat({push_.weight, pop_.weight, vector_.weight});
    plan.action_bias = at::cat({push_.bias, pop_.bias, vector_.bias});
    return true;
  }

 private:
  std::int64_t size_;
  at::TensorOptions options_;
  ActionLayer push_, pop_, vector_;
};

Tensor simulate(const Json&, const NamedTensors& inputs) {
  const Tensor& vectors = simulate_input("stratification", inputs, "vectors", {-1, -1, -1});
  const auto batch = vectors.size(0), length = vectors.size(1);
  const Tensor& push = simulate_input("stratification", inputs, "push", {batch, length});
  const Tensor& pop = simulate_input("stratification", inputs, "pop", {batch, length});
  auto strata = empty_strata(batch, vectors.size(2), vectors.options());
  std::vector<Tensor> readings{stratification_reading(*strata)};
  for (std::int64_t t = 0; t < length; ++t) {
    strata = stratification_step(*strata, push.narrow(1, t, 1), pop.narrow(1, t, 1),
                                 vectors.select(1, t));
    readings.push_back(stratification_reading(*strata));
  }
  return at::stack(readings, 1);
}

}  // namespace

StackKind stratification_stack() {
  StackKind kind;
  kind.name = "stratification";
  kind.doc = "Vectors with real-valued strengths (Grefenstette et al. 2015).";
  kind.options = {integer_option("size", 20, "size m of a pushed vector", 1)};
  kind.make = [](const Json& options, const ModuleContext& context) -> StackPtr {
    return std::make_shared<StratificationStack>(options, context);
  };
  kind.inputs = {{"push", "B x n: strength d of each push"},
                 {"pop", "B x n: thickness u popped before the push"},
                 {"vectors", "B x n x m: the pushed vectors"}};
  kind.simulate = simulate;
  return kind;
}

}  // namespace pushdown
