// The transformer, compared with its equations in plain loops, and the properties of dropout.
#include <gtest/gtest.h>

#include "model/dropout.h"
#include "model/language_model.h"
#include "stack/stack.h"
#include "support/golden.h"
#include "support/gradient.h"
#include "support/message.h"
#include "tensor/backward.h"

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
  // `logarithms`: the nondeterministic layer takes W x for the logarithm of the pushed vector.
  explicit Reference(const LanguageModel& model, bool logarithms = false)
      : logarithms_(logarithms) {
    for (const auto& [name, tensor] : model.parameters()) parameters_[name] = tensor.detach();
    for (const Json& layer : model.options()["layers"]) kinds_.push_back(layer["kind"]);
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
    int layer = 0;
    for (const std::string& kind : kinds_) {
      const std::string name = "layers." + std::to_string(++layer) + ".";
      const Rows normed = norm(x, name + "norm");
      add(x, kind == "attention"       ? attention(normed, name)
             : kind == "superposition" ? superposition(normed, name)
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

  // The stack of 2 states and 3 symbols as in the published program: everything in logarithms, with
  // log zeta [m] for each pair of configurations and log sigmoid(w) as the bottom vector.
  Rows logarithmic(const Rows& x, const std::string& name) const {
    constexpr int kStates = 2, kSymbols = 3, kConfigurations = kStates * kSymbols, kSize = 2;
    const double none = -std::numeric_limits<double>::infinity();
    const auto add_to = [](double& sum, double more) {
      const double larger = std::max(sum, more);
      if (std::isfinite(larger)) sum = larger + std::log1p(std::exp(std::min(sum, more) - larger));
    };
    // Channel 0 is log gamma, channels 1 and 2 are log zeta.
    using Edge =
        std::array<std::array<std::array<double, kSize + 1>, kConfigurations>, kConfigurations>;
    const auto empty = [&] {
      Edge edge;
      for (auto& row : edge)
        for (auto& entry : row) entry.fill(none);
      return edge;
    };
    const Rows actions = times(x, name + "stack.action_weight"),
               pushed = times(x, name + "stack.vector_weight");
    const Tensor bottom = parameters_.at(name + "stack.bottom_vector");
    std::map<std::pair<int, int>, Edge> edges;
    std::map<int, std::array<double, kConfigurations>> alpha;
    for (const int node : {-1, 0}) {
      alpha[node].fill(none);
      alpha[node][0] = 0;
    }
    edges[{-1, 0}] = empty();
    edges[{-1, 0}][0][0][0] = 0;
    for (int k = 0; k < kSize; ++k)
      edges[{-1, 0}][0][0][k + 1] = -std::log1p(std::exp(-bottom[k].item<double>()));
    Rows readings;
    for (int t = 1; t <= static_cast<int>(x.size()); ++t) {
      const Row& a = actions[t - 1];
      const auto action = [&](int from, int column) { return a[from * 14 + column]; };
      for (int i = -1; i < t; ++i) {
        Edge edge = empty();
        for (int from = 0; from < kConfigurations; ++from)
          for (int to = 0; to < kConfigurations; ++to)
            for (int k = 0; k <= kSize; ++k) {
              double& sum = edge[from][to][k];
              if (i == t - 1) {
                sum = action(from, to) + (k == 0 ? 0 : pushed[t - 1][k - 1]);
                continue;
              }
              for (int c = 0; c < kConfigurations; ++c)
                add_to(sum, edges[{i, t - 1}][from][c][k] + action(c, 6 + to));
              for (int j = i + 1; j < t - 1; ++j)
                for (int u = 0; u < kStates; ++u)
                  for (int c = 0; c < kConfigurations; ++c) {
                    const int left = u * kSymbols + to % kSymbols;
                    add_to(sum, edges[{i, j}][from][left][k] + edges[{j, t - 1}][left][c][0] +
                                    action(c, 12 + to / kSymbols));
                  }
            }
        edges[{i, t}] = edge;
      }
      double total = none;
      std::array<std::array<double, kSize + 1>, kConfigurations> top;
      for (int to = 0; to < kConfigurations; ++to) {
        top[to].fill(none);
        for (int i = -1; i < t; ++i)
          for (int from = 0; from < kConfigurations; ++from)
            for (int k = 0; k <= kSize; ++k)
              add_to(top[to][k], alpha[i][from] + edges[{i, t}][from][to][k]);
        alpha[t][to] = top[to][0];
        add_to(total, top[to][0]);
      }
      Row& reading = readings.emplace_back();
      for (const auto& entry : top)
        for (int k = 1; k <= kSize; ++k) reading.push_back(std::exp(entry[k] - total));
    }
    return times(readings, name + "output_weight");
  }

  // Uses the bare stack, which has its own tests.
  Rows nondeterministic(const Rows& x, const std::string& name) const {
    if (logarithms_) return logarithmic(x, name);
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
  std::vector<std::string> kinds_;
  bool logarithms_;
};

void compare_with_equations(const Json& layers, bool logarithms) {
  const auto model = make_model(layers, 0, true);
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
  const Rows wanted = Reference(model, logarithms).logits(word);
  ASSERT_EQ(got.sizes(), (std::vector<std::int64_t>{1, 8, 4}));
  for (std::size_t t = 0; t < wanted.size(); ++t)
    EXPECT_LT(deviation(got[0][static_cast<std::int64_t>(t)], at::tensor(wanted[t], at::kDouble)),
              1e-11)
        << t << ' ' << layers;
}

Json with_exponentials() {
  Json layers = kLayers;
  layers[2]["vector"] = "exp";
  return layers;
}

TEST(Transformer, FollowsItsEquations) { compare_with_equations(kLayers, false); }

TEST(Transformer, TakesStackLayersInAnyNumberAndOrder) {
  for (const std::vector<int>& order :
       {std::vector<int>{1, 2}, {2, 1}, {1}, {2, 2}, {1, 0, 1}, {0, 2, 1, 0, 2}, {2, 1, 1, 2, 0}}) {
    Json layers = Json::array();
    for (const int layer : order) layers.push_back(kLayers[layer]);
    compare_with_equations(layers, false);
    const auto model = make_model(layers);
    const Tensor words = at::tensor({0, 1, 2, 2, 1, 0, 0, 1}, at::kLong).view({2, 4});
    auto [first, state] = model.read(words.narrow(1, 0, 3), model.begin(2, 4));
    const Tensor pieces = at::cat({first, model.read(words.narrow(1, 3, 1), state).first}, 1);
    EXPECT_LT(deviation(pieces, model.logits(words)), 1e-12) << layers;
    std::vector<Tensor> leaves;
    for (const auto& [name, tensor] : model.parameters()) leaves.push_back(tensor);
    EXPECT_LT(gradient_error(
                  leaves, [&] { return model.log_probabilities(words).sum(); }, 2),
              1e-6)
        << layers;
  }
}

TEST(Transformer, PushesExponentialsAsThePublishedProgram) {
  compare_with_equations(with_exponentials(), true);
}

TEST(Transformer, HasSecondDerivativesOnRequest) {
  const auto model = make_model({"attention", "attention"});
  const Tensor words = at::tensor({0, 1, 2, 2, 1, 0, 0, 1}, at::kLong).view({2, 4});
  const Tensor plain = model.log_probabilities(words);
  const SecondDerivatives wanted;
  const Tensor again = model.log_probabilities(words);
  EXPECT_LT(deviation(again, plain), 1e-12);
  const Tensor& weight = model.parameters().front().second;
  weight.mutable_grad() = Tensor();
  again.sum().backward({}, true, true);
  const Tensor first = weight.grad();
  weight.mutable_grad() = Tensor();
  first.square().sum().backward();
  EXPECT_TRUE(weight.grad().isfinite().all().item<bool>());
  EXPECT_GT((weight.grad() - first).abs().max().item<double>(), 0);
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
  const auto expect = [](Json options, const char* part) {
    options["architecture"] = "transformer";
    EXPECT_CONTAINS(
        message<std::invalid_argument>([&] { LanguageModel(Alphabet({"a"}), options); }), part);
  };
  expect({{"layers", {"attenton"}}}, "did you mean 'attention'");
  expect({{"layers", {3}}}, "'kind'");
  expect({{"hidden", 10}, {"heads", 4}}, "multiple of 'heads', got 10 and 4");
  expect({{"dropout", 1}}, "below 1");
  expect({{"hidden", 6}, {"heads", 2}, {"positions", "rotary"}}, "must be even, got 6 / 2");
  const LanguageModel model(Alphabet({"a"}), Json{{"architecture", "transformer"},
                                                  {"layers", {"attention", "superposition"}},
                                                  {"heads", 2}});
  EXPECT_EQ(model.options()["layers"][0]["heads"], 2);
  EXPECT_EQ(model.options()["layers"][1]["size"], 20);
  EXPECT_EQ(model.options()["layers"][0]["positions"], "none");
  const LanguageModel rotary(
      Alphabet({"a"}),
      Json{{"architecture", "transformer"},
           {"positions", "rotary"},
           {"layers", {"attention", Json{{"kind", "attention"}, {"positions", "none"}}}}});
  EXPECT_EQ(rotary.options()["layers"][0]["positions"], "rotary");
  EXPECT_EQ(rotary.options()["layers"][1]["positions"], "none");
}

}  // namespace
}  // namespace pushdown::transformer_test
