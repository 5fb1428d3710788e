// Records one step of a recurrent network as a step program (kernel/step/step_program.h).
//
// The step is written once, as a function template over the type of its vectors. With Tensor, B x
// n, it computes; with Traced it is recorded. Both types support the functions below: linear,
// joined, outer_product, matrix_vector, mix, larger, greater_of, log_sigmoid, softplus, +, -, *, /,
// and the member functions of Traced, which have the names of those of Tensor.
//
// A vector that depends only on inputs and parameters is known at all steps in advance. LibTorch
// computes it for all steps at once, and only the rest becomes part of the program. Gradients flow
// back through both. A trace `of_symbols` makes everything part of the program, and maps of symbols
// become selections of columns. Such a program does not depend on the values of a batch or of a
// parameter, and is recorded once for many batches (recurrence/program/step_plan.h).
//
// Dimension letters: B batch, T steps, n numbers of a vector.
#pragma once
#include <unordered_map>
#include <vector>

#include "array/array_program.h"
#include "kernel/step/step_program.h"
#include "recurrence/affine.h"
#include "tensor/torch.h"

namespace pushdown {

// What a recorded run takes over from an earlier one: the numbers of its memory
// (kernel/memory/memories.h).
struct HeldMemory {
  Tensor numbers;                        // B x m
  std::int64_t count = 0;                // MemoryShape::held
  bool moves = false, constant = false;  // MemoryShape::held_moves, held_constant

  // Returns the count after a run of that many steps.
  std::int64_t updates(std::int64_t steps) const { return count + (moves ? 1 : 0) + steps - 1; }
};

class StepTrace;

// A vector of the step. If known in advance, it is a tensor: n (the same at all steps) or B x T x
// n.
class Traced {
 public:
  Traced() = default;

  bool defined() const { return trace_ != nullptr; }
  std::int64_t size(std::int64_t dimension = 1) const;  // n
  Traced sigmoid() const;
  Traced tanh() const;
  Traced exp() const;
  Traced relu() const;
  Traced sqrt() const;
  Traced abs() const;
  Traced softmax(std::int64_t dimension) const;
  // Over each `size` consecutive numbers.
  Traced softmax_of_groups(std::int64_t size) const;
  Traced greatest_of_groups(std::int64_t size) const;  // 1 at the greatest, else 0
  // Dimension 1, as of B x n.
  Traced narrow(std::int64_t dimension, std::int64_t first, std::int64_t count) const;
  std::vector<Traced> chunk(std::int64_t parts, std::int64_t dimension) const;
  bool is_same(const Traced& other) const {
    return node_ == other.node_ && known_.is_same(other.known_);
  }

 private:
  friend class StepTrace;
  Traced(StepTrace* trace, int node) : trace_(trace), node_(node) {}
  Traced(StepTrace* trace, Tensor known) : trace_(trace), known_(std::move(known)) {}

  StepTrace* trace_ = nullptr;
  int node_ = -1;
  Tensor known_;
  Tensor symbols_;  // B x T, if it is one-hot
};

// The result of a trace: the program's nodes, and the tensors that it reads.
struct TracedProgram {
  std::vector<StepNode> nodes;
  std::vector<StepTerm> terms;
  std::vector<int> operands;
  std::vector<Tensor> matrices;  // rows x columns each
  std::vector<Tensor> given;     // by node: B x T x n for a sequence, n for a constant
  std::vector<int> supplied;     // nodes: sequences that every run receives, in order
  std::vector<Tensor> initial;   // by node: initial values of `previous` nodes, and what the stack
                                 // takes over, B x n
  std::vector<ArrayProgramPtr> arrays;
  int output = -1;
  int after = 0;  // see StepProgram
  // A symbol that precedes every sequence, the output after which is h_0; -1: none, and h_0 is 0.
  std::int64_t begin_symbol = -1;
  bool attends = false;                 // has attention, which needs segments
  int memory = -1;                      // node of the stack
  int left = -1;                        // node of its final content
  MemoryShape shape{};                  // of the stack
  std::vector<std::int64_t> row_start;  // shape points into this while it is run
  std::vector<StepSegment> segments;    // none: one loop
};

// Returns the program with these nodes, in this order. All that they read must be among them,
// except symbols of lookups. Nodes from `appended` on were added after recording.
TracedProgram with_nodes(const TracedProgram& program, const std::vector<int>& order, int appended);
// Sets what follows from the nodes: through which of them gradients flow, and which ones set them.
void set_gradients(TracedProgram& program);

// Returns AutomatonShape::row_start.
std::vector<std::int64_t> row_starts(const AutomatonShape& shape);

class StepTrace {
 public:
  explicit StepTrace(bool of_symbols = false) : of_symbols_(of_symbols) {}
  StepTrace(const StepTrace&) = delete;
  StepTrace& operator=(const StepTrace&) = delete;

  Traced sequence(const Tensor& values) { return {this, values}; }  // B x T x n
  // A sequence of one-hot vectors from symbols, B x T ids below `count`.
  Traced one_hot(const Tensor& symbols, std::int64_t count, at::TensorOptions options);
  // A sequence of the one-hot vectors of any run's symbols, and a sequence of `size` numbers that
  // every run receives.
  Traced symbols(std::int64_t count);
  Traced supplied(std::int64_t size);
  Traced constant(const Tensor& values) { return {this, values}; }  // n
  Traced logistic_constant(const Tensor& values);                   // their sigmoid
  // The value of a vector one step before, B x n before the first step; bound once to that vector.
  Traced state(const Tensor& initial);
  void bind(const Traced& state, const Traced& value);
  // A memory of `size` numbers for all steps of a sequence. It is an operand of array programs, of
  // which the one that fill() names writes each number once.
  Traced room(std::int64_t size);
  void fill(const Traced& room, const Traced& by);
  // The reading of the network's only stack one step before: `size` numbers. The actions, given
  // once, drive the stack. bottom: m constant numbers, or undefined.
  Traced reading(std::int64_t size);
  void drive(const Traced& reading, const Traced& actions, const MemoryShape& shape,
             const Traced& bottom = {});
  // A run begins with this symbol, which is not among those that it is given.
  void begin_with(std::int64_t symbol) { begin_symbol_ = symbol; }
  // Call before drive(): the stack takes over the memory of an earlier run and leaves `left`
  // numbers.
  void take_over(const HeldMemory& held, std::int64_t left);
  const HeldMemory& held() const { return taken_; }
  // The reading after this step's move; call after drive().
  Traced read_now() const { return moved_; }

  // Operations recorded from here on run after the step, see StepProgram::after.
  void begin_aftermath() { after_ = static_cast<int>(nodes_.size()); }

  // Returns the program that computes `output`, without unneeded nodes and with the gates of its
  // cells fused (step_fusion.h).
  TracedProgram finish(const Traced& output);

  // The operations, see below.
  // An elementwise function of vectors of one size, as many as it has operands.
  Traced map(ArrayFunction function, const std::vector<Traced>& operands);
  Traced scale(const Traced& a, double factor, double shift);  // factor a + shift
  Traced outer(const Traced& a, const Traced& b, std::int64_t groups);
  Traced matvec(const Traced& matrix, const Traced& vector, std::int64_t groups);
  Traced groups(StepOp op, const Traced& a, std::int64_t size);
  Traced slice(const Traced& a, std::int64_t first, std::int64_t count);
  Traced concat(const std::vector<Traced>& parts);
  Traced affine(const Traced& x, const Tensor& weight, const Tensor& bias);
  Traced mix(const Traced& share, const Traced& a, const Traced& b);
  // Layer normalization with its gain and bias, n each, and causal attention of the vector to this
  // and all earlier steps of its sequence, with several heads (kernel/attention). `relative`: r of
  // the distance that is the number of the step, u and w of a relative encoding.
  Traced normalize(const Traced& x, const Tensor& gain, const Tensor& bias);
  Traced attention(const Traced& queries, const Traced& keys, const Traced& values,
                   std::int64_t heads, AttentionEncoding encoding = AttentionEncoding::none,
                   const std::vector<Traced>& relative = {});
  // The output of an array program, which has an input for each operand.
  Traced array(ArrayProgramPtr program, const std::vector<Traced>& operands);
  std::int64_t size(const Traced& a) const;

  static StepTrace& of(const Traced& a) { return *a.trace_; }

 private:
  int node_of(const Traced& a);
  int add(StepNode node);
  int sum(const Traced& a, const Traced& b);
  // Returns, by node, whether the output depends on it, at this step or an earlier one.
  std::vector<char> needed(const std::vector<StepNode>& nodes, int output) const;
  // Returns whether a result is computed immediately.
  bool now(const Traced& a) const { return !of_symbols_ && a.known_.defined(); }
  bool is(const Traced& a, StepOp op) const { return a.node_ >= 0 && nodes_[a.node_].op == op; }

  std::vector<StepNode> nodes_;
  std::vector<StepTerm> terms_;
  std::vector<int> operands_;
  std::vector<Tensor> matrices_, given_, symbols_, initial_;
  std::vector<int> supplied_;
  std::vector<ArrayProgramPtr> arrays_;
  std::unordered_map<const void*, int> known_nodes_;
  bool of_symbols_;
  MemoryShape shape_{};
  std::int64_t begin_symbol_ = -1;
  int memory_ = -1, after_ = -1, held_ = -1, left_ = -1;
  HeldMemory taken_;
  Traced moved_;
};

// W x (+ b), x : B x I, W : O x I, b : O. For tensors it calls LibTorch's function or, if nothing
// is differentiated, that of affine.h. Call it by its qualified name, because LibTorch's function
// is also visible.
inline Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {}) {
  return at::GradMode::is_enabled() ? at::linear(x, weight, bias) : affine(x, weight, bias);
}
inline Traced linear(const Traced& x, const Tensor& weight, const Tensor& bias = {}) {
  return StepTrace::of(x).affine(x, weight, bias);
}
// The concatenated vectors.
inline Tensor joined(const std::vector<Tensor>& parts) { return at::cat(parts, 1); }
inline Traced joined(const std::vector<Traced>& parts) {
  return StepTrace::of(parts.front()).concat(parts);
}
// a_i b_j in row-major order, for each of so many equal parts of a and b
Tensor outer_product(const Tensor& a, const Tensor& b, std::int64_t groups = 1);
inline Traced outer_product(const Traced& a, const Traced& b, std::int64_t groups = 1) {
  return StepTrace::of(a).outer(a, b, groups);
}
// The product of a matrix, in row-major order, and a vector, for each of so many equal parts of
// both. A matrix with one row is a second vector; with one column, the vector is a factor.
Tensor matrix_vector(const Tensor& matrix, const Tensor& vector, std::int64_t groups = 1);
inline Traced matrix_vector(const Traced& matrix, const Traced& vector, std::int64_t groups = 1) {
  return StepTrace::of(vector).matvec(matrix, vector, groups);
}
// share a + (1 - share) b, share : B x 1
inline Tensor mix(const Tensor& share, const Tensor& a, const Tensor& b) {
  return share * a + (1 - share) * b;
}
inline Traced mix(const Traced& share, const Traced& a, const Traced& b) {
  return StepTrace::of(a).mix(share, a, b);
}
// gain (x - mean) / sqrt(variance + 1e-5) + bias, with the mean and the variance of each vector.
inline Tensor normalized(const Tensor& x, const Tensor& gain, const Tensor& bias) {
  return at::layer_norm(x, {gain.size(0)}, gain, bias);
}
inline Traced normalized(const Traced& x, const Tensor& gain, const Tensor& bias) {
  return StepTrace::of(x).normalize(x, gain, bias);
}
// 1 if a > b, else 0
inline Tensor larger(const Tensor& a, const Tensor& b) { return a.gt(b).to(a.scalar_type()); }
inline Traced larger(const Traced& a, const Traced& b) {
  return StepTrace::of(a).map(ArrayFunction::greater, {a, b});
}
inline Traced larger(const Traced& a, const Tensor& b) {
  return larger(a, StepTrace::of(a).constant(b));
}

// The greater number, of which each gets half of the gradient if they are equal.
inline Tensor greater_of(const Tensor& a, const Tensor& b) { return at::maximum(a, b); }
inline Traced greater_of(const Traced& a, const Traced& b) {
  return StepTrace::of(a).map(ArrayFunction::maximum, {a, b});
}
// log(1 + exp(x)), and the logarithm of the sigmoid of x. Call them by their qualified names.
inline Tensor softplus(const Tensor& x) { return at::softplus(x); }
inline Traced softplus(const Traced& x) {
  return StepTrace::of(x).map(ArrayFunction::softplus, {x});
}

inline Traced operator+(const Traced& a, const Traced& b) {
  return StepTrace::of(a).map(ArrayFunction::add, {a, b});
}
inline Traced operator-(const Traced& a, const Traced& b) {
  return StepTrace::of(a).map(ArrayFunction::subtract, {a, b});
}
inline Traced operator*(const Traced& a, const Traced& b) {
  return StepTrace::of(a).map(ArrayFunction::multiply, {a, b});
}
inline Traced operator/(const Traced& a, const Traced& b) {
  return StepTrace::of(a).map(ArrayFunction::divide, {a, b});
}
inline Traced operator/(const Tensor& a, const Traced& b) {
  return StepTrace::of(b).constant(a) / b;
}
inline Traced operator+(const Traced& a, const Tensor& b) {
  return a + StepTrace::of(a).constant(b);
}
inline Traced operator*(const Tensor& a, const Traced& b) {
  return StepTrace::of(b).constant(a) * b;
}
inline Traced operator*(double factor, const Traced& a) {
  return StepTrace::of(a).scale(a, factor, 0);
}
inline Traced operator*(const Traced& a, double factor) { return factor * a; }
inline Traced operator-(const Traced& a) { return -1.0 * a; }
inline Traced operator+(const Traced& a, double shift) {
  return StepTrace::of(a).scale(a, 1, shift);
}
inline Traced operator-(double shift, const Traced& a) {
  return StepTrace::of(a).scale(a, -1, shift);
}
template <class V>
V log_sigmoid(const V& x) {
  return -pushdown::softplus(-x);
}

}  // namespace pushdown
