// Causal self-attention of one sequence with several heads (Vaswani et al. 2017), on raw memory:
//   out_t = concat_h sum_{s<=t} share_ts v_s,   share_t = softmax_{s<=t}(q_t . k_s / sqrt(D))
// and its gradients. The shares are computed in blocks of queries and keys and are never all in
// memory: the forward pass keeps l_t = log sum_s exp(q_t . k_s / sqrt(D)), from which the backward
// pass computes the shares of a block again (Dao et al. 2022):
//   d score_ts = share_ts (d out_t . v_s - d out_t . out_t)
//
// An encoding of positions changes the scores score_ts = q_t . k_s / sqrt(D):
//   rotary    the pair of numbers 2i, 2i + 1 of q_t is rotated by the angle t f_i, that of k_s by
//             s f_i, f_i = 10000^(-2i/D) (Su et al. 2021)
//   alibi     score_ts - m_h (t - s), m_h the slope of head h (Press et al. 2022)
//   relative  ((q_t + u) . k_s + (q_t + w) . r_{t-s}) / sqrt(D), where r is the vector of a
//   distance
//             (Dai et al. 2019)
//
// Letters: T rows (times), D size of a head. Row t of a matrix begins at number t * row; head h is
// in columns h D .. h D + D - 1.
#pragma once
#include <cstdint>

#include "kernel/attention_encoding.h"
#include "kernel/isa.h"
#include "kernel/memory/memory_shape.h"

namespace pushdown {

// f_i of a head of D numbers.
PUSHDOWN_INLINE double rotary_frequency(std::int64_t pair, std::int64_t head_size) {
  return __builtin_pow(10000.0, -2.0 * static_cast<double>(pair) / static_cast<double>(head_size));
}
// m_h. Of P heads, P a power of two, it is 2^(-8 (h + 1) / P). Of other numbers, the heads from the
// next lower power on have every second slope of twice as many (the authors' program).
PUSHDOWN_INLINE double alibi_slope(std::int64_t head, std::int64_t heads) {
  std::int64_t power = 1;
  while (2 * power <= heads) power *= 2;
  const std::int64_t eighths = head < power ? 8 * (head + 1) : 4 * (2 * (head - power) + 1);
  return __builtin_exp2(-static_cast<double>(eighths) / static_cast<double>(power));
}

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
  AttentionEncoding encoding = AttentionEncoding::none;
  // Of relative encodings: row t of `distances` is r_t; u and w.
  AttentionRows<const F> distances = {};                      // T x heads D
  const F *content_bias = nullptr, *distance_bias = nullptr;  // heads D
};

// All gradients but that of the result are added to those that are there; null: not wanted.
template <class F>
struct AttentionSlopes {
  AttentionRows<const F> out;
  AttentionRows<F> queries, keys, values;
  AttentionRows<F> distances = {};
  F *content_bias = nullptr, *distance_bias = nullptr;
};

template <class F>
struct AttentionKernel {
  void (*forward)(const Attention<F>& attention, F* scratch);
  // Reads the results of forward().
  void (*backward)(const Attention<F>& attention, const AttentionSlopes<F>& slopes, F* scratch);
};

// Returns how many numbers of scratch both passes need.
inline std::int64_t attention_scratch(std::int64_t rows, std::int64_t head_size,
                                      AttentionEncoding encoding) {
  const bool relative = encoding == AttentionEncoding::relative;
  const std::int64_t matrices = relative                                ? 12
                                : encoding == AttentionEncoding::rotary ? 9
                                                                        : 8,
                     blocks = relative ? 8 : 4, block = 96 * 32, columns = padded_size(head_size);
  return matrices * (padded_size(rows) + 32) * columns + blocks * (block + 32 * columns);
}

}  // namespace pushdown
