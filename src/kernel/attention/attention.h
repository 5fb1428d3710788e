// Causal self-attention of one sequence with several heads (Vaswani et al. 2017), on raw memory:
//   out_t = concat_h sum_{s<=t} share_ts v_s,   share_t = softmax_{s<=t}(q_t . k_s / sqrt(D))
// and its gradients. The shares are computed in blocks of queries and keys and are never all in
// memory: the forward pass keeps l_t = log sum_s exp(q_t . k_s / sqrt(D)), from which the backward
// pass computes the shares of a block again (Dao et al. 2022):
//   d score_ts = share_ts (d out_t . v_s - d out_t . out_t)
//
// Letters: T rows (times), D size of a head. Row t of a matrix begins at number t * row; head h is
// in columns h D .. h D + D - 1.
#pragma once
#include <cstdint>

#include "kernel/memory/memory_shape.h"

namespace pushdown {

template <class F>
struct AttentionRows {
  F* first = nullptr;
  std::int64_t row = 0;
};

template <class F>
struct Attention {
  std::int64_t rows = 0, heads = 0, head_size = 0;  // T, heads, D
  AttentionRows<const F> queries, keys, values;     // T x heads D
  AttentionRows<F> out;                             // T x heads D
  AttentionRows<F> log_sums;                        // l : T x heads
  // Both passes return early, with meaningless numbers, once it is not 0. Null: they do not.
  const int* stop = nullptr;
};

// The gradients of queries, keys and values are added to those that are there; null: not wanted.
template <class F>
struct AttentionSlopes {
  AttentionRows<const F> out;
  AttentionRows<F> queries, keys, values;
};

template <class F>
struct AttentionKernel {
  void (*forward)(const Attention<F>& attention, F* scratch);
  // Reads the results of forward().
  void (*backward)(const Attention<F>& attention, const AttentionSlopes<F>& slopes, F* scratch);
};

// Returns how many numbers of scratch both passes need.
inline std::int64_t attention_scratch(std::int64_t rows, std::int64_t head_size) {
  constexpr std::int64_t kMatrices = 8, kBlocks = 4, kBlock = 96 * 32;
  const auto columns = padded_size(head_size);
  return kMatrices * (padded_size(rows) + 32) * columns + kBlocks * (kBlock + 32 * columns);
}

}  // namespace pushdown
