// The hot loops of the nondeterministic stack (definition and notation: stack/nondeterministic.h),
// one sequence at a time, on raw memory.
//
// Memory of a sequence of n steps (nodes 0 .. n+1), element type F:
//   column j : C rows (target configuration b), each of pad(j*C) numbers, P[i->j][a->b] at i*C + a;
//              the padding stays 0
//   forward  : (n+2) x C, u_j[b];   mass : (n+2) x C, z_j[b];   total : n+2, sum_b z_j[b]
// The backward pass accumulates into column_gradient (same layout as the columns) and
// forward_gradient, and leaves both 0 behind the node that it has processed.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernel/isa.h"

namespace pushdown {

inline constexpr std::int64_t kNodePadding = 16;  // numbers; one or two vector registers

struct NondeterministicSize {
  int states = 0, symbols = 0;
  std::int64_t steps = 0;

  std::int64_t configurations() const { return std::int64_t{states} * symbols; }
  std::int64_t actions() const { return 2 * configurations() + states; }
  // Length of one row of column j.
  std::int64_t row(std::int64_t j) const {
    return (j * configurations() + kNodePadding - 1) / kNodePadding * kNodePadding;
  }
  // Start of column j: sum_{i<j} C * row(i).
  std::int64_t column(std::int64_t j) const {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < j; ++i) sum += row(i);
    return configurations() * sum;
  }
};

template <class F>
struct NondeterministicMemory {
  NondeterministicSize size;
  const std::int64_t* column_start;  // column(j), j = 0 .. n+2
  F* columns;
  F* forward;
  F* mass;
  F* total;
  F* popped;                       // scratch: Q x (n+2)*C
  F* column_gradients = nullptr;   // only for the backward pass
  F* forward_gradients = nullptr;  // (n+2) x C
  F* popped_gradients = nullptr;   // scratch: Q x (n+2)*C
};

template <class F>
struct NondeterministicKernel {
  // Node j = 2 .. n+1 from node j - 1. weights : C x W.
  void (*step)(const NondeterministicMemory<F>& memory, std::int64_t j, const F* weights);
  // The reverse of step, for j = n+1 down to 2. forward_gradient : C, the gradient of u_j;
  // weight_gradient : C x W, overwritten.
  void (*step_backward)(const NondeterministicMemory<F>& memory, std::int64_t j, const F* weights,
                        const F* forward_gradient, F* weight_gradient);
};

// The kernel for a size: specialised loops for the common sizes, generic ones for the rest.
template <class F>
NondeterministicKernel<F> nondeterministic_kernel(Isa isa, int states, int symbols);

}  // namespace pushdown
