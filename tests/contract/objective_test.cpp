// The losses of the objectives' examples, and that the contract tests find violations.
#include <gtest/gtest.h>

#include "analysis/contract.h"
#include "support/message.h"
#include "train/learning/objective.h"

namespace pushdown::objective_test {
namespace {

TEST(ObjectiveExamples, HaveTheLossesOfTheirExamples) {
  for (const auto& kind : objective_kinds())
    for (const auto& example : kind.examples) {
      ObjectiveBatch batch;
      batch.scores = at::tensor(example.scores, at::kDouble).view({1, -1});
      batch.labels = at::full({1}, example.valid ? 1.0 : 0.0, at::kDouble);
      const double loss = make_objective(kind.name)->losses(batch).item<double>();
      EXPECT_NEAR(loss, example.loss, 1e-12) << kind.name;
    }
}

// The names of the checks with complaints.
std::string complaining(const std::vector<ContractCheck>& checks, const Json& options,
                        const TrainingKinds& kinds) {
  std::string names;
  for (const auto& result : run_contract(checks, options, kinds))
    if (!result.complaints.empty()) names += result.name + " ";
  return names;
}

// Objectives with one error each.
TEST(ContractItself, FindsBrokenObjectives) {
  struct Broken : Objective {
    std::string how;
    explicit Broken(std::string given) : how(std::move(given)) {}
    Tensor losses(const ObjectiveBatch& batch) const override {
      Tensor losses = batch.scores.square().sum(1);
      if (how == "mean") losses = batch.scores.square().mean(1);
      if (how == "batch") losses = losses / static_cast<double>(losses.size(0));
      if (how == "constant") losses = (batch.scores * batch.scores.detach()).sum(1);
      return losses;
    }
  };
  for (const auto& [how, wanted] : {std::pair{"right", ""},
                                    {"mean", "pieces "},
                                    {"batch", "batches pieces "},
                                    {"constant", "gradients "}}) {
    TrainingKinds kinds;
    kinds.objectives.push_back(
        {how, "", {}, [how = how](const Json&) { return std::make_unique<Broken>(how); }});
    EXPECT_EQ(complaining(objective_contract(), {{"kind", how}}, kinds), wanted) << how;
  }
}

// Stacks with one error each, driven by the first two numbers of the hidden vector.
struct BrokenState : StackState {
  Tensor sum;
  explicit BrokenState(Tensor given) : sum(std::move(given)) {}
  StackStatePtr detached() const override { return std::make_shared<BrokenState>(sum.detach()); }
  std::size_t bytes() const override { return tensor_bytes(sum); }
};

class BrokenStack : public Stack {
 public:
  BrokenStack(std::string how, const ModuleContext& context)
      : how_(std::move(how)), options_(context.tensor_options) {
    if (how_ == "parameters")
      parameters_.emplace_back("unused", uniform_parameter({2}, -1, 1, context));
  }
  std::int64_t reading_size() const override { return 2; }
  StackStatePtr initial(std::int64_t batch, std::int64_t length) const override {
    const double value = how_ == "pieces" ? 0.1 * static_cast<double>(length) : 0;
    return std::make_shared<BrokenState>(at::full({batch, 2}, value, options_));
  }
  StackStatePtr update(const StackStatePtr& state, const Tensor& hidden) const override {
    const Tensor& old = static_cast<const BrokenState&>(*state).sum;
    Tensor input = hidden.narrow(1, 0, 2);
    if (how_ == "batches") input = input - input.mean(0, true);
    if (how_ == "gradients") input = (input * 2).detach() - input;
    if (how_ == "shapes") input = input / (input - input);
    if (how_ == "branches") old.add_(1);
    return std::make_shared<BrokenState>(old * 0.5 + input);
  }
  Tensor reading(const StackStatePtr& state) const override {
    return static_cast<const BrokenState&>(*state).sum;
  }

 private:
  std::string how_;
  at::TensorOptions options_;
};

TEST(ContractItself, FindsBrokenStacks) {
  for (const std::string how :
       {"right", "parameters", "pieces", "batches", "gradients", "shapes", "branches"}) {
    TrainingKinds kinds;
    StackKind kind;
    kind.name = how;
    kind.make = [how](const Json&, const ModuleContext& context) -> StackPtr {
      return std::make_shared<BrokenStack>(how, context);
    };
    kinds.stacks.push_back(kind);
    const Json options{{"controller", {{"kind", "elman"}, {"hidden", 4}}},
                       {"stack", {{"kind", how}}}};
    const auto found = complaining(language_model_contract(), options, kinds) +
                       complaining(recognizer_contract(), options, kinds);
    if (how == "right")
      EXPECT_EQ(found, "");
    else
      EXPECT_CONTAINS(found, how) << how << " is found by: " << found;
  }
}

}  // namespace
}  // namespace pushdown::objective_test
