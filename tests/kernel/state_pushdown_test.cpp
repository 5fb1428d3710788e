// The kernel of the neural state pushdown automaton on every instruction set: the same numbers on
// each; real-time learning compared with backpropagation; and the rank-one estimate, which is kept
// in scaled rows, compared with its formulas for whole vectors.
#include "kernel/state_pushdown/state_pushdown.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/buffer_pool.h"
#include "base/random.h"

namespace pushdown::state_pushdown_test {
namespace {

constexpr double kOther = 0.005, kTop = 0.95, kPopped = 0.06;

template <class F>
struct Result {
  std::vector<F> gradient, output_gradient, hiddens, weights;
  F bias_gradient = 0;
  std::vector<std::int64_t> stack;
  double loss = 0, score = 0;
};

// One string over random weights.
template <class F>
struct Trial {
  StatePushdownShape shape;
  std::vector<F> state_weight, state_bias, action_weight, action_bias, packed, output;
  std::vector<std::int64_t> words;
  std::vector<std::uint64_t> signs;
  std::unique_ptr<bool[]> hints;
  F label = 1;

  Trial(const StatePushdownShape& shape, std::int64_t length, std::uint64_t seed) : shape(shape) {
    Random random(seed);
    const auto reads = shape.symbols + 1;
    const auto columns = shape.third_order ? reads * shape.inputs : reads + shape.inputs;
    const auto fill = [&](std::vector<F>& values, std::int64_t count) {
      values.resize(static_cast<std::size_t>(count));
      for (F& value : values) value = static_cast<F>(random.uniform(-1, 1));
    };
    fill(state_weight, shape.states * shape.states * columns);
    fill(state_bias, shape.states);
    fill(action_weight, shape.symbols * shape.states * columns);
    fill(action_bias, shape.symbols);
    fill(output, shape.states);
    packed.resize(static_cast<std::size_t>(state_pushdown_weight_size(shape)));
    pack_state_pushdown<F>(shape, tensors(), packed.data());
    for (std::int64_t t = 0; t < length; ++t)
      words.push_back(static_cast<std::int64_t>(random.below(shape.inputs)));
    for (std::int64_t i = 0; i < length * shape.passes * state_pushdown_sign_words(shape); ++i)
      signs.push_back(random.next());
    const auto triples = shape.states * reads * shape.inputs;
    hints = std::make_unique<bool[]>(static_cast<std::size_t>(triples));
    for (std::int64_t i = 0; i < triples; ++i) hints[i] = random.below(3) == 0;
  }

  StatePushdownTensors<const F> tensors() const {
    return {state_weight.data(), state_bias.data(), action_weight.data(), action_bias.data()};
  }
  StatePushdownParameters<F> parameters() const {
    return {
        packed.data(),        static_cast<F>(kOther), static_cast<F>(kTop), static_cast<F>(kPopped),
        static_cast<F>(0.26), static_cast<F>(-0.18),  hints.get()};
  }

  Result<F> run(Isa isa, StatePushdownTask task) const {
    Result<F> result;
    const auto length = static_cast<std::int64_t>(words.size());
    result.gradient.assign(packed.size(), 0);
    result.output_gradient.assign(output.size(), 0);
    std::vector<F> neurons(output.size(), 0), reading(shape.symbols + 1, static_cast<F>(kOther));
    neurons[0] = 1;
    reading.back() = static_cast<F>(kTop);
    result.stack.assign(words.size(), -1);
    StatePushdownString<F> string{words.data(), length, neurons.data(), reading.data(),
                                  result.stack.data()};
    if (task == StatePushdownTask::forward) {
      result.hiddens.assign(static_cast<std::size_t>(length * shape.passes * shape.states), 7);
      result.weights.assign(static_cast<std::size_t>(length * shape.passes), 7);
      string.hiddens = result.hiddens.data();
      string.weights = result.weights.data();
    }
    StatePushdownLoss<F> loss{};
    loss.label = label;
    loss.scale = static_cast<F>(0.5);
    loss.output = output.data();
    loss.output_bias = static_cast<F>(0.1);
    loss.gradient = result.gradient.data();
    loss.output_gradient = result.output_gradient.data();
    loss.output_bias_gradient = &result.bias_gradient;
    loss.signs = signs.data();
    const auto pool = std::make_shared<BufferPool>();
    const auto kernel = kernel_for<StatePushdownKernel<F>>(isa, shape, task);
    const auto bytes = static_cast<std::size_t>(kernel.scratch_bytes(shape, length));
    // Arbitrary bytes in the scratch memory, and a mark after it.
    const Buffer scratch(pool, bytes + 64);
    std::fill_n(scratch.as<unsigned char>(), bytes + 64, static_cast<unsigned char>(0xCD));
    kernel.run(shape, parameters(), string, &loss, scratch.as<void>());
    for (std::size_t i = bytes; i < bytes + 64; ++i)
      EXPECT_EQ(scratch.as<unsigned char>()[i], 0xCD) << "written behind the scratch memory";
    result.stack.resize(static_cast<std::size_t>(string.depth));
    result.loss = loss.loss;
    result.score = loss.score;
    return result;
  }
};

std::vector<StatePushdownShape> shapes() {
  std::vector<StatePushdownShape> all;
  for (const bool third : {true, false})
    for (const bool action : {true, false})
      for (const auto& [states, symbols, end] : {std::array{5, 3, 1}, {1, 1, 1}, {17, 2, 0}})
        for (const auto& [passes, first] : {std::pair{1, false}, {3, false}, {4, true}})
          all.push_back({third, action, first, states, symbols, symbols + end, passes});
  return all;
}

template <class F>
double distance(const std::vector<F>& a, const std::vector<F>& b) {
  double worst = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double d = std::abs(a[i] - b[i]) / std::max(1.0, std::abs(static_cast<double>(b[i])));
    worst = std::isnan(d) ? 1e300 : std::max(worst, d);
  }
  return worst;
}

template <class F>
class StatePushdownKernels : public testing::Test {};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(StatePushdownKernels, Numbers);

TYPED_TEST(StatePushdownKernels, AgreeOnEveryInstructionSet) {
  using F = TypeParam;
  const double bound = sizeof(F) == 4 ? 2e-3 : 1e-10;
  for (const auto& shape : shapes())
    for (const std::uint64_t seed : {1, 2}) {
      Trial<F> trial(shape, 14, seed);
      trial.label = static_cast<F>(seed - 1);
      const auto exact = trial.run(Isa::baseline, StatePushdownTask::bptt);
      for (const Isa isa : usable_isas()) {
        const auto forward = trial.run(isa, StatePushdownTask::forward);
        const auto wanted = trial.run(Isa::baseline, StatePushdownTask::forward);
        EXPECT_EQ(forward.hiddens, wanted.hiddens);
        EXPECT_EQ(forward.weights, wanted.weights);
        EXPECT_EQ(forward.stack, wanted.stack);
        for (const auto task : {StatePushdownTask::bptt, StatePushdownTask::rtrl}) {
          const auto found = trial.run(isa, task);
          EXPECT_LT(distance(found.gradient, exact.gradient), bound) << isa_name(isa);
          EXPECT_LT(distance(found.output_gradient, exact.output_gradient), bound);
          EXPECT_NEAR(found.bias_gradient, exact.bias_gradient, bound * 10);
          EXPECT_NEAR(found.loss, exact.loss, bound * 10);
          EXPECT_NEAR(found.score, exact.score, bound);
        }
        const auto estimate = trial.run(isa, StatePushdownTask::uoro);
        EXPECT_LT(
            distance(estimate.gradient, trial.run(Isa::baseline, StatePushdownTask::uoro).gradient),
            bound * 10);
        EXPECT_LT(distance(estimate.output_gradient, exact.output_gradient), bound);
      }
    }
}

TYPED_TEST(StatePushdownKernels, PackAndUnpackAreInverse) {
  using F = TypeParam;
  for (const auto& shape : shapes()) {
    Trial<F> trial(shape, 1, 3);
    std::vector<F> state_weight(trial.state_weight.size(), 1), state_bias(trial.state_bias.size()),
        action_weight(trial.action_weight.size()), action_bias(trial.action_bias.size());
    add_packed_state_pushdown<F>(
        shape, trial.packed.data(),
        {state_weight.data(), state_bias.data(), action_weight.data(), action_bias.data()});
    for (F& value : state_weight) value -= 1;  // results are added to the old values
    EXPECT_LT(distance(state_weight, trial.state_weight), 1e-6);
    EXPECT_EQ(state_bias, trial.state_bias);
    EXPECT_EQ(action_weight, trial.action_weight);
    EXPECT_EQ(action_bias, trial.action_bias);
  }
}

// With reading = 'action' the state is z and all of a, and r_k is a function of a_k alone.
class PlainRankOne {
 public:
  explicit PlainRankOne(const Trial<double>& trial) : trial_(trial) {}

  std::vector<double> gradient() {
    const auto& shape = trial_.shape;
    const int j = static_cast<int>(shape.states), v = static_cast<int>(shape.symbols), n = j + v;
    const auto size = trial_.packed.size();
    std::vector<double> total(size, 0.0), theta(size, 0.0), s(n, 0.0), z(j, 0.0), effect(v, 0.0),
        r(v + 1, kOther);
    z[0] = 1;
    r[v] = kTop;
    int depth = 0;
    std::vector<std::int64_t> stack(trial_.words.size());
    const auto* signs = trial_.signs.data();
    const auto norm = [](const std::vector<double>& x) {
      double sum = 0;
      for (const double value : x) sum += value * value;
      return std::sqrt(sum);
    };
    for (const auto l : trial_.words) {
      int active = -1, count = 0;
      for (int i = 0; i < j; ++i)
        if (z[i] != 0) active = i, ++count;
      const auto top = depth > 0 ? stack[depth - 1] : v;
      const bool hinted = count == 1 && trial_.hints[(active * (v + 1) + top) * shape.inputs + l];
      std::vector<double> carried_theta, carried_s, carried_z;
      for (int k = 0; k < shape.passes; ++k, ++signs) {
        if (k > 0 && hinted) continue;
        const int rows = k == 0 ? n : j;
        std::vector<double> pre(rows), slope(rows), moved(n), nu(n, 0.0), direct(size, 0.0);
        for (int i = 0; i < rows; ++i) {
          double change = 0;
          pre[i] = trial_.packed[bias(i)];
          for (int from = 0; from < j; ++from) {
            for (int read = 0; read <= v; ++read) {
              const double w = trial_.packed[place(from, read, l, i)];
              pre[i] += w * z[from] * r[read];
              change += w * s[from] * r[read];
              if (read < v) change += w * z[from] * effect[read] * s[j + read];
            }
            if (!shape.third_order) {
              const double w = trial_.packed[place(from, v + 1, l, i)];
              pre[i] += w * z[from];
              change += w * s[from];
            }
          }
          const double y = 1 / (1 + std::exp(-pre[i]));
          slope[i] = y * (1 - y) * (i < j ? 1 : 2);
          moved[i] = slope[i] * change;
        }
        for (int i = rows; i < n; ++i) moved[i] = s[i];
        for (int i = 0; i < rows; ++i) {
          nu[i] = (*signs >> i & 1) != 0 ? 1 : -1;
          direct[bias(i)] += nu[i] * slope[i];
          for (int from = 0; from < j; ++from) {
            for (int read = 0; read <= v; ++read)
              direct[place(from, read, l, i)] += nu[i] * slope[i] * z[from] * r[read];
            if (!shape.third_order) direct[place(from, v + 1, l, i)] += nu[i] * slope[i] * z[from];
          }
        }
        const double small = 1e-5;
        const double rho_0 = std::sqrt((norm(theta) + small) / (norm(moved) + small));
        const double rho_1 = std::sqrt((norm(direct) + small) / (norm(nu) + small));
        for (int i = 0; i < n; ++i) s[i] = rho_0 * moved[i] + rho_1 * nu[i];
        for (std::size_t i = 0; i < size; ++i) theta[i] = theta[i] / rho_0 + direct[i] / rho_1;
        double score = 0.1, along = 0;
        for (int i = 0; i < j; ++i) {
          z[i] = pre[i] > 0 ? 1 : 0;
          score += trial_.output[i] * z[i];
          along += trial_.output[i] * s[i];
        }
        const double error = 0.5 * (1 / (1 + std::exp(-score)) - trial_.label);
        for (std::size_t i = 0; i < size; ++i) total[i] += error * along * theta[i];
        if (k == 0) {
          const auto action = [&](std::int64_t i) {
            return pre[j + i] > 0.26 ? 1 : pre[j + i] < -0.18 ? -1 : 0;
          };
          if (l < v && action(l) == 1)
            stack[depth++] = l;
          else if (depth > 0 && action(stack[depth - 1]) == -1)
            --depth;
          for (int i = 0; i < v; ++i) {
            const int a = action(i);
            r[i] = a == 1 ? kTop : a == -1 ? kPopped : kOther;
            effect[i] = (a >= 0 ? kTop - kOther : 0) - (a <= 0 ? kPopped - kOther : 0);
          }
          r[v] = depth > 0 ? kOther : kTop;
          carried_theta = theta;
          carried_s = s;
          carried_z = z;
        }
      }
      if (shape.carry_first) {
        theta = carried_theta;
        s = carried_s;
        z = carried_z;
      }
    }
    return total;
  }

 private:
  std::int64_t rows() const { return padded_size(trial_.shape.states + trial_.shape.symbols); }
  std::size_t bias(int i) const { return trial_.packed.size() - rows() + i; }
  // Column `read` of neuron `from`; V + 1 is the column of the input.
  std::size_t place(int from, int read, std::int64_t l, int i) const {
    const auto& shape = trial_.shape;
    const auto reads = shape.symbols + 1;
    const auto block = shape.third_order ? (l * shape.states + from) * reads + read
                       : read < reads    ? from * reads + read
                                         : (reads + l) * shape.states + from;
    return static_cast<std::size_t>(block * rows() + i);
  }
  const Trial<double>& trial_;
};

TEST(StatePushdownRankOne, FollowsItsFormulas) {
  for (const auto& shape : shapes()) {
    if (!shape.action_reading) continue;
    for (const std::uint64_t seed : {1, 2, 3}) {
      const Trial<double> trial(shape, 12, seed);
      const auto found = trial.run(Isa::baseline, StatePushdownTask::uoro);
      const auto wanted = PlainRankOne(trial).gradient();
      EXPECT_LT(distance(found.gradient, wanted), 1e-9)
          << shape.third_order << " " << shape.states << " " << shape.passes;
    }
  }
}

}  // namespace
}  // namespace pushdown::state_pushdown_test
