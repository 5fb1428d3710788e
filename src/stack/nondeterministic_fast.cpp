#include "stack/nondeterministic_fast.h"

#include <algorithm>
#include <cmath>

#include "base/lost_precision.h"
#include "base/parallel.h"
#include "base/stopping.h"
#include "kernel/memory/automaton_range.h"
#include "kernel/memory/lost_runs.h"
#include "tensor/autograd.h"

namespace pushdown {
namespace {

// Computes exp(given) up to a common factor: the largest weight out of a reachable configuration
// becomes 1, or as `range` asks.
template <class F>
void exponentiate(const F* given, const F* forward, std::int64_t rows, std::int64_t columns,
                  const AutomatonRange<F>& range, F* used) {
  F shift = -std::numeric_limits<F>::infinity();
  for (std::int64_t c = 0; c < rows; ++c)
    if (forward[c] > 0)
      shift = std::max(shift, *std::max_element(given + c * columns, given + (c + 1) * columns));
  if (std::isinf(shift)) shift = 0;
  for (std::int64_t c = 0; c < rows; ++c)
    for (std::int64_t w = 0; w < columns; ++w)
      used[c * columns + w] =
          forward[c] > 0 ? range.kept(std::exp(range.exponent(given[c * columns + w] - shift)))
                         : F(0);
}

// Adds in a fixed order in which independent additions can overlap.
template <class F>
F sum_of(const F* values, std::int64_t count) {
  constexpr int kLanes = 16;
  F sums[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) sums[lane] += values[i + lane];
  F total = 0;
  for (; i < count; ++i) total += values[i];
  for (const F sum : sums) total += sum;
  return total;
}

// Runs sequences in parallel if they are long enough to be worth a thread.
void for_each_sequence(std::int64_t batch, std::int64_t work,
                       const std::function<void(std::int64_t)>& body) {
  constexpr std::int64_t kWorthAThread = 20000;  // multiply-adds
  if (work >= kWorthAThread) return parallel_for(batch, body);
  for (std::int64_t b = 0; b < batch; ++b) body(b);
}

}  // namespace

AutomatonMemory::AutomatonMemory(const NondeterministicShape& shape, std::int64_t batch,
                                 std::int64_t steps, at::TensorOptions options,
                                 const Tensor& bottom)
    : shape_(shape), batch_(batch), options_(options) {
  set_steps(std::max<std::int64_t>(steps, 1));
  lost_ = nothing_lost();
  // Nodes 0 and 1: state 0 with the bottom symbol on top.
  columns_.narrow(1, 0, column_start(2)).zero_();
  forward_.narrow(1, 0, 2).zero_();
  forward_.select(2, 0).narrow(1, 0, 2).fill_(1);
  mass_.copy_(forward_);
  if (shape.reexposed) columns_.select(1, column_start(1)).fill_(1);
  if (shape.vector == 0) return;
  readings_.select(1, 1).zero_();
  readings_.select(1, 1).narrow(1, 0, shape.vector).copy_(bottom.expand({batch, -1}));
  for (std::int64_t k = 0; shape.reexposed && k < shape.vector; ++k)
    columns_.select(1, column_start(1) + (1 + k) * size_.configurations() * size_.row(1))
        .copy_(bottom[k].expand({batch}));
}

AutomatonMemory::AutomatonMemory(const NondeterministicShape& shape,
                                 const StackAutomaton& automaton, std::int64_t steps)
    : shape_(shape), batch_(automaton.forward.size(0)), options_(automaton.forward.options()) {
  // The oldest node that is kept becomes node 1, so that the window ends above node 0.
  const auto kept = automaton.edges.size(2);
  set_steps(kept + std::max<std::int64_t>(steps, 1));
  lost_ = nothing_lost();
  head_ = kept + 1;
  columns_.narrow(1, 0, column_start(head_ + 1)).zero_();
  for (std::int64_t k = 0; k < kept; ++k)
    edges(k + 2, 1).copy_(automaton.edges.detach().narrow(2, 0, k + 1).select(3, k));
  forward_.narrow(1, 0, head_ + 1).zero_();
  forward_.select(1, head_).copy_(automaton.forward.detach());
  mass_.narrow(1, 0, head_ + 1).zero_();
  readings_.narrow(1, 0, head_ + 1).zero_();
}

Tensor AutomatonMemory::edges(std::int64_t j, std::int64_t from) const {
  const auto c = size_.configurations(), row = size_.row(j);
  return columns_.narrow(1, column_start(j), size_.edge_rows() * row)
      .view({batch_, 1 + shape_.vector, c, row})
      .narrow(3, from * c - size_.first(j), (j - from) * c)
      .unflatten(3, {j - from, c})
      .permute({0, 1, 3, 4, 2});
}

StackAutomaton AutomatonMemory::automaton(std::int64_t node) const {
  at::NoGradGuard no_grad;
  const auto c = size_.configurations(), m = shape_.vector;
  // Without the edge 0 -> 1, no path reaches node 0.
  const auto lowest = std::max<std::int64_t>(shape_.window == 0 ? 0 : node + 1 - shape_.window,
                                             shape_.reexposed ? 0 : 1);
  const auto kept = node - lowest;
  StackAutomaton result{at::zeros({batch_, 1 + m, kept, kept, c, c}, options_),
                        forward_.select(1, node).clone(), at::zeros({batch_, m, c}, options_)};
  for (std::int64_t k = 0; k < kept; ++k)
    result.edges.narrow(2, 0, k + 1).select(3, k).copy_(edges(lowest + 1 + k, lowest));
  if (m > 0 && node == 1)
    result.vectors.copy_(readings_.select(1, 1).view({batch_, c, m}).transpose(1, 2));
  else if (m > 0)
    result.vectors.copy_(
        edges(node, size_.lowest(node)).narrow(1, 1, m).sum(c10::IntArrayRef{2, 3}));
  return result;
}

// Makes room for `steps` steps and keeps the existing contents.
void AutomatonMemory::set_steps(std::int64_t steps) {
  size_ = {static_cast<int>(shape_.states), static_cast<int>(shape_.symbols), steps, shape_.vector,
           shape_.window};
  row_start_.clear();
  std::int64_t start = 0;
  for (std::int64_t j = 0; j <= size_.nodes(); ++j) {
    row_start_.push_back(start);
    start += size_.row(j);
  }
  const auto extended = [&](Tensor& tensor, at::IntArrayRef shape) {
    const Tensor old = std::exchange(tensor, at::empty(shape, options_));
    if (!old.defined()) return;
    Tensor part = tensor;
    for (std::int64_t d = 1; d < old.dim(); ++d) part = part.narrow(d, 0, old.size(d));
    part.copy_(old);
  };
  const auto nodes = size_.nodes(), c = size_.configurations();
  extended(columns_, {batch_, column_start(nodes)});
  extended(popped_, {batch_, size_.states * row_start_.back()});
  extended(forward_, {batch_, nodes, c});
  extended(mass_, {batch_, nodes, c});
  extended(readings_, {batch_, nodes, c * shape_.vector});
  numerators_ = forward_gradients_ = popped_gradient_ = Tensor();
  next_backward_ = 0;
}

Tensor AutomatonMemory::nothing_lost() const {
  return at::full({batch_, size_.configurations()}, -std::numeric_limits<double>::infinity(),
                  options_);
}

AutomatonMemoryPtr AutomatonMemory::rewound(std::int64_t node) const {
  auto other = std::make_shared<AutomatonMemory>(*this);
  for (Tensor* tensor : {&other->columns_, &other->popped_, &other->forward_, &other->mass_,
                         &other->readings_, &other->lost_})
    *tensor = tensor->clone();
  other->head_ = node;
  other->numerators_ = other->forward_gradients_ = other->popped_gradient_ = Tensor();
  return other;
}

std::size_t AutomatonMemory::bytes() const {
  std::size_t total = 0;
  for (const Tensor* tensor : {&columns_, &popped_, &forward_, &mass_, &readings_, &numerators_,
                               &forward_gradients_, &popped_gradient_})
    total += tensor_bytes(*tensor);
  return total;
}

Tensor AutomatonMemory::reading(std::int64_t node) const {
  return (shape_.vector > 0 ? readings_ : forward_).select(1, node);
}

template <class F>
NondeterministicMemory<F> AutomatonMemory::memory(std::int64_t b) const {
  const auto at_sequence = [&](const Tensor& tensor) {
    return tensor.defined() ? tensor.data_ptr<F>() + b * tensor.stride(0) : nullptr;
  };
  return {size_,
          row_start_.data(),
          at_sequence(columns_),
          at_sequence(popped_),
          at_sequence(forward_),
          at_sequence(mass_),
          at_sequence(numerators_),
          at_sequence(forward_gradients_),
          at_sequence(popped_gradient_)};
}

void AutomatonMemory::begin_backward(std::int64_t last) {
  last_backward_ = last;
  if (!numerators_.defined()) numerators_ = at::empty_like(columns_);
  numerators_.narrow(1, column_start(last), size_.edge_rows() * size_.row(last)).zero_();
  forward_gradients_ = at::zeros({batch_, size_.forward_gradients()}, columns_.options());
  popped_gradient_ = at::empty({batch_, size_.popped_gradient()}, columns_.options());
}

template <class F>
void AutomatonMemory::step_one(std::int64_t b, std::int64_t node, const F* given, const F* vector,
                               F* used, bool logs) const {
  const auto m = memory<F>(b);
  const auto kernel =
      kernel_for<NondeterministicKernel<F>>(current_isa(), size_.states, size_.symbols);
  const auto c = size_.configurations(), row = size_.row(node);
  const F* from = m.forward + (node - 1) * c;
  AutomatonRange<F> range;
  do {
    if (logs) exponentiate(given, from, c, size_.actions(), range, used);
    kernel.step(m, node, used, vector);
  } while (logs && range.again(sum_of(from, c), sum_of(m.mass + node * c, c)));
  F* lost = lost_.data_ptr<F>() + b * c;
  const bool loses = std::any_of(lost, lost + c, [](F share) { return share > -INFINITY; });
  if (logs && (loses || gives_up(m.mass + node * c, c)) && watches_losses())
    follow_lost_runs<F>(
        {size_.states, size_.symbols, given, false, range.raised, from, m.mass + node * c}, lost);
  if (shape_.vector == 0) return;
  F* reading = readings_.data_ptr<F>() + b * readings_.stride(0) + node * readings_.stride(1);
  const F* rows = m.columns + column_start(node) + c * row;
  for (std::int64_t k = 0; k < shape_.vector; ++k)
    for (std::int64_t x = 0; x < c; ++x)
      reading[x * shape_.vector + k] =
          m.forward[node * c + x] * sum_of(rows + (k * c + x) * row, row);
}

// Adds the gradient of a reading to the rows of column j, (1 + m) x C. Readings depend on the
// gauge-invariant forward weights a[j] = 1 and a[i] by
//   u_j[b] a[j][b] / sum_b' u_j[b'] a[j][b'],     a[j][b] = sum_{i,a} a[i][a] P[i->j][a->b],
// and readings of a vector stack by u_j[b] sum_{i,a} a[i][a] V[i->j][a->b] / sum_b' u_j[b']
// a[j][b'].
template <class F>
std::vector<F> AutomatonMemory::row_gradients(std::int64_t b, std::int64_t node,
                                              const F* given) const {
  const auto c = size_.configurations(), m = shape_.vector, width = m > 0 ? c * m : c;
  const F* u = memory<F>(b).forward + node * c;
  const Tensor& read = m > 0 ? readings_ : forward_;
  const F* reading = read.data_ptr<F>() + b * read.stride(0) + node * read.stride(1);
  F mean = 0;
  for (std::int64_t i = 0; i < width; ++i) mean += given[i] * reading[i];
  std::vector<F> rows((1 + m) * c);
  for (std::int64_t x = 0; x < c; ++x) {
    rows[x] = u[x] * ((m > 0 ? F(0) : given[x]) - mean);
    for (std::int64_t k = 0; k < m; ++k) rows[(1 + k) * c + x] = u[x] * given[x * m + k];
  }
  return rows;
}

template <class F>
void AutomatonMemory::step_back_one(std::int64_t b, std::int64_t node, const F* weights,
                                    const F* vector, const F* reading_gradient, F* weight_gradient,
                                    F* vector_gradient) const {
  const auto kernel =
      kernel_for<NondeterministicKernel<F>>(current_isa(), size_.states, size_.symbols);
  const auto rows = row_gradients(b, node, reading_gradient);
  kernel.step_backward(memory<F>(b), node, last_backward_, weights, vector, rows.data(),
                       weight_gradient, vector_gradient);
}

Tensor AutomatonMemory::step(const Tensor& weights, const Tensor& vectors, bool logs) {
  if (head_ + 1 == size_.nodes()) set_steps(2 * size_.steps);
  const auto node = ++head_;
  const auto row = size_.configurations() * size_.actions();
  const Tensor used = logs ? at::empty_like(weights) : weights;
  AT_DISPATCH_FLOATING_TYPES(weights.scalar_type(), "nondeterministic", [&] {
    const auto* given = weights.data_ptr<scalar_t>();
    const auto* pushed = vectors.data_ptr<scalar_t>();
    auto* out = used.data_ptr<scalar_t>();
    for_each_sequence(batch_, node * node * row / 2, [&](std::int64_t b) {
      step_one<scalar_t>(b, node, given + b * row, pushed + b * shape_.vector, out + b * row, logs);
    });
  });
  return used;
}

AutomatonMemory::Gradients AutomatonMemory::step_backward(std::int64_t node, const Tensor& weights,
                                                          const Tensor& vectors,
                                                          const Tensor& reading_gradient) {
  // The engine visits the nodes in order; any other order is a new pass over the graph.
  if (node != next_backward_ || cuts_.contains(node)) begin_backward(node);
  next_backward_ = node - 1;
  const Gradients gradients{at::empty_like(weights), at::empty_like(vectors)};
  const Tensor given = reading_gradient.contiguous();
  const auto row = size_.configurations() * size_.actions(), read = given.size(1);
  AT_DISPATCH_FLOATING_TYPES(weights.scalar_type(), "nondeterministic", [&] {
    for_each_sequence(batch_, node * node * row, [&](std::int64_t b) {
      step_back_one(b, node, weights.data_ptr<scalar_t>() + b * row,
                    vectors.data_ptr<scalar_t>() + b * shape_.vector,
                    given.data_ptr<scalar_t>() + b * read,
                    gradients.weights.data_ptr<scalar_t>() + b * row,
                    gradients.vectors.data_ptr<scalar_t>() + b * shape_.vector);
    });
  });
  return gradients;
}

Tensor AutomatonMemory::bottom_gradient(const Tensor& first_reading_gradient) {
  const auto m = shape_.vector, c = size_.configurations();
  const Tensor given = first_reading_gradient.contiguous();
  if (!shape_.reexposed) return given.narrow(1, 0, m).sum(0);
  if (next_backward_ != 1 || cuts_.contains(1)) begin_backward(1);
  next_backward_ = 0;
  AT_DISPATCH_FLOATING_TYPES(given.scalar_type(), "nondeterministic", [&] {
    const auto kernel =
        kernel_for<NondeterministicKernel<scalar_t>>(current_isa(), size_.states, size_.symbols);
    for (std::int64_t b = 0; b < batch_; ++b)
      kernel.finish_backward(
          memory<scalar_t>(b), 1, last_backward_,
          row_gradients(b, 1, given.data_ptr<scalar_t>() + b * given.size(1)).data());
  });
  const auto row = size_.row(1);
  const Tensor first = numerators_.narrow(1, column_start(1), (1 + m) * c * row)
                           .view({batch_, 1 + m, c * row});  // entry 0: bottom above bottom
  return first.select(2, 0).narrow(1, 1, m).sum(0);
}

bool has_automaton_kernels(const NondeterministicShape& shape, const at::TensorOptions& options) {
  const auto dtype = c10::typeMetaToScalarType(options.dtype());
  return shape.vector <= kMaxNondeterministicChannels &&
         (dtype == at::kFloat || dtype == at::kDouble);
}
bool has_fast_automaton(const NondeterministicShape& shape, const at::TensorOptions& options) {
  return options.device().is_cpu() && has_automaton_kernels(shape, options);
}

namespace {

// Holds a memory for autograd.
struct KeptMemory final : torch::CustomClassHolder {
  explicit KeptMemory(AutomatonMemoryPtr kept) : memory(std::move(kept)) {}
  AutomatonMemoryPtr memory;
};

void keep(AutogradContext* context, const AutomatonMemoryPtr& memory) {
  context->saved_data["memory"] =
      c10::IValue::make_capsule(c10::make_intrusive<KeptMemory>(memory));
}

const AutomatonMemoryPtr& memory_of(AutogradContext* context) {
  const auto capsule = context->saved_data["memory"].toCapsule();
  return static_cast<const KeptMemory&>(*capsule).memory;
}

struct FastBegin : AutogradFunction<FastBegin> {
  static Tensor forward(AutogradContext* context, const Tensor&, const AutomatonMemoryPtr& memory) {
    keep(context, memory);
    return memory->reading(1).clone();
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    return {memory_of(context)->bottom_gradient(gradients[0]), Tensor()};
  }
};

struct FastStep : AutogradFunction<FastStep> {
  static Tensor forward(AutogradContext* context, const Tensor& weights, const Tensor& vectors,
                        const Tensor&, const AutomatonMemoryPtr& memory, bool logs) {
    at::AutoDispatchBelowADInplaceOrView guard;
    const Tensor pushed = vectors.contiguous();
    const Tensor used = memory->step(weights.contiguous(), pushed, logs);
    keep(context, memory);
    context->saved_data["node"] = memory->head();
    context->saved_data["logs"] = logs;
    context->save_for_backward({used, pushed});
    return memory->reading(memory->head()).clone();
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    auto [weights, vectors] = memory_of(context)->step_backward(context->saved_data["node"].toInt(),
                                                                saved[0], saved[1], gradients[0]);
    if (context->saved_data["logs"].toBool()) weights = balanced(weights * saved[0]);
    return {weights, vectors, Tensor(), Tensor(), Tensor()};
  }
};

Tensor or_empty(const Tensor& tensor, const at::TensorOptions& options) {
  return tensor.defined() ? tensor : at::empty({0}, options);
}

}  // namespace

std::pair<AutomatonMemoryPtr, Tensor> fast_begin(const NondeterministicShape& shape,
                                                 std::int64_t batch, std::int64_t steps,
                                                 at::TensorOptions options, const Tensor& bottom) {
  auto memory = std::make_shared<AutomatonMemory>(shape, batch, steps, options,
                                                  bottom.defined() ? bottom.detach() : Tensor());
  const Tensor reading = FastBegin::apply(or_empty(bottom, options), memory);
  return {std::move(memory), reading};
}

Tensor fast_step(const AutomatonMemoryPtr& memory, const Tensor& weights, const Tensor& vectors,
                 const Tensor& previous, bool logs) {
  if (!previous.requires_grad()) memory->cut();
  return FastStep::apply(weights, or_empty(vectors, weights.options()), previous, memory, logs);
}

}  // namespace pushdown
