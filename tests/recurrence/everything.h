// A recurrent network that uses every operation of step programs.
#pragma once
#include <gtest/gtest.h>

#include "array/array_recorder.h"
#include "recurrence/execute/step_run.h"
#include "recurrence/trace/array_lowering.h"

namespace pushdown::testing_support {

inline double largest_difference(const Tensor& a, const Tensor& b) {
  return (a - b).abs().max().item<double>();
}

// The softmax of each three numbers, and 1 at the greatest of each three.
inline Tensor grouped(const Tensor& x) {
  const Tensor each = x.view({x.size(0), 3, 3});
  return (each.softmax(2) + 0.5 * at::one_hot(each.argmax(2), 3)).flatten(1);
}
inline Traced grouped(const Traced& x) {
  return x.softmax_of_groups(3) + 0.5 * x.greatest_of_groups(3);
}

// A function of two vectors that becomes an array program.
inline Tensor arrayed(const Tensor& x, const Tensor& y) {
  const Tensor table = (x.unsqueeze(1) * y.unsqueeze(2)).tanh();
  return table.softmax(2).sum(1) + 0.3 * table.cumsum(1).select(1, 4);
}
inline Traced arrayed(const Traced& x, const Traced& y) {
  const auto options = at::TensorOptions().dtype(at::kDouble);
  const Tensor a = at::linspace(0, 1, 10, options).view({2, 5}), b = a.cos();
  ArrayGraph graph;
  ArrayRecorder recorder(graph, 2, [] { return std::string(); });
  recorder.input(a, 0, 0);
  recorder.input(b, 1, 0);
  Tensor result;
  {
    const OperatorWatch watch(recorder);
    result = arrayed(a, b);
  }
  return lower_arrays(StepTrace::of(x), graph, {recorder.output(result).value()}, {x, y},
                      {"x", "y"})
      .at(0);
}

// An elementwise function of as many vectors as it has operands; LibTorch's functions are the
// oracle.
inline Tensor mapped(ArrayFunction function, const std::vector<Tensor>& operands) {
  using F = ArrayFunction;
  const Tensor &x = operands[0], &y = operands[1 % operands.size()],
               &z = operands[2 % operands.size()];
  const auto number = [&](const Tensor& mask) { return mask.to(x.scalar_type()); };
  switch (function) {
    case F::copy: return x;
    case F::stop: return x.detach();
    case F::add: return x + y;
    case F::subtract: return x - y;
    case F::multiply: return x * y;
    case F::multiply_add: return x * y + z;
    case F::divide: return x / y;
    case F::negate: return -x;
    case F::maximum: return at::maximum(x, y);
    case F::minimum: return at::minimum(x, y);
    case F::at_least: return at::where(x < y, y, x);
    case F::at_most: return at::where(x > y, y, x);
    case F::power: return x.pow(y);
    case F::remainder: return x.remainder(y);
    case F::logaddexp: return at::logaddexp(x, y);
    case F::exp: return x.exp();
    case F::log: return x.log();
    case F::log1p: return x.log1p();
    case F::expm1: return x.expm1();
    case F::tanh: return x.tanh();
    case F::sigmoid: return x.sigmoid();
    case F::relu: return x.relu();
    case F::softplus: return at::softplus(x);
    case F::sqrt: return x.sqrt();
    case F::abs: return x.abs();
    case F::sign: return x.sign();
    case F::sin: return x.sin();
    case F::cos: return x.cos();
    case F::erf: return x.erf();
    case F::floor: return x.floor();
    case F::ceil: return x.ceil();
    case F::round: return x.round();
    case F::is_nan: return number(x.isnan());
    case F::less: return number(x < y);
    case F::less_equal: return number(x <= y);
    case F::greater: return number(x > y);
    case F::greater_equal: return number(x >= y);
    case F::equal: return number(x == y);
    case F::not_equal: return number(x != y);
    case F::both: return number(x.logical_and(y));
    case F::either: return number(x.logical_or(y));
    case F::none_of: return number(x.logical_not());
    case F::choose: return at::where(x != 0, y, z);
  }
  return {};
}
inline Traced mapped(ArrayFunction function, const std::vector<Traced>& operands) {
  return StepTrace::of(operands[0]).map(function, operands);
}

// Every operation and function at least once, with sizes that do not fill vectors.
struct Everything {
  int drawn = 0;
  std::vector<Tensor> tensors;
  Tensor weight = leaf({7, 3}), recurrent = leaf({7, 5}), bias = leaf({7}), shift = leaf({5}),
         pairs = leaf({5, 15}), narrow = leaf({5, 2}), share = leaf({1, 5}), late = leaf({5, 8}),
         lstm_x = leaf({20, 3}), lstm_h = leaf({20, 5}), gru_x = leaf({15, 5}),
         gru_h = leaf({15, 5});

  Tensor leaf(at::IntArrayRef shape) {
    Tensor tensor = at::empty(shape, at::kDouble);
    for (std::int64_t i = 0; i < tensor.numel(); ++i)
      tensor.data_ptr<double>()[i] = std::sin(static_cast<double>(++drawn)) * 0.7;
    tensors.push_back(tensor.requires_grad_());
    return tensor;
  }
  // Two state vectors, h and c, of `hidden` numbers each.
  template <class V>
  std::vector<V> step(const V& x, const V* old) const {
    const V &h = old[0], &c = old[1];
    const V sum = pushdown::linear(x, weight, bias) + pushdown::linear(h, recurrent);  // 7
    const V first = sum.narrow(1, 0, 5), last = sum.narrow(1, 5, 2);                   // slices
    const V gate = (first + shift * c).sigmoid();
    const V crossed =
        pushdown::linear(outer_product(h, x), pairs).tanh() + 0.3 * in_groups(h, c, x, last);
    const V some = pushdown::linear(last, narrow).relu() - 0.5 * crossed;
    const V chosen = larger(h, c) * some + (1 - larger(h, c)) * gate;
    const V part = pushdown::linear(gate, share).sigmoid();  // one number
    const V mixed = mix(part, chosen, c);
    const V shares = pushdown::linear(joined(std::vector<V>{mixed, x}), late).softmax(1);
    const V within = 0.2 * cells(x, h, c, gate) + 0.02 * functions(h, c, gate);
    const V pairs_of = grouped(joined(std::vector<V>{shares, last, last}));  // 9 numbers
    return {(mixed * shares + crossed.exp() * 0.3 - 0.2 * arrayed(gate, c)).tanh(),
            pairs_of.narrow(1, 2, 5) + mixed + shares + within};
  }
  // Products of matrices and vectors: of 2 groups of 3 x 4, of rows and of columns.
  template <class V>
  V in_groups(const V& h, const V& c, const V& x, const V& last) const {
    const V left = joined(std::vector<V>{h, x.narrow(1, 0, 1)});         // 6
    const V right = joined(std::vector<V>{c, x});                        // 8
    const V matrices = outer_product(left.tanh(), right, 2);             // 24
    const V products = matrix_vector(matrices * 0.3, right * right, 2);  // 6
    const V rows = matrix_vector(left, products, 2);                     // 2
    const V columns = matrix_vector(products, last * rows, 2);           // 6
    return (columns + matrix_vector(matrices, rows).narrow(1, 2, 6)).narrow(1, 1, 5).tanh();
  }
  // All functions of the table, at positive numbers and at numbers of any sign.
  template <class V>
  V functions(const V& h, const V& c, const V& gate) const {
    const V any = 1.3 * c.tanh(), positive = h * h + 0.437, other = 0.61 * (any * any) + 0.3;
    V sum = gate;
    for (int k = 0; k < kFunctionCount; ++k) {
      const ArrayFunction function{static_cast<std::uint8_t>(k)};
      for (const V& first : {positive, any}) {
        const FunctionFacts& facts = facts_of(function);
        const bool needs_positive =
            function == ArrayFunction::power || function == ArrayFunction::log ||
            function == ArrayFunction::log1p || function == ArrayFunction::sqrt;
        std::vector<V> operands{needs_positive ? positive : first, other, h};
        operands.resize(static_cast<std::size_t>(facts.operands));
        sum = sum + (0.1 + 0.01 * k) * mapped(function, operands);
      }
    }
    return sum;
  }
  // An LSTM and a GRU, whose gates are fused.
  template <class V>
  V cells(const V& x, const V& h, const V& c, const V& y) const {
    const auto gates = (pushdown::linear(x, lstm_x) + pushdown::linear(h, lstm_h)).chunk(4, 1);
    const V cell = gates[1].sigmoid() * c + gates[0].sigmoid() * gates[2].tanh();
    const auto own = pushdown::linear(y, gru_x).chunk(3, 1);
    const auto other = pushdown::linear(h, gru_h).chunk(3, 1);
    const V reset = (own[0] + other[0]).sigmoid(), update = (own[1] + other[1]).sigmoid();
    const V candidate = (own[2] + reset * other[2]).tanh();
    return gates[3].sigmoid() * cell.tanh() + (candidate + update * (c - candidate));
  }
};

inline Tensor inputs_of(std::int64_t batch, std::int64_t steps, bool gradient) {
  return at::arange(batch * steps * 3, at::kDouble)
      .mul(1.7)
      .sin()
      .view({batch, steps, 3})
      .requires_grad_(gradient);
}
inline std::vector<Tensor> initial_of(std::int64_t batch) {
  const Tensor h = at::arange(batch * 5, at::kDouble).cos().view({batch, 5});
  return {h, h * 0.5 - 0.1};
}

inline Tensor run_plainly(const Everything& network, const Tensor& inputs) {
  auto state = initial_of(inputs.size(0));
  std::vector<Tensor> outputs;
  for (const Tensor& x : inputs.unbind(1)) {
    state = network.step(x, state.data());
    outputs.push_back(state[0] + state[1]);
  }
  return at::stack(outputs, 1);
}
inline TracedProgram record(const Everything& network, const Tensor& inputs) {
  StepTrace trace;
  std::vector<Traced> state;
  for (const Tensor& initial : initial_of(inputs.size(0))) state.push_back(trace.state(initial));
  const auto next = network.step(trace.sequence(inputs), state.data());
  for (std::size_t k = 0; k < state.size(); ++k) trace.bind(state[k], next[k]);
  return trace.finish(next[0] + next[1]);
}
inline Tensor run_recorded(const Everything& network, const Tensor& inputs) {
  return run_steps(record(network, inputs), inputs.size(0), inputs.size(1),
                   std::make_shared<BufferPool>());
}

// Runs a recorded program of so many sequences and steps.
using RunRecorded = std::function<Tensor(TracedProgram)>;

// The values, and all gradients if they are wanted.
inline std::vector<Tensor> outcome_of_everything(std::int64_t batch, std::int64_t steps,
                                                 bool gradients, const RunRecorded& run) {
  const at::AutoGradMode mode(gradients);
  const Everything network;
  const Tensor x = inputs_of(batch, steps, gradients), values = run(record(network, x));
  std::vector<Tensor> all{values.detach()};
  if (!gradients) return all;
  (values * at::arange(values.numel(), at::kDouble).view_as(values).cos()).sum().backward();
  all.push_back(x.grad());
  for (const Tensor& tensor : network.tensors) all.push_back(tensor.grad());
  return all;
}
// Compares every operation with the processor's kernels.
inline void expect_every_operation(std::int64_t batch, std::int64_t steps, bool gradients,
                                   const RunRecorded& run) {
  const auto wanted = outcome_of_everything(batch, steps, gradients, [&](TracedProgram program) {
    return run_steps(std::move(program), batch, steps, std::make_shared<BufferPool>());
  });
  const auto got = outcome_of_everything(batch, steps, gradients, run);
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_LT(largest_difference(got[i], wanted[i]),
              (i == 0 ? 1e-13 : 1e-12) * (1 + wanted[i].abs().max().item<double>()))
        << i << " of " << batch << " sequences of " << steps << " steps";
}

}  // namespace pushdown::testing_support
