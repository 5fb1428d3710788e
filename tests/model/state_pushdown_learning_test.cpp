// The learning algorithms in the kernel of the neural state pushdown automaton, compared with
// autograd.
#include "model/state_pushdown_cases.h"
#include "model/state_pushdown_reference.h"

namespace pushdown::state_pushdown_learning_test {
namespace {

using namespace testing_support;

class StatePushdownLearners : public testing::TestWithParam<StatePushdownCase> {};
INSTANTIATE_TEST_SUITE_P(All, StatePushdownLearners, testing::ValuesIn(state_pushdown_cases()),
                         [](const auto& info) { return name_of(info.param); });

TEST_P(StatePushdownLearners, TheKernelFindsTheGradientsOfAutograd) {
  for (const std::string dtype : {"float64", "float32"})
    for (const bool every_pass : {true, false})
      for (int seed = 1; seed <= (dtype == "float64" ? 2 : 1); ++seed) {
        const auto model = make_model(GetParam(), seed, {{"dtype", dtype}}, 5);
        const Tensor words = random_words(4, 9, 3, static_cast<std::uint64_t>(seed)),
                     labels = alternating_labels(4);
        const Tensor loss =
            loss_of(*model, words, labels.to(model->output_weight().dtype()), every_pass);
        loss.backward();
        const auto wanted = taken_gradients(model->parameters());
        const double bound = dtype == "float64" ? 1e-10 : 2e-3;
        for (const char* algorithm : {"bptt", "rtrl"}) {
          const auto found = differentiate(*model, words, labels, algorithm, every_pass);
          double total = 0;
          for (const double value : found.losses) total += value;
          EXPECT_NEAR(total, loss.item<double>(), bound);
          const Tensor decisions = model->run(words).scores;
          for (int b = 0; b < 4; ++b)
            EXPECT_NEAR(found.scores[b], decisions[b][decisions.size(1) - 1].item<double>(), bound);
          const auto gradients = taken_gradients(model->parameters());
          for (std::size_t i = 0; i < wanted.size(); ++i)
            EXPECT_LT(deviation(gradients[i], wanted[i]), bound)
                << algorithm << " " << model->parameters()[i].first << " " << dtype;
        }
      }
}

// The mean over many draws: each component is within the limits of its standard error.
TEST_P(StatePushdownLearners, UoroIsUnbiased) {
  const auto model = make_model(GetParam(), 2, {}, 3, 2);
  const Tensor words = random_words(2, 6, 2), labels = alternating_labels(2);
  differentiate(*model, words, labels, "rtrl");
  const auto wanted = taken_gradients(model->parameters());
  const int draws = 6000;
  std::vector<Tensor> sums, squares;
  for (const Tensor& gradient : wanted) {
    sums.push_back(at::zeros_like(gradient));
    squares.push_back(at::zeros_like(gradient));
  }
  at::NoGradGuard guard;
  for (int draw = 0; draw < draws; ++draw) {
    differentiate(*model, words, labels, "uoro", true, draw);
    const auto gradients = taken_gradients(model->parameters());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      sums[i] += gradients[i] - wanted[i];
      squares[i] += (gradients[i] - wanted[i]).pow(2);
    }
  }
  double total = 0;
  int count = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Tensor error = (sums[i] / draws).flatten(), spread = squares[i].sqrt().flatten() / draws;
    for (std::int64_t k = 0; k < error.numel(); ++k) {
      const double e = error[k].item<double>(), s = spread[k].item<double>();
      if (s < 1e-12) {
        // Weights without any gradient, and the output layer, whose gradient is direct.
        EXPECT_NEAR(e, 0, 1e-10) << model->parameters()[i].first;
        continue;
      }
      EXPECT_LT(std::abs(e) / s, 5) << model->parameters()[i].first << " " << k;
      total += e * e / (s * s);
      ++count;
    }
  }
  // The squares of the standardized errors average 1. Many components with large errors would
  // change this.
  EXPECT_GT(count, 20);
  EXPECT_LT(total / count, 2.5);
}

TEST_P(StatePushdownLearners, DeepStringsKeepTheirTwins) {
  // Always pushes: a stack of 960 symbols.
  const auto model = make_model(GetParam(), 5);
  {
    at::NoGradGuard guard;
    network_of(*model).action_bias().fill_(30);
  }
  const Tensor words = random_words(1, 960), labels = at::ones({1}, at::kDouble);
  // Tensor operations take long, so they run on only one case of refinement.
  for (const bool with_gradient : {false, true}) {
    if (with_gradient && GetParam().passes > 1) continue;
    const at::AutoGradMode mode(with_gradient);
    Random noise(1);
    const Passes made =
        network_of(*model).advance(words, 1, model->network().initial(1, 0), &noise);
    const auto& stack = dynamic_cast<const StatePushdownState&>(*made.state).stacks->front();
    EXPECT_TRUE(at::tensor(stack, at::kLong).equal(words[0]));
  }
  const auto deep = differentiate(*model, words, labels, "bptt");
  const auto wanted = taken_gradients(model->parameters());
  differentiate(*model, words, labels, "rtrl");
  const auto gradients = taken_gradients(model->parameters());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_TRUE(wanted[i].isfinite().all().item<bool>());
    EXPECT_LT(deviation(gradients[i], wanted[i]),
              1e-10 * (1 + wanted[i].abs().max().item<double>()));
  }
  differentiate(*model, words, labels, "uoro");
  for (const Tensor& gradient : taken_gradients(model->parameters()))
    EXPECT_TRUE(gradient.isfinite().all().item<bool>());
  EXPECT_GT(deep.losses[0], 0);
}

TEST_P(StatePushdownLearners, EmptyStringsAreJudgedByTheInitialState) {
  const auto model = make_model(GetParam(), 6, {{"end_symbol", false}});
  const Tensor none = at::empty({2, 0}, at::kLong), labels = alternating_labels(2);
  EXPECT_EQ(model->run(none).scores.size(1), 1);
  for (const char* algorithm : {"bptt", "rtrl", "uoro"}) {
    const auto found = differentiate(*model, none, labels, algorithm);
    StatePushdownReference reference(*model);
    EXPECT_NEAR(found.losses[0], reference.loss({}, 0, true), 1e-12);
    EXPECT_NEAR(found.losses[1], reference.loss({}, 1, true), 1e-12);
    const auto gradients = taken_gradients(model->parameters());
    EXPECT_EQ(gradients[0].abs().max().item<double>(), 0);
    EXPECT_GT(gradients[4].abs().max().item<double>(), 0);
  }
}

TEST(StatePushdownLearning, LeavesUnknownAlgorithmsToOthers) {
  const auto model = make_model({});
  Random random(1);
  PassRequest request{.words = at::zeros({1, 2}, at::kLong), .noise = &random};
  request.answers = {.labels = at::ones({1}, at::kDouble),
                     .output_weight = model->output_weight(),
                     .output_bias = model->output_bias()};
  request.algorithm = "tbptt";
  EXPECT_TRUE(std::holds_alternative<ByTensors>(model->network().route(request)));
  request.algorithm = "bptt";
  const auto differentiate = [&] {
    std::get<ByKernel>(model->network().route(request)).differentiate();
  };
  request.answers->scale = 0.25;
  differentiate();
  const auto quarter = taken_gradients(model->parameters());
  request.answers->scale = 1;
  for (int twice = 0; twice < 2; ++twice) differentiate();
  const auto added = taken_gradients(model->parameters());
  for (std::size_t i = 0; i < added.size(); ++i)
    EXPECT_LT(deviation(quarter[i] * 8, added[i]), 1e-12);
  request.words = at::full({1, 2}, 4, at::kLong);
  EXPECT_THROW(differentiate(), std::invalid_argument);
}

TEST(StatePushdownLearning, UoroDependsOnlyOnTheGenerator) {
  const auto model = make_model({});
  const Tensor words = random_words(2, 6), labels = alternating_labels(2);
  differentiate(*model, words, labels, "uoro", true, 1);
  const auto first = taken_gradients(model->parameters());
  differentiate(*model, words, labels, "uoro", true, 1);
  const auto same = taken_gradients(model->parameters());
  differentiate(*model, words, labels, "uoro", true, 2);
  const auto other = taken_gradients(model->parameters());
  EXPECT_TRUE(first[0].equal(same[0]));
  EXPECT_FALSE(first[0].equal(other[0]));
  EXPECT_TRUE(first[4].equal(other[4]));  // the output layer's is exact
}

}  // namespace
}  // namespace pushdown::state_pushdown_learning_test
