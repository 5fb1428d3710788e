// The table of the operations of step programs (step_program.h): what other code needs to know of
// an operation besides its loops. Texts, what a run must keep, which operations set gradients, and
// where teams of threads need barriers follow from its row. Its loops forward and backward are in
// step_nodes.h and step_gradients.h for the CPU, and in what recurrence/device/source_pass.h prints
// for devices.
//
// Elementwise functions are one operation, `map`; their table is kernel/array/function_table.h.
#pragma once
#include <cstdint>

namespace pushdown {

enum class StepOp : std::uint8_t {
  sequence,   // given for every step
  constant,   // given once, the same at all steps and for all sequences
  symbols,    // one-hot vectors of StepProgram::symbols
  previous,   // a, one step before; before the first step, the given value
  held,       // given once for each sequence: content that a memory takes over from an earlier run
  room,       // one memory for all steps of a sequence, in which array a writes each number once
  slice,      // numbers offset .. offset + size - 1 of a
  concat,     // its operands, concatenated
  affine,     // the sum of its terms W x and of its operands
  map,        // the elementwise `function` of a, b and c, as many as it has
  scale,      // factor a + shift
  softmax,    // over each `offset` consecutive numbers
  greatest,   // 1 at the greatest of each `offset` numbers, else 0; no gradient
  outer,      // a_i b_j, row i after row i - 1; of each of `offset` groups of a and b
  matvec,     // the product of a matrix, a, with a vector, b; of each of `offset` groups
  mix,        // c a + (1 - c) b, c one number
  array,      // an array program (kernel/array/program.h) over its operands
  normalize,  // layer normalization of a with the gain b and the bias c
  attention,  // causal, in no loop; queries a, keys b, values c; heads of `offset` numbers. The
              // operands of relative `encoding`: the vectors of distances, and both biases
  memory,     // a stack; a: its actions, b: its initial content or -1. Value: the reading
  left,       // the final content of memory a for a later run: one value, after the last step
  // Gates of cells, found in the recorded operations (recurrence/program/step_fusion.h). Their
  // activations replace the numbers of a.
  lstm_cell,    // sigmoid(f) b + sigmoid(i) tanh(g), where a is i, f, g, o; o becomes sigmoid(o)
  lstm_hidden,  // b tanh(a), where b is the part sigmoid(o); stores tanh(a) in c
  gru,          // n + z (c - n), where a and b are parts that add up to r, z and, with r b, to n
  kept,         // numbers that a node stores for its backward pass
};

// Which thread of a team works with a number, and whether it writes it.
enum class Access : std::uint8_t {
  none,
  own,    // thread i with number i
  parts,  // thread i with number i of every part of as many numbers as the result has
  all,    // any thread
  writes_own,
  writes_parts,
  writes_all,
};
// In the backward pass, the gradients of what a node reads are written, and its own is read.
struct StepAccesses {
  Access a = Access::none, b = Access::none, c = Access::none;
  Access operands = Access::none, terms = Access::none;
  Access result = Access::none;
};

struct StepOperation {
  // Where the numbers of a result come from.
  enum class Source : std::uint8_t {
    step,      // the operation computes them at every step
    other,     // another operation computes them at every step
    given,     // given for every step
    once,      // one row for all steps
    elsewhere  // they are a part of another node's rows
  };
  // What the backward pass of a step uses, besides the operands of products.
  enum class Keeps : std::uint8_t { nothing, result, operands, both };

  StepOp op;
  const char* name;  // in texts
  Source source = Source::step;
  Keeps keeps = Keeps::nothing;
  StepAccesses forward, backward;
  // Whether the operation contributes to all numbers of the gradient of a (of b) at every step; of
  // gates: of the first three parts.
  bool always_a = false, always_b = false;
  bool has_gradient = true;
  bool on_devices = true;
  int multiply_adds = 0;  // for each number, without products

  // Whether the rows of all steps, and those of their gradients, are the node's own.
  constexpr bool owns_rows() const { return source != Source::once && source != Source::elsewhere; }
  constexpr bool is_computed() const { return source == Source::step || source == Source::other; }
  constexpr bool keeps_result() const { return keeps == Keeps::result || keeps == Keeps::both; }
  constexpr bool keeps_operands() const { return keeps == Keeps::operands || keeps == Keeps::both; }
};

namespace step_operation_rows {
using enum Access;
using enum StepOperation::Source;
using enum StepOperation::Keeps;

inline constexpr StepOperation kRows[] = {
    {.op = StepOp::sequence, .name = "input", .source = given},
    {.op = StepOp::constant, .name = "parameter", .source = once},
    {.op = StepOp::symbols, .name = "symbol", .forward = {.result = writes_own}},
    {.op = StepOp::previous, .name = "previous", .source = elsewhere},
    {.op = StepOp::held, .name = "held", .source = once},
    {.op = StepOp::room, .name = "appended", .source = once},
    {.op = StepOp::slice, .name = "slice", .source = elsewhere},
    // Thread i has number i of an operand and of the part that it becomes.
    {.op = StepOp::concat,
     .name = "cat",
     .forward = {.operands = own, .result = writes_parts},
     .backward = {.operands = writes_own, .result = parts}},
    {.op = StepOp::affine,
     .name = "affine",
     .forward = {.operands = all, .terms = all, .result = writes_all},
     .backward = {.operands = writes_own, .terms = writes_own, .result = all}},
    {.op = StepOp::map,
     .name = "map",
     .forward = {.a = own, .b = own, .c = own, .result = writes_own},
     .backward = {.a = writes_own, .b = writes_own, .c = writes_own, .result = own},
     .always_a = true,
     .always_b = true},
    {.op = StepOp::scale,
     .name = "scale",
     .forward = {.a = own, .result = writes_own},
     .backward = {.a = writes_own, .result = own},
     .always_a = true,
     .multiply_adds = 1},
    {.op = StepOp::softmax,
     .name = "softmax",
     .keeps = result,
     .forward = {.a = all, .result = writes_all},
     .backward = {.a = writes_own, .result = all}},
    {.op = StepOp::greatest,
     .name = "greatest",
     .forward = {.a = all, .result = writes_all},
     .has_gradient = false},
    {.op = StepOp::outer,
     .name = "outer",
     .keeps = operands,
     .forward = {.a = all, .b = all, .result = writes_own},
     .backward = {.a = writes_own, .b = writes_own, .result = all},
     .multiply_adds = 1},
    {.op = StepOp::matvec,
     .name = "matvec",
     .keeps = operands,
     .forward = {.a = all, .b = all, .result = writes_own},
     .backward = {.a = writes_own, .b = writes_own, .result = all}},
    {.op = StepOp::mix,
     .name = "mix",
     .keeps = operands,
     .forward = {.a = own, .b = own, .c = all, .result = writes_own},
     .backward = {.a = writes_own, .b = writes_own, .c = writes_all, .result = all},
     .always_a = true,
     .always_b = true},
    // The backward pass computes the results again.
    {.op = StepOp::array,
     .name = "array",
     .keeps = both,
     .forward = {.operands = all, .result = writes_all},
     .backward = {.operands = writes_all, .result = writes_all}},
    {.op = StepOp::normalize, .name = "normalize", .keeps = operands, .on_devices = false},
    {.op = StepOp::attention, .name = "attention", .keeps = both, .on_devices = false},
    {.op = StepOp::memory,
     .name = "memory",
     .forward = {.a = all, .result = writes_all},
     .backward = {.a = writes_own, .result = all}},
    {.op = StepOp::left, .name = "left", .source = once},
    {.op = StepOp::lstm_cell,
     .name = "lstm c",
     .keeps = operands,
     .forward = {.a = writes_parts, .b = own, .result = writes_own},
     .backward = {.a = writes_parts, .b = writes_own, .result = own},
     .always_a = true,
     .always_b = true,
     .multiply_adds = 3},
    {.op = StepOp::lstm_hidden,
     .name = "lstm h",
     .keeps = operands,
     .forward = {.a = own, .b = own, .c = writes_own, .result = writes_own},
     .backward = {.a = writes_own, .b = writes_own, .result = own},
     .always_a = true,
     .always_b = true,
     .multiply_adds = 1},
    {.op = StepOp::gru,
     .name = "gru",
     .keeps = operands,
     .forward = {.a = writes_parts, .b = parts, .c = own, .result = writes_own},
     .backward = {.a = writes_parts, .b = writes_parts, .c = writes_own, .result = own},
     .always_a = true,
     .always_b = true,
     .multiply_adds = 7},
    {.op = StepOp::kept, .name = "kept", .source = other},
};
inline constexpr int kCount = sizeof(kRows) / sizeof(kRows[0]);
static_assert([] {
  for (int k = 0; k < kCount; ++k)
    if (static_cast<int>(kRows[k].op) != k) return false;
  return kCount == static_cast<int>(StepOp::kept) + 1;
}());

}  // namespace step_operation_rows

constexpr const StepOperation& row_of(StepOp op) {
  return step_operation_rows::kRows[static_cast<int>(op)];
}

// Operations as the bits of a number, for kernels, which cannot read the table on a device.
template <class Wanted>
constexpr std::uint32_t operations_with(const Wanted& wanted) {
  std::uint32_t bits = 0;
  for (const StepOperation& row : step_operation_rows::kRows)
    if (wanted(row)) bits |= std::uint32_t{1} << static_cast<int>(row.op);
  return bits;
}
inline constexpr std::uint32_t kOwnsRows =
    operations_with([](const StepOperation& row) { return row.owns_rows(); });
inline constexpr std::uint32_t kComputes = operations_with(
    [](const StepOperation& row) { return row.source == StepOperation::Source::step; });

}  // namespace pushdown
