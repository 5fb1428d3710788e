#include "recurrence/trace/step_trace.h"

#include "base/check.h"
#include "recurrence/affine.h"
#include "recurrence/program/step_fusion.h"
#include "recurrence/trace/step_setters.h"
#include "tensor/embedding.h"

namespace pushdown {

std::int64_t Traced::size(std::int64_t) const { return trace_->size(*this); }
Traced Traced::sigmoid() const { return trace_->map(ArrayFunction::sigmoid, {*this}); }
Traced Traced::tanh() const { return trace_->map(ArrayFunction::tanh, {*this}); }
Traced Traced::exp() const { return trace_->map(ArrayFunction::exp, {*this}); }
Traced Traced::relu() const { return trace_->map(ArrayFunction::relu, {*this}); }
Traced Traced::sqrt() const { return trace_->map(ArrayFunction::sqrt, {*this}); }
Traced Traced::abs() const { return trace_->map(ArrayFunction::abs, {*this}); }
Traced Traced::softmax(std::int64_t) const { return softmax_of_groups(size()); }
Traced Traced::softmax_of_groups(std::int64_t size) const {
  return trace_->groups(StepOp::softmax, *this, size);
}
Traced Traced::greatest_of_groups(std::int64_t size) const {
  return trace_->groups(StepOp::greatest, *this, size);
}
Traced Traced::narrow(std::int64_t dimension, std::int64_t first, std::int64_t count) const {
  if (dimension != 1) throw std::logic_error("a recorded vector has only dimension 1");
  return trace_->slice(*this, first, count);
}
std::vector<Traced> Traced::chunk(std::int64_t parts, std::int64_t dimension) const {
  const auto each = size() / parts;
  std::vector<Traced> result;
  for (std::int64_t k = 0; k < parts; ++k) result.push_back(narrow(dimension, k * each, each));
  return result;
}

std::int64_t StepTrace::size(const Traced& a) const {
  return a.known_.defined() ? a.known_.size(-1) : nodes_[static_cast<std::size_t>(a.node_)].size;
}

int StepTrace::add(StepNode node) {
  nodes_.push_back(node);
  given_.emplace_back();
  symbols_.emplace_back();
  initial_.emplace_back();
  return static_cast<int>(nodes_.size()) - 1;
}

int StepTrace::node_of(const Traced& a) {
  if (!a.known_.defined()) return a.node_;
  const auto [found, is_new] = known_nodes_.try_emplace(a.known_.unsafeGetTensorImpl(), 0);
  if (!is_new) return found->second;
  StepNode node{a.known_.dim() == 1 ? StepOp::constant : StepOp::sequence};
  node.size = a.known_.size(-1);
  const int place = found->second = add(node);
  given_[static_cast<std::size_t>(place)] = a.known_;
  symbols_[static_cast<std::size_t>(place)] = a.symbols_;
  return place;
}

Traced StepTrace::logistic_constant(const Tensor& values) {
  if (!of_symbols_) return constant(values.sigmoid());
  StepNode node{StepOp::constant};
  node.size = values.size(0);
  node.logistic = true;
  const int place = add(node);
  given_[static_cast<std::size_t>(place)] = values;
  return {this, place};
}

Traced StepTrace::symbols(std::int64_t count) {
  StepNode node{StepOp::symbols};
  node.size = count;
  return {this, add(node)};
}

Traced StepTrace::supplied(std::int64_t size) {
  StepNode node{StepOp::sequence};
  node.size = size;
  supplied_.push_back(add(node));
  return {this, supplied_.back()};
}

Traced StepTrace::state(const Tensor& initial) {
  StepNode node{StepOp::previous};
  node.size = initial.size(1);
  const int place = add(node);
  initial_[static_cast<std::size_t>(place)] = initial;
  return {this, place};
}

void StepTrace::bind(const Traced& state, const Traced& value) {
  int source = node_of(value);
  const auto& node = nodes_[static_cast<std::size_t>(source)];
  // A node has one place for the value before the first step; a part of another node or an input
  // does not.
  const bool own = row_of(node.op).is_computed() && !node.carried;
  if (!own) {
    StepNode copy{StepOp::scale};
    copy.size = node.size;
    copy.a = source;
    source = add(copy);
  }
  nodes_[static_cast<std::size_t>(source)].carried = true;
  nodes_[static_cast<std::size_t>(state.node_)].a = source;
}

std::vector<std::int64_t> row_starts(const AutomatonShape& shape) {
  std::vector<std::int64_t> starts{0};
  for (std::int64_t j = 0; j < shape.nodes(); ++j) starts.push_back(starts.back() + shape.row(j));
  return starts;
}

Traced StepTrace::room(std::int64_t size) {
  StepNode node{StepOp::room};
  node.size = size;
  return {this, add(node)};
}

void StepTrace::fill(const Traced& room, const Traced& by) {
  nodes_[static_cast<std::size_t>(room.node_)].a = by.node_;
}

Traced StepTrace::reading(std::int64_t size) {
  StepNode node{StepOp::previous};
  node.size = size;
  return {this, add(node)};
}

void StepTrace::drive(const Traced& reading, const Traced& actions, const MemoryShape& shape,
                      const Traced& bottom) {
  check(memory_ < 0, "step_trace", "a step has one stack");
  StepNode node{StepOp::memory};
  node.size = reading.size();
  node.a = node_of(actions);
  if (bottom.defined()) node.b = node_of(bottom);
  if (held_ >= 0) node.b = held_;
  node.carried = true;
  memory_ = add(node);
  moved_ = {this, memory_};
  shape_ = shape;
  shape_.held = taken_.count;
  shape_.automaton.held_moves = taken_.moves;
  shape_.automaton.held_constant = taken_.constant;
  shape_.goes_on = held_ >= 0;
  if (left_ >= 0) nodes_[static_cast<std::size_t>(left_)].a = memory_;
  shape_.reading = reading.size();
  shape_.actions = actions.size();
  nodes_[static_cast<std::size_t>(reading.node_)].a = memory_;
}

void StepTrace::take_over(const HeldMemory& held, std::int64_t left) {
  StepNode taken{StepOp::held}, given{StepOp::left};
  taken.size = held.numbers.size(1);
  given.size = left;
  held_ = add(taken);
  left_ = add(given);
  initial_[static_cast<std::size_t>(held_)] = held.numbers;
  taken_ = held;
}

namespace {

// The function of known vectors, or an undefined tensor where the program computes it.
Tensor known_map(ArrayFunction function, const Tensor& x, const Tensor& y) {
  switch (function) {
    case ArrayFunction::add: return x + y;
    case ArrayFunction::subtract: return x - y;
    case ArrayFunction::multiply: return x * y;
    case ArrayFunction::greater: return x.gt(y).to(x.scalar_type());
    case ArrayFunction::sigmoid: return x.sigmoid();
    case ArrayFunction::tanh: return x.tanh();
    case ArrayFunction::exp: return x.exp();
    case ArrayFunction::relu: return x.relu();
    default: return {};
  }
}

}  // namespace

Traced StepTrace::map(ArrayFunction function, const std::vector<Traced>& operands) {
  const Traced& a = operands.front();
  for (const Traced& other : operands)
    check(size(other) == size(a), "step_trace", "vectors of one size were expected, got {} and {}",
          size(a), size(other));
  if (std::all_of(operands.begin(), operands.end(), [&](const Traced& of) { return now(of); }))
    if (const Tensor known = known_map(function, a.known_, operands.back().known_); known.defined())
      return {this, known};
  if (function == ArrayFunction::add &&
      (is(a, StepOp::affine) || is(operands.back(), StepOp::affine)))
    return {this, sum(a, operands.back())};
  StepNode node{StepOp::map};
  node.size = size(a);
  node.function = function;
  int* const places[] = {&node.a, &node.b, &node.c};
  for (std::size_t k = 0; k < operands.size(); ++k) *places[k] = node_of(operands[k]);
  return {this, add(node)};
}

Traced StepTrace::scale(const Traced& a, double factor, double shift) {
  if (now(a)) return {this, a.known_ * factor + shift};
  StepNode node{StepOp::scale};
  node.size = size(a);
  node.a = node_of(a);
  node.factor = factor;
  node.shift = shift;
  return {this, add(node)};
}

namespace {

// x : ... n -> ... groups x n / groups
Tensor in_groups(const Tensor& x, std::int64_t groups) {
  return x.unflatten(-1, {groups, x.size(-1) / groups});
}
void check_groups(std::int64_t left, std::int64_t right, std::int64_t groups) {
  check(groups > 0 && left % groups == 0 && right % groups == 0, "step_trace",
        "{} and {} numbers are not {} equal parts", left, right, groups);
}

}  // namespace

Tensor outer_product(const Tensor& a, const Tensor& b, std::int64_t groups) {
  check_groups(a.size(-1), b.size(-1), groups);
  return (in_groups(a, groups).unsqueeze(-1) * in_groups(b, groups).unsqueeze(-2)).flatten(-3);
}
Tensor matrix_vector(const Tensor& matrix, const Tensor& vector, std::int64_t groups) {
  check_groups(matrix.size(-1) / vector.size(-1) * groups, vector.size(-1), groups);
  const auto columns = vector.size(-1) / groups;
  const Tensor rows =
      matrix.unflatten(-1, {groups, matrix.size(-1) / groups / columns, columns});  // ... g x r x c
  const Tensor of = in_groups(vector, groups);                                      // ... g x c
  return (columns == 1 ? rows * of.unsqueeze(-2) : rows.matmul(of.unsqueeze(-1))).flatten(-3);
}

Traced StepTrace::outer(const Traced& a, const Traced& b, std::int64_t groups) {
  if (now(a) && now(b)) return {this, outer_product(a.known_, b.known_, groups)};
  check_groups(size(a), size(b), groups);
  StepNode node{StepOp::outer};
  node.size = size(a) * size(b) / groups;
  node.a = node_of(a);
  node.b = node_of(b);
  node.offset = groups;
  return {this, add(node)};
}

Traced StepTrace::matvec(const Traced& matrix, const Traced& vector, std::int64_t groups) {
  if (now(matrix) && now(vector))
    return {this, matrix_vector(matrix.known_, vector.known_, groups)};
  const auto rows = size(matrix) / size(vector) * groups;
  check(size(matrix) == rows / groups * size(vector), "step_trace",
        "{} numbers are not the matrices for a vector of {}", size(matrix), size(vector));
  check_groups(rows, size(vector), groups);
  StepNode node{StepOp::matvec};
  node.size = rows;
  node.a = node_of(matrix);
  node.b = node_of(vector);
  node.offset = groups;
  return {this, add(node)};
}

Traced StepTrace::groups(StepOp op, const Traced& a, std::int64_t size) {
  check(size > 0 && a.size() % size == 0, "step_trace", "{} numbers are no groups of {}", a.size(),
        size);
  if (now(a)) {
    const Tensor each = a.known_.unflatten(-1, {a.size() / size, size});
    if (op == StepOp::softmax) return {this, each.softmax(-1).flatten(-2)};
    return {this, at::one_hot(each.argmax(-1), size).to(each.scalar_type()).flatten(-2)};
  }
  StepNode node{op};
  node.size = a.size();
  node.a = node_of(a);
  node.offset = size;
  return {this, add(node)};
}

Traced StepTrace::one_hot(const Tensor& symbols, std::int64_t count, at::TensorOptions options) {
  Traced result{this, at::one_hot(symbols, count).to(options)};
  result.symbols_ = symbols;
  return result;
}

// Sums of maps become one node, so that they need no memory or passes of their own.
int StepTrace::sum(const Traced& a, const Traced& b) {
  StepNode node{StepOp::affine};
  node.size = size(a);
  std::vector<StepTerm> terms;
  std::vector<int> operands;
  for (const Traced& part : {a, b}) {
    if (!is(part, StepOp::affine)) {
      operands.push_back(node_of(part));
      continue;
    }
    const StepNode& old = nodes_[static_cast<std::size_t>(part.node_)];
    terms.insert(terms.end(), terms_.begin() + old.first_term,
                 terms_.begin() + old.first_term + old.terms);
    operands.insert(operands.end(), operands_.begin() + old.first_operand,
                    operands_.begin() + old.first_operand + old.operands);
  }
  node.first_term = static_cast<int>(terms_.size());
  node.terms = static_cast<int>(terms.size());
  node.first_operand = static_cast<int>(operands_.size());
  node.operands = static_cast<int>(operands.size());
  terms_.insert(terms_.end(), terms.begin(), terms.end());
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  return add(node);
}

Traced StepTrace::slice(const Traced& a, std::int64_t first, std::int64_t count) {
  if (a.known_.defined()) return {this, a.known_.narrow(-1, first, count)};
  if (first == 0 && count == size(a)) return a;
  const StepNode of = nodes_[static_cast<std::size_t>(a.node_)];
  StepNode node{StepOp::slice};
  node.size = count;
  node.a = of.op == StepOp::slice ? of.a : a.node_;
  node.offset = first + (of.op == StepOp::slice ? of.offset : 0);
  node.sliced = true;
  return {this, add(node)};
}

Traced StepTrace::concat(const std::vector<Traced>& parts) {
  const auto known = [](const Traced& part) { return part.known_.defined(); };
  if (parts.size() == 1) return parts.front();
  if (!of_symbols_ && std::all_of(parts.begin(), parts.end(), known)) {
    std::vector<Tensor> tensors;
    for (const Traced& part : parts) {
      check(part.known_.dim() == 3, "step_trace", "cat of constants");
      tensors.push_back(part.known_);
    }
    return {this, at::cat(tensors, -1)};
  }
  StepNode node{StepOp::concat};
  std::vector<int> nodes;
  for (const Traced& part : parts) {
    nodes.push_back(node_of(part));
    node.size += size(part);
  }
  node.first_operand = static_cast<int>(operands_.size());
  node.operands = static_cast<int>(nodes.size());
  operands_.insert(operands_.end(), nodes.begin(), nodes.end());
  return {this, add(node)};
}

namespace {

// If the vectors are one-hot, columns are selected instead.
Tensor map_known(const Tensor& x, const Tensor& symbols, const Tensor& weight, const Tensor& bias) {
  if (!symbols.defined()) return pushdown::affine(x, weight, bias);
  const Tensor mapped = embedded(weight.t(), symbols);
  return bias.defined() ? mapped + bias : mapped;
}

}  // namespace

Traced StepTrace::affine(const Traced& x, const Tensor& weight, const Tensor& bias) {
  check(weight.size(1) == size(x), "step_trace", "a matrix of {} columns was given {} numbers",
        weight.size(1), size(x));
  if (now(x)) return {this, map_known(x.known_, x.symbols_, weight, bias)};
  // The known parts of the joined vector are mapped in advance.
  Tensor known;
  std::vector<StepTerm> terms;
  const auto term = [&](int operand, const Tensor& matrix) {
    const Tensor& given = given_[static_cast<std::size_t>(operand)];
    if (given.defined() && given.dim() == 3) {
      const Tensor mapped =
          map_known(given, symbols_[static_cast<std::size_t>(operand)], matrix, {});
      known = known.defined() ? known + mapped : mapped;
      return;
    }
    const bool lookup = nodes_[static_cast<std::size_t>(operand)].op == StepOp::symbols;
    terms.push_back({operand, static_cast<int>(matrices_.size()), lookup});
    matrices_.push_back(matrix);
  };
  if (is(x, StepOp::concat)) {
    const StepNode of = nodes_[static_cast<std::size_t>(x.node_)];
    std::int64_t column = 0;
    for (int k = 0; k < of.operands; ++k) {
      const int part = operands_[static_cast<std::size_t>(of.first_operand + k)];
      const auto width = nodes_[static_cast<std::size_t>(part)].size;
      term(part, weight.narrow(1, column, width));
      column += width;
    }
  } else {
    term(node_of(x), weight);
  }
  if (bias.defined()) known = known.defined() ? known + bias : bias;
  StepNode node{StepOp::affine};
  node.size = weight.size(0);
  node.first_term = static_cast<int>(terms_.size());
  node.terms = static_cast<int>(terms.size());
  terms_.insert(terms_.end(), terms.begin(), terms.end());
  if (known.defined()) {
    const int operand = node_of({this, known});
    node.first_operand = static_cast<int>(operands_.size());
    node.operands = 1;
    operands_.push_back(operand);
  }
  return {this, add(node)};
}

Traced StepTrace::mix(const Traced& share, const Traced& a, const Traced& b) {
  check(size(share) == 1 && size(a) == size(b), "step_trace",
        "mix takes one number and two vectors of one size, got {}, {} and {}", size(share), size(a),
        size(b));
  StepNode node{StepOp::mix};
  node.size = size(a);
  node.a = node_of(a);
  node.b = node_of(b);
  node.c = node_of(share);
  return {this, add(node)};
}

Traced StepTrace::array(ArrayProgramPtr program, const std::vector<Traced>& operands) {
  check(program->inputs.size() == operands.size(), "step_trace",
        "an array program of {} inputs was given {}", program->inputs.size(), operands.size());
  StepNode node{StepOp::array};
  node.size = program->output;
  node.array = static_cast<int>(arrays_.size());
  std::vector<int> nodes;
  for (const Traced& operand : operands) nodes.push_back(node_of(operand));
  node.first_operand = static_cast<int>(operands_.size());
  node.operands = static_cast<int>(nodes.size());
  operands_.insert(operands_.end(), nodes.begin(), nodes.end());
  arrays_.push_back(std::move(program));
  return {this, add(node)};
}

std::vector<char> StepTrace::needed(const std::vector<StepNode>& nodes, int output) const {
  const auto at = [](int n) { return static_cast<std::size_t>(n); };
  std::vector<char> alive(nodes.size());
  std::vector<int> open{output, left_};
  while (!open.empty()) {
    const int n = open.back();
    open.pop_back();
    if (n < 0 || alive[at(n)]) continue;
    alive[at(n)] = 1;
    const StepNode& node = nodes[at(n)];
    check(node.op != StepOp::previous || node.a >= 0, "step_trace", "a state was never bound");
    open.insert(open.end(), {node.a, node.b, node.c});
    for (int k = 0; k < node.terms; ++k) open.push_back(terms_[at(node.first_term + k)].operand);
    for (int k = 0; k < node.operands; ++k) open.push_back(operands_[at(node.first_operand + k)]);
  }
  return alive;
}

TracedProgram StepTrace::finish(const Traced& output) {
  const int last = node_of(output);
  std::vector<StepNode> nodes = nodes_;
  fuse_gates(nodes, terms_, operands_, needed(nodes, last), last, after_);
  const std::vector<char> alive = needed(nodes, last);
  TracedProgram all;
  all.nodes = std::move(nodes);
  all.terms = terms_;
  all.operands = operands_;
  all.matrices = matrices_;
  all.given = given_;
  all.supplied = supplied_;
  all.initial = initial_;
  all.arrays = arrays_;
  all.output = last;
  all.after = after_ < 0 ? static_cast<int>(nodes_.size()) : after_;
  all.begin_symbol = begin_symbol_;
  all.memory = memory_;
  all.left = left_;
  all.shape = shape_;
  std::vector<int> order;
  for (int n = 0; n < static_cast<int>(nodes_.size()); ++n)
    if (alive[static_cast<std::size_t>(n)]) order.push_back(n);
  TracedProgram program = with_nodes(all, order, static_cast<int>(nodes_.size()));
  if (shape_.kind == MemoryKind::nondeterministic) program.row_start = row_starts(shape_.automaton);
  set_gradients(program);
  return program;
}

}  // namespace pushdown
