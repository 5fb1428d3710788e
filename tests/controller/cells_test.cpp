// Every recurrent cell, compared with its equations in plain loops over numbers.
#include <gtest/gtest.h>

#include <cmath>

#include "controller/controller.h"
#include "support/golden.h"
#include "support/gradients.h"
#include "support/message.h"

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
  if (name == "relu") return std::max(x, 0.0);
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

double silu(double x) { return x * sigmoid(x); }

// The numbers first .. first + count - 1, each divided by sqrt(scale sum of squares + epsilon).
Row scaled(const Row& x, std::size_t first, std::size_t count, double scale, double epsilon) {
  double squares = 0;
  for (std::size_t i = first; i < first + count; ++i) squares += x[i] * x[i];
  Row result;
  for (std::size_t i = first; i < first + count; ++i)
    result.push_back(x[i] / std::sqrt(scale * squares + epsilon));
  return result;
}

// With the published transition S' = S (I - beta k k^T) + beta v k^T, as products of matrices.
States deltanet(const Json& options, const Layer& p, const Row& x, const States& old) {
  const std::size_t n = old[0].size(), heads = options.value("heads", 1), d = n / heads;
  Row all = p.map("weight_ih", x), rows(n);
  for (std::size_t i = 0; i < 3 * n; ++i) all[i] = silu(all[i]);
  States next{Row(), old[1]};
  for (std::size_t h = 0; h < heads; ++h) {
    const Row q = scaled(all, h * d, d, 1, 1e-6), k = scaled(all, n + h * d, d, 1, 1e-6);
    const double beta = (1 - options.value("lowest_eigenvalue", 0.0)) * sigmoid(all[3 * n + h]);
    Row read(d);
    for (std::size_t i = 0; i < d; ++i)
      for (std::size_t j = 0; j < d; ++j) {
        double sum = beta * all[2 * n + h * d + i] * k[j];
        for (std::size_t m = 0; m < d; ++m)
          sum += old[1][(h * d + i) * d + m] * ((m == j ? 1 : 0) - beta * k[m] * k[j]);
        next[1][(h * d + i) * d + j] = sum;
        read[i] += sum * q[j];
      }
    const Row normal = scaled(read, 0, d, 1.0 / static_cast<double>(d), 1e-5);
    for (std::size_t i = 0; i < d; ++i) rows[h * d + i] = p.at("gain", h * d + i) * normal[i];
  }
  next[0] = p.map("weight_ho", rows);
  return next;
}

States selective_ssm(const Json& options, const Layer& p, const Row& x, const States& old) {
  const std::size_t n = old[0].size(), states = options.value("state_size", 16);
  const double lowest = options.value("lowest_eigenvalue", 0.0);
  const Row both = p.map("weight_ih", x);
  Row u, rows;
  for (std::size_t i = 0; i < n; ++i) u.push_back(silu(both[i]));
  const Row chosen = p.map("weight_u", u);
  const std::size_t rank = chosen.size() - 2 * states;
  const Row steps = p.map("weight_step", Row(chosen.begin(), chosen.begin() + rank));
  States next{Row(), old[1]};
  for (std::size_t i = 0; i < n; ++i) {
    const double step = std::log1p(std::exp(steps[i] + p.at("bias_step", i)));
    double y = p.at("skip", i) * u[i];
    for (std::size_t j = 0; j < states; ++j) {
      const double rate = -std::exp(p.at("log_rate", i * states + j));
      double& s = next[1][i * states + j];
      s = (lowest + (1 - lowest) * std::exp(step * rate)) * s + step * u[i] * chosen[rank + j];
      y += s * chosen[rank + states + j];
    }
    rows.push_back(y * silu(both[n + i]));
  }
  next[0] = p.map("weight_ho", rows);
  return next;
}

double forget_of(const Json& options, double f) {
  return options.value("forget_gate", "") == "exponential" ? std::exp(f) : sigmoid(f);
}

// Without the stabilizer m, which is only compared: c and n of the state are scaled by exp(-m).
States scalar_lstm(const Json& options, const Layer& p, const Row& x, const States& old) {
  const std::size_t n = old[0].size(), d = n / options.value("heads", 1);
  const Row a = p.map("weight_ih", x);
  const auto gate = [&](std::size_t row, std::size_t u) {
    const Row part(old[0].begin() + u / d * d, old[0].begin() + (u / d + 1) * d);
    return a[row * n + u] + p.map("weight_hh", part, row * n + u, 1)[0] + p.at("bias", row * n + u);
  };
  States next(4, Row(n));
  for (std::size_t u = 0; u < n; ++u) {
    const double i = std::exp(gate(1, u)), f = forget_of(options, gate(2, u));
    const double m = next[3][u] = std::max(std::log(f) + old[3][u], std::log(i));
    const double c = f * old[1][u] * std::exp(old[3][u]) + i * std::tanh(gate(0, u));
    const double normalizer = f * old[2][u] * std::exp(old[3][u]) + i;
    next[0][u] = sigmoid(gate(3, u)) * c / normalizer;
    next[1][u] = c * std::exp(-m);
    next[2][u] = normalizer * std::exp(-m);
  }
  return next;
}

States matrix_lstm(const Json& options, const Layer& p, const Row& x, const States& old) {
  const std::size_t n = old[0].size(), heads = options.value("heads", 1), d = n / heads;
  Row all = p.map("weight_ih", x);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] += p.at("bias", i);
  States next{Row(n), Row(n * d), Row(n), Row(heads)};
  for (std::size_t h = 0; h < heads; ++h) {
    const double i = std::exp(all[4 * n + h]), f = forget_of(options, all[4 * n + heads + h]);
    const double before = std::exp(old[3][h]);
    const double m = next[3][h] = std::max(std::log(f) + old[3][h], std::log(i));
    double overlap = 0;
    Row sums(d);
    for (std::size_t b = 0; b < d; ++b) {
      const double q = all[h * d + b], k = all[n + h * d + b] / std::sqrt(d);
      const double normalizer = f * old[2][h * d + b] * before + i * k;
      next[2][h * d + b] = normalizer * std::exp(-m);
      overlap += normalizer * q;
      for (std::size_t a = 0; a < d; ++a) {
        const std::size_t at = (h * d + a) * d + b;
        const double c = f * old[1][at] * before + i * all[2 * n + h * d + a] * k;
        next[1][at] = c * std::exp(-m);
        sums[a] += c * q;
      }
    }
    for (std::size_t a = 0; a < d; ++a)
      next[0][h * d + a] =
          sigmoid(all[3 * n + h * d + a]) * sums[a] / std::max(std::abs(overlap), 1.0);
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
          {with("elman", {{"activation", "relu"}}), elman, 1},
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
          {with("mlstm", {{"factors", 2}, {"output", "gate_inside"}}), mlstm, 2},
          {with("deltanet"), deltanet, 2},
          {with("deltanet", {{"heads", 2}, {"lowest_eigenvalue", -1}}), deltanet, 2},
          {with("selective_ssm"), selective_ssm, 2},
          {with("selective_ssm", {{"state_size", 3}, {"lowest_eigenvalue", -1}}), selective_ssm, 2},
          {with("scalar_lstm"), scalar_lstm, 4},
          {with("scalar_lstm", {{"heads", 2}, {"forget_gate", "exponential"}}), scalar_lstm, 4},
          {with("matrix_lstm"), matrix_lstm, 4},
          {with("matrix_lstm", {{"heads", 2}, {"forget_gate", "exponential"}}), matrix_lstm, 4}};
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
    for (const auto& [name, tensor] : made->parameters())
      tensor.add_(random_tensor(tensor.sizes(), random));
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
        States first;
        for (std::size_t s = 0; s < GetParam().states; ++s)
          first.emplace_back(state[k * GetParam().states + s].size(1), 0.0);
        if (GetParam().options["kind"] == "second_order") first[0][0] = 1;
        if (first.size() == 4) first[3] = Row(first[3].size(), -1e30);  // no stabilizer yet
        wanted[b].push_back(first);
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

// The parameters of each layer, moved by `step` along a direction.
std::vector<Layer> moved(const Controller& controller, std::int64_t layers,
                         const std::vector<Tensor>& direction, double step) {
  std::vector<Layer> parameters(layers);
  for (std::size_t i = 0; i < direction.size(); ++i) {
    const auto& [name, tensor] = controller.parameters()[i];
    const auto cut = name.rfind("_l");
    parameters[std::stoul(name.substr(cut + 2))].tensors[name.substr(0, cut)] =
        tensor.detach() + step * direction[i];
  }
  return parameters;
}

// The derivatives of the equations, by differences of sixth order.
TEST_P(Cells, GradientsAreThoseOfTheEquations) {
  constexpr std::int64_t kLayers = 2;
  const auto controller = make(kLayers);
  const Tensor inputs =
      at::arange(kSteps * kInput, at::kDouble).cos().view({1, kSteps, kInput}).detach();
  const auto start = controller->initial(1);
  const auto loss_of = [&](const std::vector<Layer>& parameters) {
    std::vector<States> states(kLayers);
    for (std::size_t s = 0; s < start.size(); ++s) {
      const double* first = start[s].data_ptr<double>();
      states[s / GetParam().states].emplace_back(first, first + start[s].size(1));
    }
    double sum = 0;
    for (std::int64_t t = 0; t < kSteps; ++t) {
      const double* first = inputs.data_ptr<double>() + t * kInput;
      Row x(first, first + kInput);
      for (std::int64_t k = 0; k < kLayers; ++k) {
        states[k] = GetParam().step(GetParam().options, parameters[k], x, states[k]);
        x = states[k][0];
      }
      for (const double h : x) sum += static_cast<double>(t + 1) * h * h;
    }
    return sum;
  };
  Tensor loss = at::zeros({}, at::kDouble);
  auto state = controller->initial(1);
  for (std::int64_t t = 0; t < kSteps; ++t) {
    const auto [hidden, next] = controller->step(inputs.select(1, t), state);
    state = next;
    loss = loss + static_cast<double>(t + 1) * (hidden * hidden).sum();
  }
  loss.backward();
  Random random(5);
  for (int draw = 0; draw < 4; ++draw) {
    std::vector<Tensor> direction;
    double derivative = 0;
    for (const auto& [name, tensor] : controller->parameters()) {
      const Tensor own = random_tensor(tensor.sizes(), random, -0.2, 0.2);
      direction.push_back(own);
      derivative += (own * tensor.grad()).sum().item<double>();
    }
    constexpr double kStep = 1e-4;
    const auto difference = [&](int steps) {
      return loss_of(moved(*controller, kLayers, direction, steps * kStep)) -
             loss_of(moved(*controller, kLayers, direction, -steps * kStep));
    };
    const double wanted = (45 * difference(1) - 9 * difference(2) + difference(3)) / (60 * kStep);
    EXPECT_NEAR(derivative, wanted, 1e-9 * (1 + std::abs(wanted)));
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Cells, testing::ValuesIn(cases()));

// Gates far beyond the range in which exp is a float32 number. The equations are computed in
// float64 without a stabilizer. `input` and `forget` are the biases of these gates.
TEST(ExponentialGates, MayBeOfAnySizeFromTheFirstStepOn) {
  struct Gates {
    const char* function;
    double input, forget;
  };
  for (const auto& [function, input, forget] : {Gates{"sigmoid", -87, 0},
                                                {"sigmoid", -90, 0},
                                                {"sigmoid", -200, 2},
                                                {"sigmoid", 95, 3},
                                                {"sigmoid", 0, -95},
                                                {"exponential", 0, 90},
                                                {"exponential", -60, 60},
                                                {"exponential", 95, -95},
                                                {"exponential", -90, 91}})
    for (const auto& [kind, step, heads] :
         {std::tuple<const char*, Step, std::int64_t>{"scalar_lstm", scalar_lstm, 1},
          {"matrix_lstm", matrix_lstm, 2}})
      for (const bool is_double : {true, false}) {
        const Json options{
            {"kind", kind}, {"heads", heads}, {"hidden", kHidden}, {"forget_gate", function}};
        Random random(3);
        const auto cell = make_controller(
            options, {kInput, at::TensorOptions(is_double ? at::kDouble : at::kFloat), &random});
        const bool scalar = kind == std::string("scalar_lstm");
        const std::int64_t first = (scalar ? 1 : 4) * kHidden, count = scalar ? kHidden : heads;
        std::vector<Layer> parameters(1);
        for (const auto& [name, tensor] : cell->parameters()) {
          const at::NoGradGuard guard;
          if (name == "bias_l0") {
            tensor.narrow(0, first, count).add_(input);
            tensor.narrow(0, first + count, count).add_(forget);
          }
          parameters[0].tensors[name.substr(0, name.size() - 3)] = tensor.detach().to(at::kDouble);
        }
        constexpr std::int64_t kFew = 3;
        const Tensor x = at::arange(kFew * kInput, at::kDouble).sin().view({kFew, kInput});
        const auto loss_of = [&](const Layer& layer) {
          States state;
          for (const auto width : scalar ? std::vector<std::int64_t>{4, 4, 4, 4}
                                         : std::vector<std::int64_t>{4, 8, 4, 2})
            state.emplace_back(width, 0.0);
          state[3].assign(state[3].size(), -1e30);
          std::vector<double> hidden;
          for (std::int64_t t = 0; t < kFew; ++t) {
            Row row;
            for (std::int64_t i = 0; i < kInput; ++i) row.push_back(x[t][i].item<double>());
            state = step(options, layer, row, state);
            hidden.insert(hidden.end(), state[0].begin(), state[0].end());
          }
          return at::tensor(hidden, at::kDouble);
        };
        auto state = cell->initial(1);
        std::vector<Tensor> hiddens;
        for (std::int64_t t = 0; t < kFew; ++t) {
          auto [hidden, next] =
              cell->step(x.narrow(0, t, 1).to(state[0].scalar_type()), std::move(state));
          hiddens.push_back(hidden.flatten());
          state = std::move(next);
        }
        const auto what = fmt::format("{}, {}, {}, {}, {}", kind, function, input, forget,
                                      is_double ? "float64" : "float32");
        const Tensor found = at::cat(hiddens), wanted = loss_of(parameters[0]);
        EXPECT_LT(deviation(found.detach().to(at::kDouble), wanted), is_double ? 1e-12 : 3e-6)
            << what;
        // A direction in all parameters, with differences of the equations.
        (found * at::arange(1, found.numel() + 1, found.options())).sum().backward();
        double derivative = 0;
        Layer high = parameters[0], low = parameters[0];
        Random draws(7);
        constexpr double kStep = 1e-5;
        for (const auto& [name, tensor] : cell->parameters()) {
          const auto own = name.substr(0, name.size() - 3);
          const Tensor direction = random_tensor(tensor.sizes(), draws);
          high.tensors[own] = parameters[0].tensors[own] + kStep * direction;
          low.tensors[own] = parameters[0].tensors[own] - kStep * direction;
          derivative += (direction * tensor.grad()).sum().item<double>();
        }
        const double difference =
            ((loss_of(high) - loss_of(low)) * at::arange(1, wanted.numel() + 1, wanted.options()))
                .sum()
                .item<double>() /
            (2 * kStep);
        EXPECT_NEAR(derivative, difference, (is_double ? 1e-6 : 1e-4) * (1 + std::abs(difference)))
            << what;
      }
}

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

TEST(CellInitialisation, OfSelectiveStateSpaces) {
  const auto cell = make({{"kind", "selective_ssm"}, {"hidden", 200}, {"state_size", 3}});
  const Tensor steps = at::softplus(parameter(*cell, "bias_step_l0"));
  EXPECT_GE(steps.min().item<double>(), 0.000999);
  EXPECT_LE(steps.max().item<double>(), 0.1001);
  EXPECT_NEAR(steps.log10().mean().item<double>(), -2, 0.2);
  const Tensor rates = parameter(*cell, "log_rate_l0").exp();
  EXPECT_LT(deviation(rates[7], at::tensor({1.0, 2.0, 3.0}, at::kDouble)), 1e-14);
  EXPECT_EQ(parameter(*cell, "weight_step_l0").size(1), 13);
}

// The transition of one step, from the difference of two states before it.
TEST(Eigenvalues, AreInTheirInterval) {
  at::NoGradGuard guard;
  for (const double lowest : {0.0, -1.0}) {
    const auto cell = make({{"kind", "deltanet"}, {"hidden", 4}, {"lowest_eigenvalue", lowest}});
    const Tensor weight = parameter(*cell, "weight_ih_l0");
    weight.select(0, 12).fill_(20);  // beta is as large as possible
    const Tensor x = at::ones({1, kInput}, at::kDouble);
    const auto transition = [&](std::int64_t row) {
      auto state = cell->initial(1);
      const Tensor without = cell->step(x, state).second[1];
      state[1][0][row] = 1;
      return (cell->step(x, state).second[1] - without)[0].narrow(0, 0, 4);
    };
    Tensor rows = at::empty({4, 4}, at::kDouble);
    for (std::int64_t j = 0; j < 4; ++j) rows[j].copy_(transition(j));
    // I - beta k k^T has the trace 4 - beta |k|^2 and the determinant 1 - beta |k|^2.
    EXPECT_NEAR(at::trace(rows).item<double>(), 3 + lowest, 1e-3);
    EXPECT_LT(deviation(rows, rows.t()), 1e-12);
  }
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

TEST(CellErrors, HeadsDivideTheHiddenSize) {
  for (const char* kind : {"deltanet", "scalar_lstm", "matrix_lstm"})
    EXPECT_CONTAINS(message<std::invalid_argument>([&] {
                      make({{"kind", kind}, {"hidden", 6}, {"heads", 4}});
                    }),
                    "option 'heads' must divide the hidden size, 6, got 4");
}

}  // namespace
}  // namespace pushdown::cells_test
