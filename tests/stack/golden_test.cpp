// Every stack, compared with numbers of the published implementations.
#include <gtest/gtest.h>

#include "stack/stack.h"
#include "support/golden.h"

namespace pushdown::golden_test {
namespace {

using namespace testing_support;
constexpr double kTolerance = 1e-9;

Tensor leaf(const Json& value) { return golden_tensor(value).set_requires_grad(true); }

struct NondeterministicCase {
  const char* file;
  bool unnormalized;
};

class NondeterministicGolden
    : public testing::TestWithParam<std::tuple<NondeterministicCase, bool>> {};

TEST_P(NondeterministicGolden, ReadingsAndGradients) {
  const auto [golden_case, fast] = GetParam();
  const Json golden = load_golden(golden_case.file);
  const Json options{{"kind", "nondeterministic"},
                     {"states", golden["Q"]},
                     {"symbols", golden["S"]},
                     {"reading", golden_case.unnormalized ? "state_symbol" : "symbol"},
                     {"bottom", golden["bottom_fix"].get<bool>() ? "reexposed" : "original"},
                     {"fast", fast}};
  const Tensor wanted = golden_tensor(golden[golden_case.unnormalized ? "reading" : "tau"]);
  const Tensor coefficients = golden_tensor(golden["coef"]);

  const Tensor logits = leaf(golden[golden_case.unnormalized ? "log_weights" : "logits"]);
  const Tensor readings = golden_case.unnormalized
                              ? simulate_stack(options, {{"log_weights", logits}})
                              : simulate_stack(options, {{"weights", logits.softmax(3)}});
  EXPECT_LT(deviation(readings, wanted), kTolerance);
  const Tensor loss = (coefficients * readings).sum();
  EXPECT_NEAR(loss.item<double>(), golden["loss"].get<double>(), 1e-9);
  loss.backward();
  EXPECT_LT(deviation(logits.grad(),
                      golden_tensor(
                          golden[golden_case.unnormalized ? "grad_log_weights" : "grad_logits"])),
            kTolerance);

  if (golden_case.unnormalized) return;
  const Tensor delta = leaf(golden["delta"]);
  (coefficients * simulate_stack(options, {{"weights", delta}})).sum().backward();
  EXPECT_LT(deviation(delta.grad(), golden_tensor(golden["grad_delta"])), kTolerance);
}

INSTANTIATE_TEST_SUITE_P(
    Files, NondeterministicGolden,
    testing::Combine(testing::Values(NondeterministicCase{"ns_rnn_Q1_S2_n5", false},
                                     NondeterministicCase{"ns_rnn_Q2_S2_n5", false},
                                     NondeterministicCase{"ns_rnn_Q2_S3_n12", false},
                                     NondeterministicCase{"ns_bottomfix_Q1_S2_n5", false},
                                     NondeterministicCase{"ns_bottomfix_Q2_S2_n5", false},
                                     NondeterministicCase{"ns_bottomfix_Q2_S3_n5", false},
                                     NondeterministicCase{"rns_Q1_S2_n5", true},
                                     NondeterministicCase{"rns_Q2_S2_n12", true},
                                     NondeterministicCase{"rns_Q2_S3_n5", true},
                                     NondeterministicCase{"rns_origbottom_Q2_S2_n5", true}),
                     testing::Bool()));

class VectorGolden : public testing::TestWithParam<const char*> {};

TEST_P(VectorGolden, ReadingsAndGradients) {
  const Json golden = load_golden(GetParam());
  const bool superposition = std::string(GetParam()).starts_with("jm");
  const Tensor actions = leaf(golden["actions"]), vectors = leaf(golden["values"]);
  const Tensor readings =
      superposition ? simulate_stack({{"kind", "superposition"}},
                                     {{"actions", actions}, {"vectors", vectors}})
                    : simulate_stack({{"kind", "stratification"}}, {{"push", actions.select(2, 0)},
                                                                    {"pop", actions.select(2, 1)},
                                                                    {"vectors", vectors}});
  EXPECT_LT(deviation(readings, golden_tensor(golden["reading"])), kTolerance);
  if (!golden.contains("grad_actions")) return;
  (golden_tensor(golden["coef"]) * readings).sum().backward();
  EXPECT_LT(deviation(actions.grad(), golden_tensor(golden["grad_actions"])), kTolerance);
  EXPECT_LT(deviation(vectors.grad(), golden_tensor(golden["grad_values"])), kTolerance);
}

INSTANTIATE_TEST_SUITE_P(Files, VectorGolden,
                         testing::Values("jm_m1_n5_onehot", "jm_m3_n12_random", "gref_m1_n5_binary",
                                         "gref_m3_n12_popheavy", "gref_m3_n12_random"));

class VectorNondeterministicGolden : public testing::TestWithParam<const char*> {};

TEST_P(VectorNondeterministicGolden, ReadingsAndGradients) {
  const Json golden = load_golden(GetParam());
  const Tensor weights = leaf(golden["log_weights"]), scores = leaf(golden["pushed_vector_logits"]);
  const Tensor bottom = golden["bottom_logit"].is_null() ? golden_tensor(golden["bottom_vector"])
                                                         : leaf(golden["bottom_logit"]);
  const Tensor readings = simulate_stack(
      {{"kind", "vector_nondeterministic"}, {"states", golden["Q"]}, {"symbols", golden["S"]}},
      {{"log_weights", weights},
       {"vectors", scores.sigmoid()},
       {"bottom_vector", bottom.requires_grad() ? bottom.sigmoid() : bottom}});
  EXPECT_LT(deviation(readings, golden_tensor(golden["reading"])), kTolerance);
  (golden_tensor(golden["coef"]) * readings).sum().backward();
  EXPECT_LT(deviation(weights.grad(), golden_tensor(golden["grad_log_weights"])), kTolerance);
  EXPECT_LT(deviation(scores.grad(), golden_tensor(golden["grad_pushed_vector_logits"])),
            kTolerance);
  if (bottom.requires_grad()) {
    EXPECT_LT(deviation(bottom.grad(), golden_tensor(golden["grad_bottom_logit"])), kTolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, VectorNondeterministicGolden,
                         testing::Values("vrns_Q1_S2_m2_n5_learned", "vrns_Q2_S2_m3_n5_zero",
                                         "vrns_Q2_S3_m2_n12_learned"));

}  // namespace
}  // namespace pushdown::golden_test
