#include "stack/nondeterministic_fast.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"

namespace pushdown {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

// exp(given) up to a common factor: the largest weight out of a reachable configuration becomes 1.
template <class F>
void exponentiate(const F* given, const F* forward, std::int64_t rows, std::int64_t columns,
                  F* used) {
  F shift = -std::numeric_limits<F>::infinity();
  for (std::int64_t c = 0; c < rows; ++c)
    if (forward[c] > 0)
      shift = std::max(shift, *std::max_element(given + c * columns, given + (c + 1) * columns));
  if (std::isinf(shift)) shift = 0;
  for (std::int64_t c = 0; c < rows; ++c)
    for (std::int64_t w = 0; w < columns; ++w)
      used[c * columns + w] = forward[c] > 0 ? std::exp(given[c * columns + w] - shift) : F(0);
}

// What the gradient of u_j means for column j : C. The reading is u_j[b] a[b] / sum u_j[b'] a[b']
// at a = 1, in the gauge-invariant forward weights a of the node.
template <class F>
std::vector<F> reading_gradient(const F* forward, const F* given, std::int64_t c) {
  F mean = 0;
  for (std::int64_t b = 0; b < c; ++b) mean += given[b] * forward[b];
  std::vector<F> result(c);
  for (std::int64_t b = 0; b < c; ++b) result[b] = forward[b] * (given[b] - mean);
  return result;
}

// Sequences long enough to be worth a thread.
void for_each_sequence(std::int64_t batch, std::int64_t work,
                       const std::function<void(std::int64_t)>& body) {
  constexpr std::int64_t kWorthAThread = 20000;  // multiply-adds
  if (work >= kWorthAThread) return parallel_for(batch, body);
  for (std::int64_t b = 0; b < batch; ++b) body(b);
}

}  // namespace

AutomatonMemory::AutomatonMemory(const NondeterministicShape& shape, std::int64_t batch,
                                 std::int64_t steps, at::TensorOptions options)
    : shape_(shape), batch_(batch) {
  size_ = {static_cast<int>(shape.states), static_cast<int>(shape.symbols), steps};
  std::int64_t start = 0;
  for (std::int64_t j = 0; j <= size_.nodes(); ++j) {
    column_start_.push_back(start);
    start += size_.column(j);
  }
  const auto nodes = size_.nodes();
  columns_ = at::empty({batch, column_start_.back()}, options);
  forward_ = at::empty({batch, nodes, size_.configurations()}, options);
  mass_ = at::empty_like(forward_);
  popped_ = at::empty({batch, nodes * size_.popped_node()}, options);
  // Nodes 0 and 1: state 0 with the bottom symbol on top.
  columns_.narrow(1, 0, column_start_[2]).zero_();
  if (shape.reexposed) columns_.select(1, column_start_[1]).fill_(1);
  forward_.narrow(1, 0, 2).zero_();
  forward_.select(2, 0).narrow(1, 0, 2).fill_(1);
}

AutomatonMemoryPtr AutomatonMemory::rewound(std::int64_t node) const {
  auto other = c10::make_intrusive<AutomatonMemory>(*this);
  for (Tensor* tensor : {&other->columns_, &other->forward_, &other->mass_, &other->popped_})
    *tensor = tensor->clone();
  other->head_ = node;
  other->numerators_ = other->forward_gradients_ = Tensor();
  return other;
}

template <class F>
NondeterministicMemory<F> AutomatonMemory::memory(std::int64_t b) const {
  const auto at_sequence = [&](const Tensor& tensor) {
    return tensor.defined() ? tensor.data_ptr<F>() + b * tensor.stride(0) : nullptr;
  };
  return {size_,
          column_start_.data(),
          at_sequence(columns_),
          at_sequence(forward_),
          at_sequence(mass_),
          at_sequence(popped_),
          at_sequence(numerators_),
          at_sequence(forward_gradients_)};
}

void AutomatonMemory::begin_backward(std::int64_t last) {
  last_backward_ = last;
  if (!numerators_.defined()) numerators_ = at::empty_like(columns_);
  forward_gradients_ = at::zeros({batch_, size_.popped_row()}, columns_.options());
}

template <class F>
void AutomatonMemory::step_one(std::int64_t b, std::int64_t node, const F* given, F* used,
                               bool logs) const {
  const auto m = memory<F>(b);
  const auto kernel = nondeterministic_kernel<F>(current_isa(), size_.states, size_.symbols);
  const auto c = size_.configurations();
  if (logs) exponentiate(given, m.forward + (node - 1) * c, c, size_.actions(), used);
  kernel.step(m, node, used, nullptr);
}

Tensor AutomatonMemory::step(const Tensor& weights, bool logs) {
  const auto node = ++head_;
  const auto row = size_.configurations() * size_.actions();
  const Tensor used = logs ? at::empty_like(weights) : weights;
  AT_DISPATCH_FLOATING_TYPES(weights.scalar_type(), "nondeterministic", [&] {
    const auto* given = weights.data_ptr<scalar_t>();
    auto* out = used.data_ptr<scalar_t>();
    for_each_sequence(batch_, node * node * row / 2, [&](std::int64_t b) {
      step_one<scalar_t>(b, node, given + b * row, out + b * row, logs);
    });
  });
  return used;
}

Tensor AutomatonMemory::step_backward(std::int64_t node, const Tensor& weights,
                                      const Tensor& forward_gradient) {
  // The engine goes from node to node; any other order is a new pass over the graph.
  if (node != next_backward_) begin_backward(node);
  next_backward_ = node - 1;
  const Tensor gradient = at::empty_like(weights);
  const Tensor given = forward_gradient.contiguous();
  const auto c = size_.configurations(), row = c * size_.actions();
  AT_DISPATCH_FLOATING_TYPES(weights.scalar_type(), "nondeterministic", [&] {
    const auto kernel =
        nondeterministic_kernel<scalar_t>(current_isa(), size_.states, size_.symbols);
    for_each_sequence(batch_, node * node * row, [&](std::int64_t b) {
      const auto m = memory<scalar_t>(b);
      const auto reading =
          reading_gradient(m.forward + node * c, given.data_ptr<scalar_t>() + b * c, c);
      kernel.step_backward(m, node, last_backward_, weights.data_ptr<scalar_t>() + b * row, nullptr,
                           reading.data(), gradient.data_ptr<scalar_t>() + b * row, nullptr);
    });
  });
  return gradient;
}

Tensor AutomatonMemory::scan(const Tensor& weights, bool logs) {
  const auto steps = size_.steps, row = size_.configurations() * size_.actions();
  const Tensor used = logs ? at::empty_like(weights) : weights;
  AT_DISPATCH_FLOATING_TYPES(weights.scalar_type(), "nondeterministic", [&] {
    const auto* given = weights.data_ptr<scalar_t>();
    auto* out = used.data_ptr<scalar_t>();
    parallel_for(batch_, [&](std::int64_t b) {
      for (std::int64_t t = 0; t < steps; ++t) {
        const auto at_step = (b * steps + t) * row;
        step_one<scalar_t>(b, t + 2, given + at_step, out + at_step, logs);
      }
    });
  });
  head_ = steps + 1;
  return used;
}

Tensor AutomatonMemory::scan_backward(const Tensor& weights, const Tensor& forward_gradients) {
  begin_backward(head_);
  const auto steps = size_.steps, c = size_.configurations(), row = c * size_.actions();
  const Tensor gradient = at::empty_like(weights);
  AT_DISPATCH_FLOATING_TYPES(weights.scalar_type(), "nondeterministic", [&] {
    const auto kernel =
        nondeterministic_kernel<scalar_t>(current_isa(), size_.states, size_.symbols);
    parallel_for(batch_, [&](std::int64_t b) {
      const auto m = memory<scalar_t>(b);
      for (std::int64_t t = steps; t-- > 0;) {
        const auto at_step = (b * steps + t) * row;
        const auto reading = reading_gradient(
            m.forward + (t + 2) * c,
            forward_gradients.data_ptr<scalar_t>() + (b * (steps + 1) + t + 1) * c, c);
        kernel.step_backward(m, t + 2, steps + 1, weights.data_ptr<scalar_t>() + at_step, nullptr,
                             reading.data(), gradient.data_ptr<scalar_t>() + at_step, nullptr);
      }
    });
  });
  return gradient;
}

bool has_fast_automaton(const at::TensorOptions& options) {
  const auto dtype = c10::typeMetaToScalarType(options.dtype());
  return options.device().is_cpu() && (dtype == at::kFloat || dtype == at::kDouble);
}

namespace {

AutomatonMemoryPtr memory_of(AutogradContext* context) {
  return c10::static_intrusive_pointer_cast<AutomatonMemory>(
      context->saved_data["memory"].toCapsule());
}

struct FastStep : torch::autograd::Function<FastStep> {
  static Tensor forward(AutogradContext* context, const Tensor& weights, const Tensor&,
                        const AutomatonMemoryPtr& memory, bool logs) {
    at::AutoDispatchBelowADInplaceOrView guard;
    const Tensor used = memory->step(weights.contiguous(), logs);
    context->saved_data["memory"] = c10::IValue::make_capsule(memory);
    context->saved_data["node"] = memory->head();
    context->saved_data["logs"] = logs;
    context->save_for_backward({used});
    return memory->forward(memory->head()).clone();
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const Tensor used = context->get_saved_variables()[0];
    Tensor gradient =
        memory_of(context)->step_backward(context->saved_data["node"].toInt(), used, gradients[0]);
    if (context->saved_data["logs"].toBool()) gradient = gradient * used;
    return {gradient, Variable(), Variable(), Variable()};
  }
};

struct FastScan : torch::autograd::Function<FastScan> {
  static Tensor forward(AutogradContext* context, const Tensor& weights,
                        const NondeterministicShape& shape, bool logs) {
    at::AutoDispatchBelowADInplaceOrView guard;
    const auto batch = weights.size(0), steps = weights.size(1);
    auto memory = c10::make_intrusive<AutomatonMemory>(shape, batch, steps, weights.options());
    const Tensor used = memory->scan(weights.contiguous(), logs);
    std::vector<Tensor> forward;
    for (std::int64_t node = 1; node <= steps + 1; ++node) forward.push_back(memory->forward(node));
    context->saved_data["memory"] = c10::IValue::make_capsule(memory);
    context->saved_data["logs"] = logs;
    context->save_for_backward({used});
    return at::stack(forward, 1);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const Tensor used = context->get_saved_variables()[0];
    Tensor gradient = memory_of(context)->scan_backward(used, gradients[0].contiguous());
    if (context->saved_data["logs"].toBool()) gradient = gradient * used;
    return {gradient, Variable(), Variable()};
  }
};

}  // namespace

Tensor fast_step(const AutomatonMemoryPtr& memory, const Tensor& weights, const Tensor& previous,
                 bool logs) {
  return FastStep::apply(weights, previous, memory, logs);
}

Tensor fast_scan(const NondeterministicShape& shape, const Tensor& weights, bool logs) {
  return FastScan::apply(weights, shape, logs);
}

}  // namespace pushdown
