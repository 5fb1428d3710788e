// Gradients by the learning algorithms, for the tests that compare these.
#pragma once
#include <gtest/gtest.h>

#include "support/gradients.h"
#include "train/learning/learning.h"

namespace pushdown::testing_support {

// Strings over the first `symbols` symbols, valid and invalid in turn.
inline StringBatch random_strings(std::int64_t batch, std::int64_t length, std::int64_t symbols,
                                  std::uint64_t seed) {
  return {
      random_words(batch, length, symbols, seed), at::arange(batch, at::kDouble).remainder(2), {}};
}

struct Found {
  std::vector<Tensor> gradients;
  ValidityLosses values;
};

inline Found gradient(const Recognizer& model, const Json& learning, const StringBatch& batch,
                      const Json& objective = "stepwise", std::uint64_t seed = 1) {
  taken_gradients(model.parameters());
  Random random(seed);
  Found found;
  found.values =
      make_learning(learning)->gradient(model, *make_objective(objective), batch, random);
  found.gradients = taken_gradients(model.parameters());
  return found;
}

// The scores of strings that stop early are not numbers.
inline void expect_same(const Recognizer& model, const Found& got, const Found& wanted,
                        double tolerance = 1e-9) {
  for (std::size_t i = 0; i < wanted.gradients.size(); ++i)
    EXPECT_LT(deviation(got.gradients[i], wanted.gradients[i]), tolerance)
        << model.parameters()[i].first;
  for (std::size_t b = 0; b < wanted.values.losses.size(); ++b) {
    const double score = got.values.scores.at(b), wanted_score = wanted.values.scores[b];
    EXPECT_NEAR(got.values.losses.at(b), wanted.values.losses[b], 1e-11);
    EXPECT_EQ(std::isnan(score), std::isnan(wanted_score));
    if (!std::isnan(wanted_score)) {
      EXPECT_NEAR(score, wanted_score, 1e-11);
    }
  }
}

inline double largest(const std::vector<Tensor>& tensors) {
  double value = 0;
  for (const Tensor& tensor : tensors) value = std::max(value, tensor.abs().max().item<double>());
  return value;
}

// The mean over many draws of an estimate is within 4 standard errors of the gradient in every
// entry. The gradient without the flow from step to step is not.
inline void expect_unbiased(const Recognizer& model, const Json& uoro, const StringBatch& batch,
                            int draws, const Json& objective = "stepwise") {
  const auto wanted = gradient(model, "bptt", batch, objective).gradients;
  const auto direct =
      gradient(model, Json{{"kind", "tbptt"}, {"window", 1}}, batch, objective).gradients;
  std::vector<Tensor> sums, squares;
  for (const Tensor& tensor : wanted) {
    sums.push_back(at::zeros_like(tensor));
    squares.push_back(at::zeros_like(tensor));
  }
  for (int draw = 0; draw < draws; ++draw) {
    const auto got =
        gradient(model, uoro, batch, objective, static_cast<std::uint64_t>(draw)).gradients;
    for (std::size_t i = 0; i < got.size(); ++i) {
      sums[i] += got[i];
      squares[i] += got[i].square();
    }
  }
  double worst = 0, of_direct = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Tensor mean = sums[i] / draws;
    const Tensor error = ((squares[i] / draws - mean.square()).clamp_min(0) / draws).sqrt() + 1e-12;
    worst = std::max(worst, ((mean - wanted[i]).abs() / error).max().item<double>());
    of_direct = std::max(of_direct, ((direct[i] - wanted[i]).abs() / error).max().item<double>());
  }
  EXPECT_LT(worst, 4);
  EXPECT_GT(worst, 0.5);
  EXPECT_GT(of_direct, 8);
}

}  // namespace pushdown::testing_support
