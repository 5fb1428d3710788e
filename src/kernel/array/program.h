// Array programs: the operations of a step on small arrays of one sequence, as instructions. They
// are recorded from functions that a script defines (src/array) and run inside step programs
// (kernel/step/step_program.h, StepOp::array), forward and backward.
//
// A program has instructions for each step, because arrays may grow from step to step. Numbers are
// stored in buffers: the inputs, then the output, the constants, and the memory of the step. An
// instruction runs over an index space of up to kArrayDims dimensions and reads and writes numbers
// through views: the number at index i of the space is at offset + sum of i_d stride_d. Every
// number is written only once.
#pragma once
#include <cstdint>

#include "kernel/memory/memory_shape.h"

namespace pushdown {

inline constexpr int kArrayDims = 6;

// Elementwise functions. Masks are 1 and 0.
enum class ArrayFunction : std::uint8_t {
  copy,  // a
  stop,  // a, without gradient
  add,
  subtract,
  multiply,
  multiply_add,  // a b + c
  divide,
  negate,
  maximum,
  minimum,
  at_least,  // a, or b if a is less; the gradient goes to a if they are equal
  at_most,
  power,
  remainder,  // with the sign of b
  exp,
  log,
  log1p,
  expm1,
  tanh,
  sigmoid,
  relu,
  softplus,
  sqrt,
  abs,
  sign,
  sin,
  cos,
  erf,
  floor,
  ceil,
  round,
  is_nan,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  both,
  either,
  none_of,  // 1 if a is 0
  choose,   // b if a is not 0, else c
};

// Kinds of instructions. All except `map` have one function and one or two views, and work along
// the last dimension.
enum class ArrayKind : std::uint8_t {
  map,  // elementwise: a list of functions
  sum,
  product,
  greatest,
  least,
  logsumexp,
  softmax,
  log_softmax,
  running_sum,
  running_product,
  contraction,  // the sum of the products of two arrays
};

struct ArrayView {
  int buffer = 0;
  std::int64_t offset = 0;
  std::int64_t stride[kArrayDims] = {};
  bool gradient = false;  // whether gradients flow into it

  bool operator==(const ArrayView&) const = default;
};

// One function of a map. Operand k is number k of the instruction's views; ~k is the result of
// function number k.
struct ArrayCall {
  ArrayFunction function;
  int a = 0, b = 0, c = 0;
  bool gradient = false;
  bool single = false;  // used by one function, once

  bool operator==(const ArrayCall&) const = default;
};

// Limits of one map; a longer chain becomes several maps.
inline constexpr int kArrayCalls = 16, kArrayViews = 16;

struct ArrayInstruction {
  ArrayKind kind = ArrayKind::map;
  int dims = 1;
  std::int64_t shape[kArrayDims] = {};
  ArrayView out;
  int first_view = 0, views = 0;
  int first_call = 0, calls = 0;  // of a map; 0 for a copy

  bool operator==(const ArrayInstruction&) const = default;
};

struct ArrayStep {
  int first = 0, end = 0;   // instructions
  std::int64_t memory = 0;  // size of the step's own memory in numbers
  bool operator==(const ArrayStep&) const = default;
};

// A program in the form that kernels read. Step t runs steps[min(t, step_count - 1)].
template <class F>
struct ArrayCode {
  const ArrayInstruction* instructions;
  const ArrayView* views;
  const ArrayCall* calls;
  const ArrayStep* steps;
  std::int64_t step_count;
  const F* constants;
  int inputs;
  std::int64_t memory;  // maximum over all steps, with room for whole vectors

  int output() const { return inputs; }
  int constant() const { return inputs + 1; }
  int own() const { return inputs + 2; }
  const ArrayStep& at(std::int64_t t) const { return steps[t < step_count ? t : step_count - 1]; }
  bool is_idle(std::int64_t t) const { return at(t).first == at(t).end; }
};

}  // namespace pushdown
