#include "recurrence/execute/answer_losses.h"

#include <gtest/gtest.h>

#include "support/wavy_numbers.h"

namespace pushdown::answer_losses_test {
namespace {

using testing_support::wavy_numbers;

// The same with LibTorch's operations.
AnswerGradients composed(const AnswerRows& rows, const AnswerLayers& layers,
                         const AnswerCosts& costs, double scale) {
  const Tensor hiddens = rows.hiddens.slice(1, rows.first);
  const Tensor scores =
      at::linear(hiddens, layers.validity_weight, layers.validity_bias).squeeze(-1);
  const Tensor labels = rows.labels.unsqueeze(1);
  Tensor losses = costs.squared ? (scores.sigmoid() - labels).square() / 2
                                : at::softplus(scores) - scores * labels;
  losses = losses * costs.validity_weight;
  if (costs.symbol_weight > 0) {
    const Tensor found = at::linear(hiddens, layers.symbol_weight, layers.symbol_bias)
                             .log_softmax(2)
                             .gather(2, rows.next.clamp_min(0).unsqueeze(2))
                             .squeeze(2);
    Tensor counts = rows.next >= 0;
    if (!costs.symbols_of_invalid) counts = counts.logical_and(labels > 0.5);
    losses = losses - costs.symbol_weight * found.masked_fill(counts.logical_not(), 0);
  }
  if (rows.weights.defined()) losses = losses * rows.weights.to(losses.scalar_type());
  (losses.sum() * scale).backward();
  return {losses.sum(1).detach(), scores.detach(), rows.hiddens.grad()};
}

TEST(Answers, HaveTheLossesAndGradientsOfTheComposedForm) {
  const std::vector<AnswerCosts> all_costs{
      {}, {true, 1, 1}, {true, 0.3, 2, false}, {true, 0, 1}, {false, 2, 0.5, false}};
  for (const auto type : {at::kFloat, at::kDouble})
    for (const AnswerCosts& costs : all_costs)
      for (const bool weighted : {false, true})
        for (const double scale : {1.0, 40.0}) {
          const double tolerance = type == at::kFloat ? 1e-4 : 1e-11;
          const auto steps = 4, hidden = 5, outcomes = 3;
          const Tensor labels = at::tensor(std::vector<double>{1, 0}).to(type);
          const Tensor next =
              at::tensor(std::vector<std::int64_t>{0, 2, 1, -1, 2, -1, 0, 1}).view({2, steps});
          const Tensor weights =
              weighted ? at::tensor(std::vector<double>{1, 0, 1, 1, 0, 1, 1, 0}).view({2, steps})
                       : Tensor();
          std::vector<AnswerGradients> found;
          std::vector<std::vector<Tensor>> gradients;
          for (const bool ours : {true, false}) {
            const Tensor h = wavy_numbers({2, steps + 1, hidden}, type, 1),
                         w = wavy_numbers({1, hidden}, type, 2, scale),
                         b = wavy_numbers({1}, type, 3),
                         v = wavy_numbers({outcomes, hidden}, type, 4, scale),
                         c = wavy_numbers({outcomes}, type, 5);
            const AnswerRows rows{h, 1, labels, next, weights};
            const AnswerLayers layers{w, b, v, c};
            found.push_back(ours ? differentiate_answers(rows, layers, costs, 0.7)
                                 : composed(rows, layers, costs, 0.7));
            gradients.push_back({found.back().slopes, w.grad(), b.grad()});
            if (costs.symbol_weight > 0) {
              gradients.back().push_back(v.grad());
              gradients.back().push_back(c.grad());
            } else {
              EXPECT_FALSE(v.grad().defined());
            }
          }
          EXPECT_TRUE(at::allclose(found[0].losses, found[1].losses, tolerance, tolerance * scale));
          EXPECT_TRUE(at::allclose(found[0].scores, found[1].scores, tolerance, tolerance * scale));
          for (std::size_t i = 0; i < gradients[0].size(); ++i)
            EXPECT_TRUE(
                at::allclose(gradients[0][i], gradients[1][i], tolerance, tolerance * scale))
                << i << " " << costs.squared << " " << scale;
        }
}

TEST(Answers, ExtremeScoresStayFinite) {
  const Tensor h = at::ones({1, 2, 1}, at::kFloat), labels = at::zeros({1}, at::kFloat),
               w = at::full({1, 1}, 1000.0, at::kFloat).set_requires_grad(true),
               b = at::zeros({1}, at::kFloat).set_requires_grad(true);
  for (const bool squared : {false, true}) {
    const auto result = differentiate_answers({h, 0, labels, {}, {}}, {w, b, {}, {}}, {squared}, 1);
    EXPECT_NEAR(result.losses[0].item<double>(), squared ? 1 : 2000, 1e-3);
    EXPECT_TRUE(at::isfinite(w.grad()).all().item<bool>());
  }
}

}  // namespace
}  // namespace pushdown::answer_losses_test
