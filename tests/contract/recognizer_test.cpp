// What every network must keep as the body of a recognizer: shapes, finite numbers, gradients of
// its losses, independence of the strings in a batch, passes and end symbols, rejected options.
#include <gtest/gtest.h>

#include "cases.h"
#include "model/recognizer.h"
#include "model/state_pushdown.h"
#include "support/golden.h"
#include "support/gradient.h"
#include "train/learning.h"

namespace pushdown {
namespace {

using namespace testing_support;

std::vector<Json> recognizer_cases() {
  auto cases = all_cases();
  for (auto& options : variants("nspda", state_pushdown_network().options)) {
    options["architecture"] = options["kind"];
    options.erase("kind");
    cases.push_back(options);
  }
  // The measure that a network has itself.
  cases.push_back({{"architecture", "nnpda"}, {"states", 3}, {"output", "own"}});
  return cases;
}

class RecognizerContract : public testing::TestWithParam<Json> {
 protected:
  Json options(const Json& more = Json::object()) const {
    Json options = GetParam();
    options["seed"] = 7;
    options["dtype"] = "float64";
    options.update(more);
    return options;
  }
  Recognizer model(const Json& more = Json::object()) const {
    return Recognizer(Alphabet({"a", "b", "c"}), options(more));
  }
  // Quantised units have surrogate derivatives, which are no limits of differences.
  bool quantised() const { return GetParam().value("architecture", "") == "nspda"; }
  static Tensor words(std::int64_t batch, std::int64_t length) {
    Random random(3);
    Tensor words = at::empty({batch, length}, at::kLong);
    for (std::int64_t i = 0; i < words.numel(); ++i)
      words.data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(random.below(3));
    return words;
  }
};

TEST_P(RecognizerContract, ShapesFiniteNumbersAndTheDecision) {
  for (const bool end : {true, false})
    for (const std::int64_t passes : {1, 2}) {
      const auto model = this->model({{"end_symbol", end}, {"passes", passes}});
      for (const auto& [batch, length] : {std::pair{2, 6}, {1, 1}, {3, 2}, {1, 0}}) {
        const Tensor input = words(batch, length);
        const auto made = (length + (end ? 1 : 0)) * passes;
        at::NoGradGuard guard;
        const auto said = model.run(input);
        EXPECT_EQ(said.scores.sizes(), (std::vector<std::int64_t>{batch, made + 1}));
        EXPECT_TRUE(said.scores.isfinite().all().item<bool>());
        EXPECT_LT(deviation(model.decisions(input), said.scores.select(1, made)), 1e-12);
      }
    }
}

TEST_P(RecognizerContract, TheMeanDecidesAndTheNextSymbolIsPredicted) {
  const bool own = GetParam().value("output", "") == "own";
  const auto model = this->model({{"decision", "mean"}, {"next_symbol", !own}, {"passes", 2}});
  const StringBatch batch{words(2, 5), at::tensor(std::vector<double>{1, 0}), {}};
  {
    at::NoGradGuard guard;
    const Tensor decided = model.decisions(batch.words);
    const Recognition said = model.run(batch.words);
    const Tensor scores = said.scores.narrow(1, 1, said.scores.size(1) - 1);
    const Tensor answers = own ? scores : scores.sigmoid();
    const Tensor made = said.weights.defined() ? said.weights : at::ones_like(scores);
    EXPECT_LT(deviation(decided, (answers * made).sum(1) / made.sum(1)), 1e-12);
    if (!own) {
      EXPECT_EQ(model.next_scores(said.hiddens).sizes(), (std::vector<std::int64_t>{2, 13, 4}));
    }
  }
  if (own) return;
  // Read in pieces, the loss of the next symbols and the decision are the same.
  const auto objective = make_objective("joint");
  const auto learn = [&](const Json& learning) {
    Random random(1);
    return make_learning(learning)->gradient(model, *objective, batch, random);
  };
  const auto whole = learn("bptt"), pieces = learn({{"kind", "tbptt"}, {"window", 2}});
  for (const std::size_t b : {0, 1}) {
    EXPECT_NEAR(whole.losses[b], pieces.losses[b], 1e-9);
    EXPECT_NEAR(whole.scores[b], pieces.scores[b], 1e-11);
  }
}

TEST_P(RecognizerContract, BatchEqualsStringsAlone) {
  const auto model = this->model();
  at::NoGradGuard guard;
  const Tensor input = words(4, 7), together = model.run(input).scores;
  for (int b = 0; b < 4; ++b)
    EXPECT_LT(deviation(model.run(input.narrow(0, b, 1)).scores, together.narrow(0, b, 1)), 1e-12);
}

TEST_P(RecognizerContract, SymbolsReadOneByOneAreTheString) {
  const auto model = this->model({{"end_symbol", false}});
  at::NoGradGuard guard;
  const Tensor input = words(2, 6), whole = model.run(input).hiddens;
  auto state = model.network().initial(2, 6);
  for (std::int64_t t = 0; t < 6; ++t) {
    const Passes read = model.network().advance(input.narrow(1, t, 1), 1, state, nullptr);
    EXPECT_LT(deviation(read.hiddens.select(1, 0), whole.select(1, t + 1)), 1e-12) << t;
    state = read.state;
  }
}

// The gradient that bptt leaves, by a kernel of the network where it has one, is that of the loss.
TEST_P(RecognizerContract, GradientsAreThoseOfTheLoss) {
  const auto model = this->model();
  const auto objective =
      make_objective(model.affine() ? Json("stepwise") : Json("state_and_length"));
  StringBatch batch{words(2, 5), at::tensor(std::vector<double>{1, 0}), {}};
  const auto learning = make_learning("bptt");
  const auto gradients = [&] {
    Random random(1);
    for (const auto& [name, tensor] : model.parameters()) tensor.mutable_grad() = Tensor();
    const auto result = learning->gradient(model, *objective, batch, random);
    return (result.losses[0] + result.losses[1]) / 2;
  };
  gradients();
  std::vector<Tensor> wanted;
  for (const auto& [name, tensor] : model.parameters()) {
    ASSERT_TRUE(tensor.grad().defined()) << name;
    EXPECT_TRUE(tensor.grad().isfinite().all().item<bool>()) << name;
    wanted.push_back(tensor.grad().clone());
  }
  // The output layer is smooth whatever the network is; the last parameters are its own.
  const std::size_t first = quantised() ? model.parameters().size() - 2 : 0;
  at::NoGradGuard guard;
  for (std::size_t i = first; i < wanted.size(); ++i) {
    const auto& [name, tensor] = model.parameters()[i];
    const Tensor flat = tensor.view(-1);
    const Tensor largest = wanted[i].abs().view(-1).argmax();
    const auto at_entry = largest.item<std::int64_t>();
    const double value = flat[at_entry].item<double>(), step = 1e-5;
    double sides[2];
    for (const int side : {0, 1}) {
      flat[at_entry].fill_(value + (side == 0 ? step : -step));
      at::AutoGradMode with_gradient(true);
      sides[side] = gradients();
    }
    flat[at_entry].fill_(value);
    EXPECT_NEAR((sides[0] - sides[1]) / (2 * step), wanted[i].view(-1)[at_entry].item<double>(),
                2e-6 * (1 + std::abs(sides[0])))
        << name;
  }
}

TEST_P(RecognizerContract, SameSeedSameNumbersAndUnknownOptionsFail) {
  const auto a = model(), b = model();
  for (std::size_t i = 0; i < a.parameters().size(); ++i)
    EXPECT_TRUE(a.parameters()[i].second.equal(b.parameters()[i].second));
  EXPECT_THROW(model({{"pases", 2}}), std::invalid_argument);
  EXPECT_THROW(model({{"passes", 0}}), std::invalid_argument);
  EXPECT_THROW(model({{"output", "linear"}}), std::invalid_argument);
  EXPECT_THROW(a.run(at::full({1, 2}, 3, at::kLong)), std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(Registry, RecognizerContract, testing::ValuesIn(recognizer_cases()));

}  // namespace
}  // namespace pushdown
