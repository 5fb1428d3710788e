// Networks with peaked weights, as training makes them and far beyond: values and gradients stay
// finite in either precision, agree as long as single precision holds the weights, and no denormal
// number slows the arithmetic (docs/adr/0021-denormals.md).
// label: long
#include <gtest/gtest.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/flush_denormals.h"
#include "base/lost_precision.h"
#include "model/language_model.h"
#include "stack/automaton_state.h"
#include "support/gradients.h"
#include "train/learning/gradient.h"
#include "train/optimizing/optimizer.h"

namespace pushdown::peaked_test {
namespace {

using testing_support::random_words;

std::vector<Json> stacks() {
  std::vector<Json> all;
  for (const auto& kind : stack_kinds()) all.push_back({{"kind", kind.name}});
  for (Json& stack : all)
    if (stack["kind"] == "tape") stack["write_layers"] = Json::array();
  all.push_back({{"kind", "nondeterministic"}, {"normalized", false}});
  all.push_back({{"kind", "nondeterministic"}, {"window", 5}});
  all.push_back({{"kind", "nondeterministic"}, {"states", 5}});
  all.push_back({{"kind", "vector_nondeterministic"}, {"normalized", true}, {"size", 3}});
  return all;
}

// A language model with LSTM whose weights, or those of the stack's part alone, are multiplied.
std::shared_ptr<LanguageModel> peaked(const Json& stack, double scale, bool everywhere,
                                      const char* dtype, bool kernels = true, int seed = 3) {
  const auto make = [&](const char* type) {
    return std::make_shared<LanguageModel>(Alphabet({"a", "b", "c"}),
                                           Json{{"controller", {{"kind", "lstm"}, {"hidden", 8}}},
                                                {"stack", stack},
                                                {"dtype", type},
                                                {"kernels", kernels},
                                                {"seed", seed}});
  };
  // Both precisions have the same weights.
  const auto source = make("float32"), model = make(dtype);
  at::NoGradGuard guard;
  for (std::size_t i = 0; i < model->parameters().size(); ++i) {
    const auto& [name, tensor] = model->parameters()[i];
    const bool own = everywhere || name.find("stack") != name.npos;
    tensor.copy_(source->parameters()[i].second * (own ? scale : 1));
  }
  return model;
}

struct Outcome {
  Tensor values;                  // log-probabilities
  std::vector<Tensor> gradients;  // of their sum
};
Outcome outcome(const LanguageModel& model, const Tensor& words) {
  Outcome result;
  result.values = model.differentiate(words, 1, nullptr).to(at::kDouble);
  for (const auto& [name, tensor] : model.parameters())
    result.gradients.push_back(
        (tensor.grad().defined() ? tensor.grad() : at::zeros_like(tensor)).to(at::kDouble));
  return result;
}
bool is_finite(const Outcome& outcome) {
  bool finite = outcome.values.isfinite().all().item<bool>();
  for (const Tensor& gradient : outcome.gradients)
    finite = finite && gradient.isfinite().all().item<bool>();
  return finite;
}
// The greatest difference of gradients, relative to the greatest entry of a parameter's.
double difference(const Outcome& a, const Outcome& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.gradients.size(); ++i) {
    const Tensor size = 1e-3 + b.gradients[i].abs().max();
    most = std::max(most, ((a.gradients[i] - b.gradients[i]).abs().max() / size).item<double>());
  }
  return most;
}

constexpr double kScales[] = {1, 20, 1e3, 1e10, 1e20, 1e37};

// Between the last scales and the first ones, the sides of kinks depend on rounding: strengths are
// minima of sums.
bool agree(double scale) { return scale <= 20 || scale >= 1e20; }

// The vectors of a tape grow with the weights, as published; a product with further weights then
// leaves single precision.
bool holds(const Json& stack, double scale) { return stack["kind"] != "tape" || scale < 1e20; }

TEST(Peaked, WeightsOfTheStackStayFiniteAndAgreeWithDoublePrecision) {
  const Tensor words = random_words(2, 30, 3, 1);
  for (const Json& stack : stacks())
    for (const bool kernels : {true, false})
      for (const double scale : kScales) {
        if (!holds(stack, scale)) continue;
        const auto single = outcome(*peaked(stack, scale, false, "float32", kernels), words);
        EXPECT_TRUE(is_finite(single)) << stack << scale << ' ' << kernels;
        if (!kernels || !agree(scale)) continue;
        const auto wide = outcome(*peaked(stack, scale, false, "float64"), words);
        EXPECT_TRUE(is_finite(wide)) << stack << scale;
        EXPECT_LT((single.values - wide.values).abs().max().item<double>(), 1e-4) << stack << scale;
        EXPECT_LT(difference(single, wide), 1e-3) << stack << scale;
      }
}

TEST(Peaked, AllWeightsStayFinite) {
  const Tensor words = random_words(2, 30, 3, 1);
  for (const Json& stack : stacks())
    for (const bool kernels : {true, false})
      for (const double scale : kScales)
        if (holds(stack, scale))
          EXPECT_TRUE(is_finite(outcome(*peaked(stack, scale, true, "float32", kernels), words)))
              << stack << scale << ' ' << kernels;
}

TEST(Peaked, AThousandSymbols) {
  const Tensor words = random_words(1, 1000, 3, 1);
  for (const Json& stack : {Json{{"kind", "nondeterministic"}, {"states", 1}},
                            {{"kind", "nondeterministic"}, {"states", 1}, {"normalized", false}},
                            {{"kind", "nondeterministic"}, {"window", 20}},
                            {{"kind", "vector_nondeterministic"}, {"size", 2}, {"window", 10}}})
    for (const double scale : {1.0, 20.0, 1e37}) {
      const auto single = outcome(*peaked(stack, scale, false, "float32"), words);
      EXPECT_TRUE(is_finite(single)) << stack << scale;
      const auto wide = outcome(*peaked(stack, scale, false, "float64"), words);
      EXPECT_LT((single.values - wide.values).abs().max().item<double>(), 1e-2) << stack << scale;
      EXPECT_LT(difference(single, wide), 1e-2) << stack << scale;
    }
}

#if defined(__x86_64__)
// Returns whether an operand was denormal in an update. The processor notes it in a flag, unless it
// takes such operands for zero (DAZ): so at most results are flushed here.
bool meets_denormals(const LanguageModel& model, const Tensor& words, bool flush) {
  constexpr unsigned kFlags = 0x3f, kDenormal = 0x02, kFlushResults = 0x8000;
  const auto optimizer = make_optimizer(model.parameters(), Json{{"learning_rate", 1e-9}});
  const unsigned before = __builtin_ia32_stmxcsr();
  // The second update finds no numbers in its memory that others have left.
  for (int update = 0; update < 2; ++update) {
    __builtin_ia32_ldmxcsr((before & ~kFlags) | (flush ? kFlushResults : 0));
    clear_gradients(model.parameters());
    model.differentiate(words, 1, nullptr);
    clip_gradient_norm(model.parameters(), gradient_norm(model.parameters()), 5);
    optimizer->step();
  }
  const unsigned after = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before);
  return (after & kDenormal) != 0;
}
#endif

TEST(Peaked, NoDenormalNumberReachesTheArithmetic) {
#if defined(__x86_64__) && defined(__GLIBC__)
  // Whole vectors are read beyond the ends of rows, so what others have left in memory must not
  // look like denormal numbers: each byte of new memory is 0x3c.
  mallopt(M_PERTURB, 0xc3);
  const Tensor words = random_words(2, 60, 3, 1);
  int without = 0;
  for (const Json& stack : stacks()) {
    // It has no recorded step, and LibTorch's operations raise the flag by what they read besides.
    if (stack["kind"] == "analog") continue;
    for (const double scale : {1.0, 5.0, 20.0, 100.0})
      EXPECT_FALSE(meets_denormals(*peaked(stack, scale, true, "float32"), words, true))
          << stack << scale;
    without += meets_denormals(*peaked(stack, 20, true, "float32"), words, false) ? 1 : 0;
  }
  EXPECT_GT(without, 3);  // the networks would make such numbers
  mallopt(M_PERTURB, 0);
#else
  GTEST_SKIP() << "only x86-64 processors note denormal operands, and only glibc fills memory";
#endif
}

// Readings in single precision, and whether the kernels reported a loss.
std::pair<Tensor, bool> reported(const NondeterministicShape& shape, const Tensor& scores,
                                 bool normalized) {
  LossFlag lost{false};
  const LossScope scope(&lost);
  const Tensor logs = normalized ? scores.log_softmax(3) : scores;
  const Tensor read = run_automaton(shape, true, logs.to(at::kFloat), true);
  return {read.to(at::kDouble), lost.load()};
}

// Weights e^-64 and less are lost in single precision. Whoever needs them later hears of it.
TEST(LostRuns, AreReportedWhereReadingsAreWrong) {
  int wrong = 0, told = 0;
  for (const bool normalized : {true, false})
    for (const auto& [states, symbols] : {std::pair(1, 2), {2, 2}, {2, 3}})
      for (const double scale : {1.0, 10.0, 50.0, 100.0, 300.0})
        for (std::uint64_t seed = 1; seed <= 12; ++seed) {
          NondeterministicShape shape;
          shape.states = states;
          shape.symbols = symbols;
          Random random(seed);
          const Tensor scores =
              at::empty({1, 40, shape.configurations(), shape.actions()}, at::kDouble);
          for (std::int64_t i = 0; i < scores.numel(); ++i)
            scores.data_ptr<double>()[i] = static_cast<float>(scale * random.normal());
          const auto [read, warned] = reported(shape, scores, normalized);
          const Tensor wide =
              run_automaton(shape, true, normalized ? scores.log_softmax(3) : scores, true);
          const double off = (read - wide).abs().max().item<double>();
          const auto name = fmt::format("{} {} x {}, {}, seed {}: off by {}", normalized, states,
                                        symbols, scale, seed, off);
          EXPECT_TRUE(warned || off < 1e-2) << name;
          EXPECT_TRUE(scale > 10 || (!warned && off < 1e-3)) << name;
          wrong += off > 1e-2 ? 1 : 0;
          told += warned ? 1 : 0;
        }
  EXPECT_GT(wrong, 50);        // the cases contain such readings
  EXPECT_LT(told, 2 * wrong);  // and few warnings are needless
}

// The greatest change of the log-probabilities by relative changes of all weights of about 6e-8,
// the rounding of single precision.
double moved_by_rounding(const LanguageModel& model, const Tensor& words) {
  at::NoGradGuard guard;
  const Tensor values = model.log_probabilities(words);
  double most = 0;
  for (const std::uint64_t seed : {1, 2}) {
    Random random(seed);
    std::vector<Tensor> kept;
    for (const auto& [name, tensor] : model.parameters()) {
      kept.push_back(tensor.clone());
      for (std::int64_t i = 0; i < tensor.numel(); ++i)
        tensor.data_ptr<double>()[i] *= 1 + 6e-8 * random.normal();
    }
    most = std::max(most, (model.log_probabilities(words) - values).abs().max().item<double>());
    for (std::size_t i = 0; i < kept.size(); ++i) model.parameters()[i].second.copy_(kept[i]);
  }
  return most;
}

// Through the recorded step. Most networks with such weights amplify the rounding of their weights;
// what else makes single precision wrong is reported.
TEST(LostRuns, OfNetworksAreReported) {
  const Tensor words = random_words(3, 40, 3, 1);
  int told = 0;
  for (const bool normalized : {true, false})
    for (const double scale : {1.0, 20.0, 100.0, 1000.0})
      for (int seed = 1; seed <= 6; ++seed) {
        const Json stack{
            {"kind", "nondeterministic"}, {"normalized", normalized}, {"reading", "state_symbol"}};
        LossFlag lost{false};
        const LossScope scope(&lost);
        const auto single = outcome(*peaked(stack, scale, true, "float32", true, seed), words);
        const bool warned = lost.exchange(false);
        const auto model = peaked(stack, scale, true, "float64", true, seed);
        const double off =
            (single.values - outcome(*model, words).values).abs().max().item<double>();
        const auto name =
            fmt::format("{}, times {}, seed {}: off by {}", normalized, scale, seed, off);
        EXPECT_TRUE(scale > 20 || !warned) << name;
        EXPECT_TRUE(warned || off < 0.01 || off < 30 * moved_by_rounding(*model, words)) << name;
        told += warned ? 1 : 0;
      }
  EXPECT_GT(told, 3);
}

}  // namespace
}  // namespace pushdown::peaked_test
