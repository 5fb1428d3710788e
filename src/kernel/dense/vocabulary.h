// The output layer over a vocabulary, for many hidden vectors at once, on raw memory:
//   log p_r = log softmax(W h_r + b)[target_r],   r = 0 .. N-1
// and its gradients. With e_rv = exp(score_rv - max_v score_rv), Z_r = sum_v e_rv and slopes g_r
//   d/dh_r = g_r (W[target_r] - 1/Z_r sum_v e_rv W[v])
//   d/dW   = sum_r g_r (onehot(target_r) - e_r / Z_r) h_r^T,   d/db likewise with 1 for h_r.
// The scores are computed once and stored as e, in panels, in which all three products read them.
// Each row of W is used for dozens of hidden vectors at a time. The caller adds the terms of the
// targets, one row each.
//
// Letters: N rows, H hidden, V outcomes. Padded sizes (…p) are multiples of kPadding numbers.
#pragma once
#include <cstdint>

#include "kernel/dense/panels.h"

namespace pushdown {

template <class F>
struct VocabularyLayer {
  const F* transposed;  // W^T : H x V in panels (kernel/dense/panels.h)
  const F* straight;    // W : V x H in panels
  const F* bias;        // Vp, the padding smaller than any score
  std::int64_t hidden = 0, outcomes = 0;
};

// Number of rows processed at once: the more of them, the more rarely the weights are read, but the
// scores of few rows stay in the core's own cache.
inline constexpr std::int64_t kVocabularyRows = 96;
inline std::int64_t vocabulary_rows(std::int64_t hidden) {
  return hidden < 192 ? 24 : kVocabularyRows;
}

// Returns how many numbers the exponentials of N rows take. Row r of the panel that begins with
// column c begins at number c * N + r * kPanel.
inline std::int64_t vocabulary_panels(std::int64_t outcomes, std::int64_t rows) {
  return (outcomes + kPanel - 1) / kPanel * kPanel * rows;
}

// Rows first .. first+count-1 of N = all.
template <class F>
struct VocabularyRows {
  std::int64_t all = 0, first = 0, count = 0;  // count: at most kVocabularyRows
  const F* hidden = nullptr;                   // N x H
  const std::int64_t* targets = nullptr;       // N, below V; negative: log p = 0
  F* exponentials = nullptr;                   // e, see vocabulary_panels()
  F* totals = nullptr;                         // Z : N
  F* log_probabilities = nullptr;              // N
  F* mean_weight = nullptr;                    // 1/Z sum_v e_v W[v] : N x Hp; null: not wanted
};

// Adds sum_r e_rv (c_r, 1) for v = first .. end-1, where first is a multiple of kPanel.
template <class F>
struct VocabularySums {
  std::int64_t all = 0, first = 0, end = 0, columns = 0;
  const F* exponentials = nullptr;
  const F* factors = nullptr;  // N x columns in panels
  F* out = nullptr;            // V x (columns - 1)
  F* last = nullptr;           // V: of the last column
};

template <class F>
struct VocabularyKernel {
  void (*rows)(const VocabularyLayer<F>& layer, const VocabularyRows<F>& rows);
  void (*sums)(const VocabularySums<F>& sums);
};

}  // namespace pushdown
