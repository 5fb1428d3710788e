// The encodings of a transformer's positions, compared with their definitions in tensor operations
// on each pair of positions.
#include "model/positions.h"

#include <gtest/gtest.h>

#include "model/language_model.h"
#include "support/golden.h"
#include "support/message.h"

namespace pushdown::positions_test {
namespace {

using testing_support::message;

using testing_support::deviation;

// `times`: the positions of the vectors that are added to the embeddings.
Tensor defined_logits(const LanguageModel& model, const Tensor& words, const std::string& kind,
                      const std::vector<std::int64_t>& times) {
  constexpr int kSize = 8, kHeads = 2, kHeadSize = kSize / kHeads;
  const double slopes[kHeads] = {1.0 / 16, 1.0 / 256};
  std::map<std::string, Tensor> p(model.parameters().begin(), model.parameters().end());
  const auto steps = words.size(1) + 1;
  const auto vector_of = [&](double t) {
    Tensor vector = at::empty({kSize}, at::kDouble);
    for (int i = 0; i < kSize; i += 2) {
      vector[i] = std::sin(t / std::pow(10000.0, i / 8.0));
      vector[i + 1] = std::cos(t / std::pow(10000.0, i / 8.0));
    }
    return vector;
  };
  const auto turn = [&](double t) {
    Tensor matrix = at::zeros({kHeadSize, kHeadSize}, at::kDouble);
    for (int i = 0; i < kHeadSize; i += 2) {
      const double angle = t / std::pow(10000.0, i / 4.0);
      matrix[i][i] = matrix[i + 1][i + 1] = std::cos(angle);
      matrix[i][i + 1] = -std::sin(angle);
      matrix[i + 1][i] = std::sin(angle);
    }
    return matrix;
  };
  std::vector<Tensor> rows;
  for (std::int64_t t = 0; t < steps; ++t) {
    const Tensor ids = t == 0 ? at::full({words.size(0)}, 3, at::kLong) : words.select(1, t - 1);
    const Tensor row = p["embedding"].index_select(0, ids) * std::sqrt(8.0);
    rows.push_back(times.empty() ? row : row + vector_of(static_cast<double>(times[t])));
  }
  Tensor x = at::stack(rows, 1);
  for (const std::string layer : {"layers.1.", "layers.2."}) {
    const auto norm = [&](const std::string& name) {
      return at::layer_norm(x, {kSize}, p[name + "_gain"], p[name + "_bias"]);
    };
    const Tensor read = norm(layer + "norm");
    const auto part = [&](const Tensor& of, int head) {
      return of.narrow(-1, head * kHeadSize, kHeadSize);
    };
    std::vector<Tensor> heads;
    for (int h = 0; h < kHeads; ++h) {
      const Tensor q = part(at::linear(read, p[layer + "query_weight"]), h),
                   k = part(at::linear(read, p[layer + "key_weight"]), h),
                   v = part(at::linear(read, p[layer + "value_weight"]), h);
      std::vector<Tensor> outputs;
      for (std::int64_t t = 0; t < steps; ++t) {
        std::vector<Tensor> scores;
        const Tensor query = q.select(1, t);
        for (std::int64_t s = 0; s <= t; ++s) {
          const Tensor key = k.select(1, s);
          const auto distance = static_cast<double>(t - s);
          Tensor score = (query * key).sum(1);
          if (kind == "rotary") score = (query * at::matmul(key, turn(-distance).t())).sum(1);
          if (kind == "relative")
            score =
                ((query + part(p[layer + "content_bias"], h)) * key).sum(1) +
                at::matmul(query + part(p[layer + "distance_bias"], h),
                           part(at::linear(vector_of(distance), p[layer + "distance_weight"]), h));
          score = score / 2;
          if (kind == "alibi") score = score - slopes[h] * distance;
          scores.push_back(score);
        }
        const Tensor shares = at::stack(scores, 1).softmax(1);
        outputs.push_back((shares.unsqueeze(2) * v.narrow(1, 0, t + 1)).sum(1));
      }
      heads.push_back(at::stack(outputs, 1));
    }
    x = x + at::linear(at::cat(heads, 2), p[layer + "output_weight"]);
    const std::string f = layer + "feedforward_";
    x = x +
        at::linear(at::linear(norm(f + "norm"), p[f + "inner_weight"], p[f + "inner_bias"]).relu(),
                   p[f + "outer_weight"], p[f + "outer_bias"]);
  }
  return at::linear(at::layer_norm(x, {kSize}, p["norm_gain"], p["norm_bias"]), p["output.weight"],
                    p["output.bias"]);
}

class EncodedTransformer {
 public:
  explicit EncodedTransformer(const std::string& kind)
      : model(Alphabet({"a", "b", "c"}), Json{{"architecture", "transformer"},
                                              {"hidden", 8},
                                              {"heads", 2},
                                              {"feedforward", 5},
                                              {"positions", kind},
                                              {"longest_position", 50},
                                              {"dtype", "float64"},
                                              {"seed", 3}}) {
    at::NoGradGuard guard;
    Random random(9);
    for (const auto& [name, tensor] : model.parameters())
      for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.view(-1)[i] += 0.3 * random.normal();
  }
  std::vector<Tensor> gradients(const std::function<Tensor()>& compute) const {
    for (const auto& [name, tensor] : model.parameters()) tensor.mutable_grad() = Tensor();
    const Tensor values = compute();
    if (values.requires_grad()) values.sum().backward();
    std::vector<Tensor> all{values.detach()};
    for (const auto& [name, tensor] : model.parameters()) all.push_back(tensor.grad().clone());
    return all;
  }
  // With a generator or without one, against the definition.
  void compare(const std::string& kind, const std::vector<std::int64_t>& times, bool noisy) const {
    const Tensor words =
        at::tensor({2, 0, 1, 1, 0, 2, 2, 1, 0, 0, 2, 1, 1, 0}, at::kLong).view({2, 7});
    const Tensor targets = at::constant_pad_nd(words, {0, 1}, 3.0);
    const auto chosen = [&](const Tensor& logits) {
      return logits.log_softmax(2).gather(2, targets.unsqueeze(2)).sum({1, 2});
    };
    const auto wanted =
        gradients([&] { return chosen(defined_logits(model, words, kind, times)); });
    Random random(5);
    const auto found =
        gradients([&] { return model.log_probabilities(words, noisy ? &random : nullptr); });
    for (std::size_t k = 0; k < found.size(); ++k)
      EXPECT_LT(deviation(found[k], wanted[k]), 1e-9) << kind << ", result " << k;
  }

  LanguageModel model;
};

TEST(TransformerPositions, FollowTheirDefinitions) {
  const std::vector<std::int64_t> counted{0, 1, 2, 3, 4, 5, 6, 7};
  for (const std::string kind : {"none", "rotary", "alibi", "relative"})
    EncodedTransformer(kind).compare(kind, {}, true);
  EncodedTransformer("sinusoidal").compare("sinusoidal", counted, true);
  const EncodedTransformer randomized("randomized");
  randomized.compare("randomized", {0, 4, 8, 12, 16, 20, 24, 28}, false);
  Random random(5);
  randomized.compare("randomized", drawn_positions(8, 50, random), true);
}

TEST(TransformerPositions, AreDrawnWithoutRepetitionAndSorted) {
  std::map<std::vector<std::int64_t>, int> seen;
  Random random(3);
  for (int k = 0; k < 6000; ++k) ++seen[drawn_positions(2, 4, random)];
  EXPECT_EQ(seen.size(), 6U);
  for (const auto& [positions, count] : seen) {
    EXPECT_LT(positions[0], positions[1]);
    EXPECT_NEAR(count, 1000, 120);
  }
  EXPECT_EQ(drawn_positions(3, 3, random), (std::vector<std::int64_t>{0, 1, 2}));
}

TEST(TransformerPositions, StringsWithoutPositionsAreErrors) {
  const EncodedTransformer network("randomized");
  const LanguageModel& model = network.model;
  const auto words = [](std::int64_t length) { return at::zeros({1, length}, at::kLong); };
  Random noise(1);
  model.logits(words(12));
  EXPECT_CONTAINS(message<std::invalid_argument>([&] { model.logits(words(13)); }), "symbol 13");
  model.logits(words(49), &noise);
  EXPECT_CONTAINS(message<std::invalid_argument>([&] { model.logits(words(50), &noise); }),
                  "'longest_position'");
  EXPECT_CONTAINS(
      message<std::invalid_argument>([&] { model.read(words(3), model.begin(1), &noise); }),
      "whole strings");
  EXPECT_CONTAINS(
      message<std::invalid_argument>([&] { model.read(words(4), model.begin(1, 2), &noise); }),
      "was given 2 symbols");
}

}  // namespace
}  // namespace pushdown::positions_test
