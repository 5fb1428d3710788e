// Every recurrent cell, compared with its equations in plain loops over numbers.
#include <gtest/gtest.h>

#include <cmath>

#include "controller/controller.h"
#include "support/golden.h"
#include "support/gradient.h"

namespace pushdown::cells_test {
namespace {

using namespace testing_support;
using Row = std::vector<double>;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The parameters of one layer.
struct Layer {
  std::map<std::string, Tensor> tensors;

  // Returns W x, or the rows first .. first + count - 1 of it.
  Row map(const std::string& name, const Row& x, std::size_t first = 0,
          std::size_t count = 0) const {
    const Tensor& w = tensors.at(name);
    EXPECT_EQ(w.size(1), static_cast<std::int64_t>(x.size())) << name;
    if (count == 0) count = static_cast<std::size_t>(w.size(0));
    Row result(count, 0.0);
    const double* row = w.data_ptr<double>() + first * x.size();
    for (std::size_t i = 0; i < count; ++i, row += x.size())
      for (std::size_t j = 0; j < x.size(); ++j) result[i] += row[j] * x[j];
    return result;
  }
  double at(const std::string& name, std::size_t i) const {
    return tensors.at(name).data_ptr<double>()[i];
  }
};

using States = std::vector<Row>;  // the state of one layer, the hidden vector first
using Step = States (*)(const Json& options, const Layer&, const Row& x, const States& old);

double squash(const Json& options, const char* otherwise, double x) {
  const auto name = options.value("activation", std::string(otherwise));
  if (name == "sigmoid") return sigmoid(x);
  return name == "tanh" ? std::tanh(x) : 1.7519 * std::tanh(2 * x / 3);
}

States elman(const Json& options, const Layer& p, const Row& x, const States& old) {
  const Row a = p.map("weight_ih", x), b = p.map("weight_hh", old[0]);
  Row h;
  for (std::size_t i = 0; i < a.size(); ++i)
    h.push_back(squash(options, "tanh", a[i] + b[i] + p.at("bias_ih", i) + p.at("bias_hh", i)));
  return {h};
}

States second_order(const Json& options, const Layer& p, const Row& x, const States& old) {
  const std::size_t hidden = old[0].size(), input = x.size();
  Row h;
  for (std::size_t i = 0; i < hidden; ++i) {
    double sum = p.at("bias", i);
    for (std::size_t j = 0; j < hidden; ++j)
      for (std::size_t k = 0; k < input; ++k)
        sum += p.at("weight", (i * hidden + j) * input + k) * old[0][j] * x[k];
    h.push_back(squash(options, "sigmoid", sum));
  }
  return {h};
}

States lstm_peephole(const Json&, const Layer& p, const Row& x, const States& old) {
  const Row a = p.map("weight_ih", x), b = p.map("weight_hh", old[0]);
  const std::size_t n = old[0].size();
  States next(2, Row(n));
  const auto gate = [&](std::size_t row) {
    return a[row] + b[row] + p.at("bias_ih", row) + p.at("bias_hh", row);
  };
  for (std::size_t u = 0; u < n; ++u) {
    const double c = old[1][u];
    const double i = sigmoid(gate(u) + p.at("peephole", u) * c);
    const double f = sigmoid(gate(n + u) + p.at("peephole", n + u) * c);
    next[1][u] = f * c + i * std::tanh(gate(2 * n + u));
    const double o = sigmoid(gate(3 * n + u) + p.at("peephole", 2 * n + u) * next[1][u]);
    next[0][u] = o * std::tanh(next[1][u]);
  }
  return next;
}

double integrate(const Layer& p, std::size_t row, double wx, double uh) {
  return p.at("alpha", row) * wx * uh + p.at("beta_hidden", row) * uh +
         p.at("beta_input", row) * wx + p.at("bias", row);
}

States mi_rnn(const Json& options, const Layer& p, const Row& x, const States& old) {
  const Row wx = p.map("weight_ih", x), uh = p.map("weight_hh", old[0]);
  Row h;
  for (std::size_t i = 0; i < wx.size(); ++i)
    h.push_back(squash(options, "tanh", integrate(p, i, wx[i], uh[i])));
  return {h};
}

States mi_lstm(const Json&, const Layer& p, const Row& x, const States& old) {
  const Row wx = p.map("weight_ih", x), uh = p.map("weight_hh", old[0]);
  const std::size_t n = old[0].size();
  States next(2, Row(n));
  const auto gate = [&](std::size_t row) { return integrate(p, row, wx[row], uh[row]); };
  for (std::size_t u = 0; u < n; ++u) {
    next[1][u] = sigmoid(gate(n + u)) * old[1][u] + sigmoid(gate(u)) * std::tanh(gate(2 * n + u));
    next[0][u] = sigmoid(gate(3 * n + u)) * std::tanh(next[1][u]);
  }
  return next;
}

States mi_gru(const Json&, const Layer& p, const Row& x, const States& old) {
  const Row wx = p.map("weight_ih", x), uh = p.map("weight_hh", old[0]);
  const std::size_t n = old[0].size();
  Row reset_hidden;
  for (std::size_t u = 0; u < n; ++u)
    reset_hidden.push_back(sigmoid(integrate(p, u, wx[u], uh[u])) * old[0][u]);
  const Row from_reset = p.map("weight_hh", reset_hidden, 2 * n, n);
  Row h;
  for (std::size_t u = 0; u < n; ++u) {
    const double z = sigmoid(integrate(p, n + u, wx[n + u], uh[n + u]));
    const double candidate = std::tanh(integrate(p, 2 * n + u, wx[2 * n + u], from_reset[u]));
    h.push_back((1 - z) * candidate + z * old[0][u]);
  }
  return {h};
}

States delta_rnn(const Json& options, const Layer& p, const Row& x, const States& old) {
  const Row wx = p.map("weight_ih", x), uh = p.map("weight_hh", old[0]);
  const auto phi = options.value("phi", std::string("identity"));
  Row h;
  for (std::size_t i = 0; i < wx.size(); ++i) {
    const double d1 = p.at("alpha", i) * uh[i] * wx[i];
    const double d2 = p.at("beta_hidden", i) * uh[i] + p.at("beta_input", i) * wx[i];
    const double g = std::tanh(d1 + d2 + p.at("bias", i));
    const double r = sigmoid(wx[i] + p.at("gate_bias", i));
    const double mixed = (1 - r) * g + r * old[0][i];
    h.push_back(phi == "tanh"      ? std::tanh(mixed)
                : phi == "sigmoid" ? sigmoid(mixed)
                : phi == "relu"    ? std::max(mixed, 0.0)
                                   : mixed);
  }
  return {h};
}

Row intermediate(const Layer& p, const Row& x, const Row& h) {
  Row m = p.map("weight_mx", x);
  const Row other = p.map("weight_mh", h);
  for (std::size_t i = 0; i < m.size(); ++i) m[i] *= other[i];
  return m;
}

States mrnn(const Json& options, const Layer& p, const Row& x, const States& old) {
  const Row a = p.map("weight_ih", x), b = p.map("weight_hm", intermediate(p, x, old[0]));
  Row h;
  for (std::size_t i = 0; i < a.size(); ++i)
    h.push_back(squash(options, "tanh", a[i] + b[i] + p.at("bias", i)));
  return {h};
}

States mlstm(const Json& options, const Layer& p, const Row& x, const States& old) {
  const Row a = p.map("weight_ih", x), b = p.map("weight_hm", intermediate(p, x, old[0]));
  const std::size_t n = old[0].size();
  States next(2, Row(n));
  const auto gate = [&](std::size_t row) { return a[row] + b[row] + p.at("bias", row); };
  for (std::size_t u = 0; u < n; ++u) {
    const double c = next[1][u] =
        sigmoid(gate(n + u)) * old[1][u] + sigmoid(gate(u)) * std::tanh(gate(2 * n + u));
    const double o = sigmoid(gate(3 * n + u));
    next[0][u] = options.value("output", "") == "gate_inside" ? std::tanh(c * o) : std::tanh(c) * o;
  }
  return next;
}

struct Case {
  Json options;
  Step step;
  std::size_t states;
};
void PrintTo(const Case& given, std::ostream* out) { *out << given.options; }

std::vector<Case> cases() {
  const auto with = [](const char* kind, Json options = Json::object()) {
    options["kind"] = kind;
    return options;
  };
  return {{with("elman"), elman, 1},
          {with("elman", {{"activation", "sigmoid"}}), elman, 1},
          {with("elman", {{"activation", "scaled_tanh"}}), elman, 1},
          {with("second_order"), second_order, 1},
          {with("second_order", {{"activation", "tanh"}, {"range", 0.5}}), second_order, 1},
          {with("lstm_peephole"), lstm_peephole, 2},
          {with("mi_rnn"), mi_rnn, 1},
          {with("mi_rnn", {{"activation", "scaled_tanh"}, {"alpha", 2}, {"beta", 0.5}}), mi_rnn, 1},
          {with("mi_lstm"), mi_lstm, 2},
          {with("mi_gru"), mi_gru, 1},
          {with("delta_rnn"), delta_rnn, 1},
          {with("delta_rnn", {{"phi", "tanh"}, {"alpha", 2}}), delta_rnn, 1},
          {with("delta_rnn", {{"phi", "sigmoid"}}), delta_rnn, 1},
          {with("delta_rnn", {{"phi", "relu"}, {"initialization", "normal"}}), delta_rnn, 1},
          {with("mrnn"), mrnn, 1},
          {with("mrnn", {{"factors", 5}, {"activation", "sigmoid"}}), mrnn, 1},
          {with("mlstm"), mlstm, 2},
          {with("mlstm", {{"factors", 2}, {"output", "gate_inside"}}), mlstm, 2}};
}

constexpr std::int64_t kInput = 3, kHidden = 4, kBatch = 2, kSteps = 5;

class Cells : public testing::TestWithParam<Case> {
 protected:
  ControllerPtr make(std::int64_t layers) {
    Json options = GetParam().options;
    options["hidden"] = kHidden;
    options["layers"] = layers;
    Random random(11);
    const auto made = make_controller(options, {kInput, at::TensorOptions(at::kDouble), &random});
    // Values for which every nonlinearity matters.
    at::NoGradGuard guard;
    for (const auto& [name, tensor] : made->parameters()) {
      Tensor noise = at::empty_like(tensor);
      for (std::int64_t i = 0; i < noise.numel(); ++i)
        noise.data_ptr<double>()[i] = random.uniform(-1, 1);
      tensor.add_(noise);
    }
    return made;
  }
};

TEST_P(Cells, FollowTheirEquations) {
  for (const std::int64_t layers : {1, 3}) {
    const auto controller = make(layers);
    std::vector<Layer> parameters(layers);
    for (const auto& [name, tensor] : controller->parameters()) {
      const auto cut = name.rfind("_l");
      parameters[std::stoul(name.substr(cut + 2))].tensors[name.substr(0, cut)] = tensor.detach();
    }
    const Tensor inputs =
        at::arange(kBatch * kSteps * kInput, at::kDouble).sin().view({kBatch, kSteps, kInput});
    ControllerState state = controller->initial(kBatch);
    ASSERT_EQ(state.size(), GetParam().states * layers);
    std::vector<std::vector<States>> wanted(kBatch);  // by sequence and layer
    for (std::int64_t b = 0; b < kBatch; ++b)
      for (std::int64_t k = 0; k < layers; ++k) {
        Row zero(kHidden, 0.0);
        if (GetParam().options["kind"] == "second_order") zero[0] = 1;
        wanted[b].push_back(States(GetParam().states, zero));
      }
    for (std::int64_t t = 0; t < kSteps; ++t) {
      auto [hidden, next] = controller->step(inputs.select(1, t), state);
      state = next;
      for (std::int64_t b = 0; b < kBatch; ++b) {
        Row x;
        for (std::int64_t i = 0; i < kInput; ++i) x.push_back(inputs[b][t][i].item<double>());
        for (std::int64_t k = 0; k < layers; ++k) {
          wanted[b][k] = GetParam().step(GetParam().options, parameters[k], x, wanted[b][k]);
          x = wanted[b][k][0];
          for (std::size_t s = 0; s < GetParam().states; ++s)
            EXPECT_LT(deviation(state[k * GetParam().states + s][b],
                                at::tensor(wanted[b][k][s], at::kDouble)),
                      1e-13)
                << "step " << t << ", layer " << k << ", state " << s;
        }
        EXPECT_LT(deviation(hidden[b], at::tensor(x, at::kDouble)), 1e-13);
      }
    }
  }
}

TEST_P(Cells, GradientsMatchFiniteDifferences) {
  const auto controller = make(2);
  const Tensor inputs = at::arange(kBatch * kSteps * kInput, at::kDouble)
                            .cos()
                            .view({kBatch, kSteps, kInput})
                            .detach()
                            .set_requires_grad(true);
  std::vector<Tensor> leaves{inputs};
  for (const auto& [name, tensor] : controller->parameters()) leaves.push_back(tensor);
  const auto loss = [&] {
    auto state = controller->initial(kBatch);
    Tensor sum = at::zeros({}, at::kDouble);
    for (std::int64_t t = 0; t < kSteps; ++t) {
      auto [hidden, next] = controller->step(inputs.select(1, t), state);
      state = next;
      sum = sum + (hidden * hidden * (t + 1)).sum();
    }
    return sum;
  };
  EXPECT_LT(gradient_error(leaves, loss, 30), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Cells, testing::ValuesIn(cases()));

Tensor parameter(const Controller& controller, const std::string& name) {
  for (const auto& [key, tensor] : controller.parameters())
    if (key == name) return tensor.detach();
  throw std::runtime_error("no parameter " + name);
}

ControllerPtr make(Json options) {
  Random random(1);
  return make_controller(options, {kInput, at::TensorOptions(at::kDouble), &random});
}

TEST(CellInitialisation, FollowsTheOptions) {
  const auto delta = make({{"kind", "delta_rnn"},
                           {"alpha", 2},
                           {"beta", 0.5},
                           {"hidden", 60},
                           {"initialization", "normal"}});
  EXPECT_TRUE(parameter(*delta, "alpha_l0").eq(2).all().item<bool>());
  EXPECT_TRUE(parameter(*delta, "beta_hidden_l0").eq(0.5).all().item<bool>());
  EXPECT_TRUE(parameter(*delta, "beta_input_l0").eq(0.5).all().item<bool>());
  EXPECT_TRUE(parameter(*delta, "bias_l0").eq(0).all().item<bool>());
  EXPECT_TRUE(parameter(*delta, "gate_bias_l0").eq(0).all().item<bool>());
  const Tensor weight = parameter(*delta, "weight_hh_l0");
  EXPECT_NEAR(weight.std().item<double>(), 0.005, 0.0005);
  EXPECT_NEAR(weight.mean().item<double>(), 0, 0.0005);

  for (const char* kind : {"mi_rnn", "mi_lstm", "mi_gru", "delta_rnn"}) {
    const auto cell = make({{"kind", kind}});
    for (const char* name : {"alpha_l0", "beta_hidden_l0", "beta_input_l0"})
      EXPECT_TRUE(parameter(*cell, name).eq(1).all().item<bool>()) << kind << ' ' << name;
    EXPECT_LE(parameter(*cell, "weight_ih_l0").abs().max().item<double>(), 0.1) << kind;
  }
  const Tensor wide = parameter(*make({{"kind", "second_order"}}), "weight_l0");
  EXPECT_LE(wide.abs().max().item<double>(), 1);
  EXPECT_GT(wide.abs().max().item<double>(), 0.9);
}

// If its first unit is not 1, a second-order network does not see the first symbol.
TEST(SecondOrderStart, DecidesWhetherTheFirstSymbolIsSeen) {
  const Tensor one = at::tensor({1.0, 0.0, 0.0}, at::kDouble).view({1, 3});
  const Tensor other = at::tensor({0.0, 1.0, 0.0}, at::kDouble).view({1, 3});
  for (const bool first : {true, false}) {
    const auto cell = make({{"kind", "second_order"}, {"start", first ? "first" : "zero"}});
    const auto state = cell->initial(1);
    EXPECT_EQ(state[0].sum().item<double>(), first ? 1 : 0);
    EXPECT_EQ(cell->step(one, state).first.equal(cell->step(other, state).first), !first);
  }
}

TEST(CellErrors, NameTheOption) {
  EXPECT_THROW(make({{"kind", "delta_rnn"}, {"phi", "cosine"}}), std::invalid_argument);
  EXPECT_THROW(make({{"kind", "second_order"}, {"range", -1}}), std::invalid_argument);
  EXPECT_THROW(make({{"kind", "mlstm"}, {"factors", -2}}), std::invalid_argument);
  EXPECT_THROW(make({{"kind", "mi_gru"}, {"gamma", 1}}), std::invalid_argument);
  try {
    make({{"kind", "mi_lstn"}});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'mi_lstm'"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace pushdown::cells_test
