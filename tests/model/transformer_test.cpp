// The transformer, compared with its equations in plain loops, and the properties of dropout.
#include <gtest/gtest.h>

#include "model/dropout.h"
#include "model/language_model.h"
#include "stack/stack.h"
#include "support/golden.h"
#include "support/gradient.h"

namespace pushdown::transformer_test {
namespace {

using namespace testing_support;

using Row = std::vector<double>;
using Rows = std::vector<Row>;

const Json kLayers = Json::array({Json{{"kind", "attention"}, {"heads", 2}},
                                  Json{{"kind", "superposition"}, {"size", 3}},
                                  Json{{"kind", "nondeterministic"}, {"size", 2}, {"symbols", 3}}});

LanguageModel make_model(const Json& layers, double dropout = 0, bool end_symbol = false) {
  return LanguageModel(Alphabet({"a", "b", "c"}), Json{{"architecture", "transformer"},
                                                       {"layers", layers},
                                                       {"hidden", 6},
                                                       {"heads", 3},
                                                       {"feedforward", 5},
                                                       {"dropout", dropout},
                                                       {"end_symbol", end_symbol},
                                                       {"dtype", "float64"},
                                                       {"seed", 2}});
}

// ---- The equations for single numbers. ----

class Reference {
 public:
  explicit Reference(const LanguageModel& model) {
    for (const auto& [name, tensor] : model.parameters()) parameters_[name] = tensor.detach();
  }

  Rows logits(const std::vector<int>& word) const {
    const Tensor& embedding = parameters_.at("embedding");
    Rows x;
    for (std::size_t t = 0; t <= word.size(); ++t) {
      Row row;
      for (int i = 0; i < 6; ++i) {
        const double angle = static_cast<double>(t) / std::pow(10000.0, (i - i % 2) / 6.0);
        const int symbol = t == 0 ? 3 : word[t - 1];
        row.push_back(std::sqrt(6.0) * embedding[symbol][i].item<double>() +
                      (i % 2 == 0 ? std::sin(angle) : std::cos(angle)));
      }
      x.push_back(row);
    }
    for (int layer = 1; layer <= 3; ++layer) {
      const std::string name = "layers." + std::to_string(layer) + ".";
      const Rows normed = norm(x, name + "norm");
      add(x, layer == 1   ? attention(normed, name)
             : layer == 2 ? superposition(normed, name)
                          : nondeterministic(normed, name));
      Rows inner = times(norm(x, name + "feedforward_norm"), name + "feedforward_inner_weight",
                         name + "feedforward_inner_bias");
      for (auto& row : inner)
        for (auto& value : row) value = std::max(value, 0.0);
      add(x, times(inner, name + "feedforward_outer_weight", name + "feedforward_outer_bias"));
    }
    return times(norm(x, "norm"), "output.weight", "output.bias");
  }

 private:
  Rows times(const Rows& x, const std::string& weight, const std::string& bias = "") const {
    const Tensor& w = parameters_.at(weight);
    Rows out;
    for (const Row& row : x) {
      Row& result = out.emplace_back();
      for (std::int64_t o = 0; o < w.size(0); ++o) {
        double sum = bias.empty() ? 0 : parameters_.at(bias)[o].item<double>();
        for (std::size_t i = 0; i < row.size(); ++i)
          sum += row[i] * w[o][static_cast<std::int64_t>(i)].item<double>();
        result.push_back(sum);
      }
    }
    return out;
  }

  Rows norm(const Rows& x, const std::string& name) const {
    Rows out;
    for (const Row& row : x) {
      double mean = 0, variance = 0;
      for (const double value : row) mean += value / 6;
      for (const double value : row) variance += (value - mean) * (value - mean) / 6;
      Row& result = out.emplace_back();
      for (int i = 0; i < 6; ++i)
        result.push_back((row[i] - mean) / std::sqrt(variance + 1e-5) *
                             parameters_.at(name + "_gain")[i].item<double>() +
                         parameters_.at(name + "_bias")[i].item<double>());
    }
    return out;
  }

  static void add(Rows& x, const Rows& more) {
    for (std::size_t t = 0; t < x.size(); ++t)
      for (std::size_t i = 0; i < x[t].size(); ++i) x[t][i] += more[t][i];
  }

  static Row softmax(Row row) {
    double total = 0;
    for (auto& value : row) total += value = std::exp(value);
    for (auto& value : row) value /= total;
    return row;
  }

  Rows attention(const Rows& x, const std::string& name) const {
    const Rows q = times(x, name + "query_weight"), k = times(x, name + "key_weight"),
               v = times(x, name + "value_weight");
    Rows joined(x.size(), Row(6));
    for (int head = 0; head < 2; ++head)
      for (std::size_t t = 0; t < x.size(); ++t) {
        Row scores;
        for (std::size_t s = 0; s <= t; ++s) {
          double dot = 0;
          for (int i = 3 * head; i < 3 * head + 3; ++i) dot += q[t][i] * k[s][i];
          scores.push_back(dot / std::sqrt(3.0));
        }
        const Row shares = softmax(scores);
        for (std::size_t s = 0; s <= t; ++s)
          for (int i = 3 * head; i < 3 * head + 3; ++i) joined[t][i] += shares[s] * v[s][i];
      }
    return times(joined, name + "output_weight");
  }

  Rows superposition(const Rows& x, const std::string& name) const {
    const Rows actions = times(x, name + "stack.action_weight"),
               vectors = times(x, name + "stack.vector_weight");
    Rows cells(x.size() + 2, Row(3)), readings;  // top first
    for (std::size_t t = 0; t < x.size(); ++t) {
      const Row a = softmax(actions[t]);
      Rows next = cells;
      for (std::size_t d = 0; d + 1 < cells.size(); ++d)
        for (int i = 0; i < 3; ++i)
          next[d][i] = a[0] * (d == 0 ? vectors[t][i] : cells[d - 1][i]) + a[1] * cells[d + 1][i] +
                       a[2] * cells[d][i];
      cells = next;
      readings.push_back(cells[0]);
    }
    return times(readings, name + "output_weight");
  }

  // Uses the bare stack, which has its own tests.
  Rows nondeterministic(const Rows& x, const std::string& name) const {
    const auto tensor = [](const Rows& rows) {
      std::vector<Tensor> all;
      for (const Row& row : rows) all.push_back(at::tensor(row, at::kDouble));
      return at::stack(all).unsqueeze(0);
    };
    const Tensor scores = tensor(times(x, name + "stack.action_weight"));
    const Tensor readings =
        simulate_stack(Json{{"kind", "vector_nondeterministic"}, {"symbols", 3}, {"fast", false}},
                       {{"log_weights", scores.view({1, scores.size(1), 6, 14})},
                        {"vectors", tensor(times(x, name + "stack.vector_weight"))},
                        {"bottom_vector", parameters_.at(name + "stack.bottom_vector").sigmoid()}});
    Rows rows;
    for (std::size_t t = 1; t <= x.size(); ++t) {
      const Tensor row = readings[0][static_cast<std::int64_t>(t)].contiguous();
      rows.emplace_back(row.data_ptr<double>(), row.data_ptr<double>() + row.numel());
    }
    return times(rows, name + "output_weight");
  }

  std::map<std::string, Tensor> parameters_;
};

TEST(Transformer, FollowsItsEquations) {
  const auto model = make_model(kLayers, 0, true);
  {
    // All gains and biases differ, so that each must be in its place.
    at::NoGradGuard guard;
    Random random(9);
    for (const auto& [name, tensor] : model.parameters())
      for (std::int64_t i = 0; i < tensor.numel(); ++i)
        tensor.data_ptr<double>()[i] += 0.3 * random.normal();
  }
  const std::vector<int> word{2, 0, 1, 1, 0, 2, 2};
  const Tensor got = model.logits(
      at::tensor(std::vector<std::int64_t>(word.begin(), word.end()), at::kLong).unsqueeze(0));
  const Rows wanted = Reference(model).logits(word);
  ASSERT_EQ(got.sizes(), (std::vector<std::int64_t>{1, 8, 4}));
  for (std::size_t t = 0; t < wanted.size(); ++t)
    EXPECT_LT(deviation(got[0][static_cast<std::int64_t>(t)], at::tensor(wanted[t], at::kDouble)),
              1e-11)
        << t;
}

TEST(Transformer, TheFastStackLayerEqualsThePlainOne) {
  Json plain = kLayers;
  plain[2]["fast"] = false;
  const auto a = make_model(kLayers), b = make_model(plain);
  const Tensor words = at::tensor({0, 1, 2, 2, 1, 0, 0, 1}, at::kLong).view({2, 4});
  EXPECT_LT(deviation(a.logits(words), b.logits(words)), 1e-12);
  a.log_probabilities(words).sum().backward();
  b.log_probabilities(words).sum().backward();
  for (std::size_t i = 0; i < a.parameters().size(); ++i)
    EXPECT_LT(deviation(a.parameters()[i].second.grad(), b.parameters()[i].second.grad()), 1e-10)
        << a.parameters()[i].first;
}

TEST(TransformerDropout, IsRepeatedBySeedAndAbsentWithoutNoise) {
  const auto model = make_model(kLayers, 0.3), plain = make_model(kLayers);
  const Tensor words = at::tensor({0, 1, 2, 2, 1, 0, 0, 1}, at::kLong).view({2, 4});
  EXPECT_TRUE(model.logits(words).equal(plain.logits(words)));
  Random noise(1), same(1), other(2);
  const Tensor first = model.logits(words, &noise);
  EXPECT_TRUE(first.equal(model.logits(words, &same)));
  EXPECT_FALSE(first.equal(model.logits(words, &other)));
  EXPECT_FALSE(first.equal(model.logits(words, &noise)));  // the generator has advanced
  Random unused(1);
  plain.logits(words, &unused);
  EXPECT_EQ(unused.state(), Random(1).state());
}

TEST(TransformerDropout, GradientsAreThoseOfTheDroppedNetwork) {
  const auto model = make_model(kLayers, 0.4);
  const Tensor words = at::tensor({0, 1, 2, 2, 1, 0}, at::kLong).view({2, 3});
  std::vector<Tensor> leaves;
  for (const auto& [name, tensor] : model.parameters()) leaves.push_back(tensor);
  EXPECT_LT(gradient_error(
                leaves,
                [&] {
                  Random noise(5);
                  return model.log_probabilities(words, &noise).sum();
                },
                4),
            1e-6);
}

TEST(Dropout, DropsTheGivenShareAndScalesTheRest) {
  Random noise(3);
  const Tensor x = at::full({100, 200}, 2.0, at::kDouble).set_requires_grad(true);
  const Tensor y = dropout(x, 0.2, &noise);
  EXPECT_TRUE(((y == 0) | (y == 2.5)).all().item<bool>());
  EXPECT_NEAR((y == 0).to(at::kDouble).mean().item<double>(), 0.2, 0.01);
  y.sum().backward();
  EXPECT_TRUE(x.grad().equal(y.detach() / 2));
}

TEST(TransformerErrors, NameTheError) {
  const auto complaint = [](const Json& options) -> std::string {
    Json all{{"architecture", "transformer"}};
    all.update(options);
    try {
      LanguageModel(Alphabet({"a"}), all);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "none";
  };
  const auto expect = [&](const Json& options, const std::string& part) {
    EXPECT_NE(complaint(options).find(part), std::string::npos) << complaint(options);
  };
  expect({{"layers", {"attenton"}}}, "did you mean 'attention'");
  expect({{"layers", {Json{{"kind", "superposition"}, {"sise", 3}}}}}, "did you mean 'size'");
  expect({{"layers", {3}}}, "'kind'");
  expect({{"layers", "attention"}}, "must be a list");
  expect({{"hidden", 10}, {"heads", 4}}, "multiple of 'heads', got 10 and 4");
  expect({{"dropout", 1}}, "below 1");
  expect({{"controller", {{"kind", "lstm"}}}}, "unknown option 'controller'");
  const LanguageModel model(Alphabet({"a"}), Json{{"architecture", "transformer"},
                                                  {"layers", {"attention", "superposition"}},
                                                  {"heads", 2}});
  EXPECT_EQ(model.options()["layers"][0]["heads"], 2);
  EXPECT_EQ(model.options()["layers"][1]["size"], 20);
}

}  // namespace
}  // namespace pushdown::transformer_test
