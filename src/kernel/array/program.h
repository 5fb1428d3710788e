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

#include "kernel/array/function_table.h"
#include "kernel/memory/memory_shape.h"

namespace pushdown {

inline constexpr int kArrayDims = 6;

// Instructions that work along the last dimension of one view: the name, the text, and whether the
// result is one number. Their rows are in kernel/array/lines.h.
#define PUSHDOWN_LINES(ROW)              \
  ROW(sum, "sum", true)                  \
  ROW(product, "prod", true)             \
  ROW(greatest, "max", true)             \
  ROW(least, "min", true)                \
  ROW(logsumexp, "logsumexp", true)      \
  ROW(softmax, "softmax", false)         \
  ROW(log_softmax, "log_softmax", false) \
  ROW(running_sum, "cumsum", false)      \
  ROW(running_product, "cumprod", false)

enum class ArrayKind : std::uint8_t {
  map,  // elementwise: a list of functions
#define PUSHDOWN_LINE_NAME(name, ...) name,
  PUSHDOWN_LINES(PUSHDOWN_LINE_NAME)
#undef PUSHDOWN_LINE_NAME
  // The sum over the last dimension of the products of two views.
  contraction
};
struct ArrayKindFacts {
  const char* text;
  bool shortens;
};
// clang-format off
inline constexpr ArrayKindFacts kArrayKindFacts[] = {
    {"map", false},
#define PUSHDOWN_LINE_FACTS(name, ...) {__VA_ARGS__},
    PUSHDOWN_LINES(PUSHDOWN_LINE_FACTS)
#undef PUSHDOWN_LINE_FACTS
    {"matmul", true}};
// clang-format on
constexpr const ArrayKindFacts& facts_of(ArrayKind kind) {
  return kArrayKindFacts[static_cast<int>(kind)];
}
// The kinds that shorten, as bits, for devices.
inline constexpr std::uint32_t kShortening = [] {
  std::uint32_t bits = 0, bit = 1;
  for (const ArrayKindFacts& facts : kArrayKindFacts) {
    if (facts.shortens) bits |= bit;
    bit *= 2;
  }
  return bits;
}();

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
