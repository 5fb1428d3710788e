// The matrix products around recorded steps on raw memory: the output layer with its softmax, and
// the sums of outer products that are the gradients of weight matrices.
#pragma once
#include <algorithm>
#include <cstdint>

#include "kernel/isa.h"
#include "kernel/memory/memory_shape.h"

namespace pushdown {

// H hidden, V outcomes; padded sizes (…p) are multiples of kPadding numbers.
template <class F>
struct OutputLayer {
  const F* weight_t;  // H x Vp
  const F* weight;    // V x Hp
  const F* bias;      // Vp
  std::int64_t hidden = 0, outcomes = 0;
};

// out[i * out_row + j] += sum_{b, t} scales[b] a[b, t, i] c[b, t, j] for i = first .. end-1 and all
// j, summed in the order of b and t, where t ends before lengths[b]. Rows of `a` are read in whole
// vectors: up to two paddings after the last one must be readable.
template <class F>
struct OuterSum {
  std::int64_t sequences, steps;
  const F* a;
  std::int64_t a_sequence, a_step;
  const F* c;
  std::int64_t c_sequence, c_step, columns;
  const F* scales;  // one per sequence; null: all 1
  F* out;
  std::int64_t out_row, first, end;
  const std::int64_t* lengths = nullptr;  // one per sequence, at most steps; null: all `steps`

  std::int64_t steps_of(std::int64_t b) const { return lengths == nullptr ? steps : lengths[b]; }
};

// Rows that log_likelihood() processes together, so that the functions of one row need not wait for
// those of another.
constexpr std::int64_t likelihood_rows(std::int64_t outcomes) {
  return std::clamp<std::int64_t>(1024 / padded_size(outcomes), 1, 16);
}
constexpr std::int64_t likelihood_scratch(std::int64_t outcomes) {
  return likelihood_rows(outcomes) * (padded_size(outcomes) + 1);
}

template <class F>
struct DenseKernel {
  // Returns sum_t log softmax(W h_t + b)[targets_t], hidden : rows x H. With score_gradients : rows
  // x V (and room for a padding more), also computes its gradients, hidden_gradient : rows x Hp,
  // the last numbers of a row 0.
  // scratch : likelihood_scratch() numbers.
  double (*log_likelihood)(const OutputLayer<F>& layer, std::int64_t rows, const F* hidden,
                           const std::int64_t* targets, F* scratch, F* score_gradients,
                           F* hidden_gradient);
  void (*outer_sum)(const OuterSum<F>& sum);
  // to += scale from
  void (*add_scaled)(F* to, const F* from, F scale, std::int64_t count);
  // out[b] += sum_i x[b][i] w[i] for b = 0 .. rows-1, i = 0 .. count-1, with w in panels
  // (kernel/dense/panels.h) of `padded` columns in total; rows of out have room for as many. Every
  // sum is computed in the order of i.
  void (*add_products)(F* out, std::int64_t out_row, const F* x, std::int64_t x_row,
                       std::int64_t rows, std::int64_t count, const F* panels, std::int64_t padded);
  // Measures the multiply-add peak of one core: `rounds` times 16 independent chains of 64 vector
  // multiply-adds. Returns the number of scalar multiply-adds.
  std::int64_t (*multiply_add_loop)(std::int64_t rounds);
};

}  // namespace pushdown
