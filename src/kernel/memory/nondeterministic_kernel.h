// The hot loops of the nondeterministic stack (definition and notation: stack/nondeterministic.h),
// one sequence at a time, on raw memory.
//
// Memory of a sequence of n steps (nodes 0 .. n+1), element type F. Column j reaches down to node
// lowest(j): node 0, or j - D with a window. Number i*C + a of a row represents node i and
// configuration a; a row has the numbers first(j) .. end(j)-1.
//   columns : column j has C rows (target configuration b), P[i->j][a->b] at i*C + a, zero where
//             i < lowest(j) or i >= j; then for each of the m channels of a vector stack C rows of
//             V[i->j][a->b] in the same way
//   popped  : node j has Q rows r, the pop factors M of the step into node j, at k*C + (t,y)
//   forward : (n+2) x C, u_j[b];   mass : (n+2) x C, z_j[b]; both 0 if z_j[b] is below
//             AutomatonRange::least()
// and for the backward pass:
//   numerators : layout of columns, gradients of N[i->j][a->b] and of the numerators of V
//   popped_gradient : the gradients of the pop factors of one node, scratch
//   forward_gradients : (n+2) x C, gradients of the gauge-invariant forward weights, initially 0
//
// Cost of step j, in multiply-adds: Q C^2 d^2 / 2 for the pop rule, where d is the number of nodes
// of a column, and C^2 (C + Q) d for the rest; the backward step costs twice that.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernel/isa.h"

namespace pushdown {

inline constexpr int kMaxNondeterministicChannels = 256;
inline constexpr std::int64_t kNodePadding = 16;  // rows are padded to whole cache lines of floats

struct NondeterministicSize {
  int states = 0, symbols = 0;
  std::int64_t steps = 0;
  std::int64_t channels = 0;  // m of a vector stack
  std::int64_t window = 0;    // D of a limited memory; 0: unlimited
  // K: nodes 1 .. K+1 were taken over from an earlier run, whose steps count in `steps`.
  std::int64_t held = 0;

  PUSHDOWN_INLINE std::int64_t configurations() const { return std::int64_t{states} * symbols; }
  PUSHDOWN_INLINE std::int64_t actions() const { return 2 * configurations() + states; }
  PUSHDOWN_INLINE std::int64_t nodes() const { return steps + 2; }
  // The oldest node that column j reaches, and the last column that reaches node i.
  PUSHDOWN_INLINE std::int64_t lowest(std::int64_t j) const {
    return window == 0 || j < window ? 0 : j - window;
  }
  PUSHDOWN_INLINE std::int64_t highest(std::int64_t i) const {
    return window == 0 ? steps + 1 : i + window;
  }
  // The first step of this run that can pop through node j leads to this node.
  PUSHDOWN_INLINE std::int64_t first_pop(std::int64_t j) const {
    return j < held ? held + 2 : j + 2;
  }
  // The range of a row of column j.
  PUSHDOWN_INLINE std::int64_t first(std::int64_t j) const {
    return lowest(j) * configurations() / kNodePadding * kNodePadding;
  }
  PUSHDOWN_INLINE std::int64_t end(std::int64_t j) const {
    return (j * configurations() + kNodePadding - 1) / kNodePadding * kNodePadding;
  }
  PUSHDOWN_INLINE std::int64_t row(std::int64_t j) const { return end(j) - first(j); }
  // Number of rows of a column.
  PUSHDOWN_INLINE std::int64_t edge_rows() const { return (1 + channels) * configurations(); }
  // At least the length of every row.
  PUSHDOWN_INLINE std::int64_t longest_row() const {
    const std::int64_t unlimited = end(nodes()), limited = end(window) + 2 * kNodePadding;
    return window == 0 || unlimited < limited ? unlimited : limited;
  }
  // Sizes of forward_gradients and of popped_gradient.
  PUSHDOWN_INLINE std::int64_t forward_gradients() const { return end(nodes()); }
  PUSHDOWN_INLINE std::int64_t popped_gradient() const { return states * longest_row(); }

  bool operator==(const NondeterministicSize&) const = default;
};

template <class F>
struct NondeterministicMemory {
  NondeterministicSize size;
  // The total row length of all columns before j = 0 .. n+2.
  const std::int64_t* row_start;
  F* columns;
  F* popped;
  F* forward;
  F* mass;
  F* numerators = nullptr;
  F* forward_gradients = nullptr;
  F* popped_gradient = nullptr;

  // Row b of column j of `columns` or `numerators`; valid from first(j) on.
  PUSHDOWN_INLINE F* row(F* of, std::int64_t j, std::int64_t b) const {
    return column(of, j) + (b * size.row(j) - size.first(j));
  }
  // Start of the rows of column j.
  PUSHDOWN_INLINE F* column(F* of, std::int64_t j) const {
    return of + size.edge_rows() * row_start[j];
  }
  // Row r of the pop factors of the step into node j, and of their gradients.
  PUSHDOWN_INLINE F* factors(std::int64_t j, std::int64_t r) const {
    return popped + (size.states * row_start[j] + r * size.row(j) - size.first(j));
  }
  PUSHDOWN_INLINE F* factor_gradients(std::int64_t j, std::int64_t r) const {
    return popped_gradient + (r * size.longest_row() - size.first(j));
  }
};

// For one size, kernel_for<NondeterministicKernel<F>>(isa, states, symbols): specialised loops for
// the common sizes, generic ones for the rest.
template <class F>
struct NondeterministicKernel {
  // Computes node j = 2 .. n+1 from node j - 1. weights : C x W; vector : m, pushed by every push.
  void (*step)(const NondeterministicMemory<F>& memory, std::int64_t j, const F* weights,
               const F* vector);
  // The reverse of step, for j = last down to held + 2, where `last` is the last node that the loss
  // depends on. The caller sets the numerators of column `last` to 0. reading_gradient : (1 + m) x
  // C, see memory/nondeterministic.h; weight_gradient : C x W and vector_gradient : m, overwritten.
  void (*step_backward)(const NondeterministicMemory<F>& memory, std::int64_t j, std::int64_t last,
                        const F* weights, const F* vector, const F* reading_gradient,
                        F* weight_gradient, F* vector_gradient);
  // After the last step_backward: computes the gradient of column j, which no step of this run has
  // made, into numerators: column 1, the edge of the initial bottom symbol, or the columns taken
  // over, held + 1 first. Their masses must be 1.
  void (*finish_backward)(const NondeterministicMemory<F>& memory, std::int64_t j,
                          std::int64_t last, const F* reading_gradient);
};

}  // namespace pushdown
