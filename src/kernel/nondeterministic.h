// The hot loops of the nondeterministic stack (definition and notation: stack/nondeterministic.h),
// one sequence at a time, on raw memory.
//
// Memory of a sequence of n steps (nodes 0 .. n+1), element type F:
//   columns : column j holds C rows (target configuration b) of row(j) numbers, P[i->j][a->b] at
//             i*C + a, zero from j*C on; then for each of the m channels of a vector stack C rows
//             of V[i->j][a->b] alike
//   forward : (n+2) x C, u_j[b];   mass : (n+2) x C, z_j[b]
//   popped  : (n+2) x Q x (n+2)*C, the pop factors M of the step into node j, [j][r][k*C + (t,y)]
// and for the backward pass:
//   numerators : layout of columns, gradients of N[i->j][a->b] and of the numerators of V
//   forward_gradients : (n+2) x C, gradients of the gauge-invariant forward weights, 0 at first
//
// Cost of step j, in multiply-adds: Q C^2 j^2 / 2 for the pop rule, C^2 (C + Q) j for the rest; the
// backward step twice that.
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

  PUSHDOWN_INLINE std::int64_t configurations() const { return std::int64_t{states} * symbols; }
  PUSHDOWN_INLINE std::int64_t actions() const { return 2 * configurations() + states; }
  PUSHDOWN_INLINE std::int64_t nodes() const { return steps + 2; }
  // Length of one row of column j.
  PUSHDOWN_INLINE std::int64_t row(std::int64_t j) const {
    return (j * configurations() + kNodePadding - 1) / kNodePadding * kNodePadding;
  }
  // All rows of column j.
  PUSHDOWN_INLINE std::int64_t column(std::int64_t j) const {
    return (1 + channels) * configurations() * row(j);
  }
  // Length of a row of pop factors, and of all factors of a node.
  PUSHDOWN_INLINE std::int64_t popped_row() const { return row(nodes()); }
  PUSHDOWN_INLINE std::int64_t popped_node() const { return states * popped_row(); }

  bool operator==(const NondeterministicSize&) const = default;
};

template <class F>
struct NondeterministicMemory {
  NondeterministicSize size;
  const std::int64_t* column_start;  // of column j = 0 .. n+1, in numbers; [n+2] is the total
  F* columns;
  F* forward;
  F* mass;
  F* popped;
  F* numerators = nullptr;
  F* forward_gradients = nullptr;
};

template <class F>
struct NondeterministicKernel {
  // Node j = 2 .. n+1 from node j - 1. weights : C x W; vector : m, pushed by every push.
  void (*step)(const NondeterministicMemory<F>& memory, std::int64_t j, const F* weights,
               const F* vector);
  // The reverse of step, for j = last down to 2, `last` being the last node that the loss depends
  // on. reading_gradient : (1 + m) x C, see
  // scan_stacks.h; weight_gradient : C x W and
  // vector_gradient : m, overwritten.
  void (*step_backward)(const NondeterministicMemory<F>& memory, std::int64_t j, std::int64_t last,
                        const F* weights, const F* vector, const F* reading_gradient,
                        F* weight_gradient, F* vector_gradient);
  // Behind the last step_backward, the gradient of column 1, the edge of the initial bottom symbol,
  // into numerators. Its mass must be 1 for configuration 0.
  void (*finish_backward)(const NondeterministicMemory<F>& memory, std::int64_t last,
                          const F* reading_gradient);
};

// The kernel for a size: specialised loops for the common sizes, generic ones for the rest.
template <class F>
NondeterministicKernel<F> nondeterministic_kernel(Isa isa, int states, int symbols);

}  // namespace pushdown
