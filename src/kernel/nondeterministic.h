// The hot loops of the nondeterministic stack (definition and notation: stack/nondeterministic.h),
// one sequence at a time, on raw memory.
//
// Memory of a sequence of n steps (nodes 0 .. n+1), element type F:
//   columns : column j holds C rows (target configuration b) of row(j) numbers, P[i->j][a->b] at
//             i*C + a, zero from j*C on
//   forward : (n+2) x C, u_j[b];   mass : (n+2) x C, z_j[b]
//   popped  : (n+2) x Q x (n+2)*C, the pop factors M of the step into node j, [j][r][k*C + (t,y)]
// and for the backward pass:
//   numerators : layout of columns, gradients of N[i->j][a->b]
//   forward_gradients : (n+2) x C, gradients of the gauge-invariant forward weights, 0 at first
//
// Cost of step j, in multiply-adds: Q C^2 j^2 / 2 for the pop rule, C^2 (C + Q) j for the rest; the
// backward step twice that.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernel/isa.h"

namespace pushdown {

inline constexpr std::int64_t kNodePadding = 16;  // rows are padded to whole cache lines of floats

struct NondeterministicSize {
  int states = 0, symbols = 0;
  std::int64_t steps = 0;

  std::int64_t configurations() const { return std::int64_t{states} * symbols; }
  std::int64_t actions() const { return 2 * configurations() + states; }
  std::int64_t nodes() const { return steps + 2; }
  // Length of one row of column j.
  std::int64_t row(std::int64_t j) const {
    return (j * configurations() + kNodePadding - 1) / kNodePadding * kNodePadding;
  }
  // Length of a row of pop factors, and of all factors of a node.
  std::int64_t popped_row() const { return row(nodes()); }
  std::int64_t popped_node() const { return states * popped_row(); }
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
  // Node j = 2 .. n+1 from node j - 1. weights : C x W.
  void (*step)(const NondeterministicMemory<F>& memory, std::int64_t j, const F* weights);
  // The reverse of step, for j = last down to 2, `last` being the last node that the loss depends
  // on. forward_gradient : C, the gradient of u_j; weight_gradient : C x W, overwritten.
  void (*step_backward)(const NondeterministicMemory<F>& memory, std::int64_t j, std::int64_t last,
                        const F* weights, const F* forward_gradient, F* weight_gradient);
};

// The kernel for a size: specialised loops for the common sizes, generic ones for the rest.
template <class F>
NondeterministicKernel<F> nondeterministic_kernel(Isa isa, int states, int symbols);

}  // namespace pushdown
