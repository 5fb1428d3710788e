// The loops of memories for teams of threads, see loops.h.
#pragma once
#include "kernel/device_team.h"

namespace pushdown::device {

inline constexpr Index kRowPadding = 0;
PUSHDOWN_HOST_DEVICE Index row_size(Index count) { return count; }

// Calls body(i) for i = first .. end-1, by the owner of number i.
template <class Team, class Body>
PUSHDOWN_DEVICE void each_between(const Team& team, Index first, Index end, const Body& body) {
  Index i = first - first % team.size() + team.id();
  if (i < first) i += team.size();
  for (; i < end; i += team.size()) body(i);
}
template <class F, class Team>
PUSHDOWN_DEVICE void sigmoids(const Team& team, const F* x, F* y, Index count) {
  each(team, count, [&](Index i) { y[i] = sigmoid(x[i]); });
}
template <class F, class Team>
PUSHDOWN_DEVICE void tanhs(const Team& team, const F* x, F* y, Index count) {
  each(team, count, [&](Index i) { y[i] = std::tanh(x[i]); });
}
// Computes softmax distributions of several groups over the values 0, 1, ..., and their
// expectations.
template <class F, class Team>
PUSHDOWN_DEVICE void expected_values(const Team& team, const F* given, F* chances, F* expected,
                                     Index groups, Index values) {
  each(team, groups, [&](Index k) {
    const F* scores = given + k * values;
    F* chance = chances + k * values;
    F largest = scores[0], sum = 0, mean = 0;
    for (Index i = 1; i < values; ++i) largest = scores[i] > largest ? scores[i] : largest;
    for (Index i = 0; i < values; ++i) sum += chance[i] = exponential(scores[i] - largest);
    for (Index i = 0; i < values; ++i) {
      chance[i] /= sum;
      mean += static_cast<F>(i) * chance[i];
    }
    expected[k] = mean;
  });
}
template <class F>
PUSHDOWN_DEVICE F dot(const F* x, const F* y, Index count) {
  F sum = 0;
  for (Index i = 0; i < count; ++i) sum += x[i] * y[i];
  return sum;
}

// Writes the weights of the actions and after them the value, `width` numbers each, to rows whose
// padding becomes 0. given: the weights of each of the memories side by side | the value.
template <class F, class Team>
PUSHDOWN_DEVICE void spread_actions(const Team& team, F* rows, const F* given, Index width,
                                    Index row, Index count, Index memories) {
  const Index part = width / memories;
  each(team, row, [&](Index k) {
    for (Index a = 0; a < count; ++a)
      rows[a * row + k] = k >= width ? F(0) : given[k / part * count + a];
    rows[count * row + k] = k < width ? given[count * memories + k] : F(0);
  });
}

// One thread for each number.
template <class F, class Team, class From, class Run>
PUSHDOWN_DEVICE void mix(const Team& team, F* to, Index rows, Index width, Index count,
                         const F* weights, const From& from, const Run&) {
  each(team, rows * width, [&](Index i) {
    const Index cell = i / width, k = i - cell * width;
    F sum = 0;
    for (Index a = 0; a < count; ++a)
      if (const F* source = from(a, cell)) sum += weights[a * width + k] * source[k];
    to[i] = sum;
  });
}

PUSHDOWN_HOST_DEVICE Index product_scratch(Index, Index) { return 0; }
// One group for each sum.
template <class F, class Team, class From, class Run>
PUSHDOWN_DEVICE void sum_products(const Team& team, F* out, const F* given, Index rows, Index width,
                                  Index count, Index memories, const From& from, const Run&, F*) {
  const Index part = width / memories;
  sums<F>(
      team, count * memories, [&](Index) { return rows * part; },
      [&](Index i) {
        const Index memory = i / count, a = i - memory * count;
        return [&, a, memory](Index term) {
          const Index cell = term / part, k = memory * part + term - cell * part;
          const F* source = from(a, cell);
          return source != nullptr ? given[cell * width + k] * source[k] : F(0);
        };
      },
      [&](Index i, F sum) { out[i] = sum; });
}

}  // namespace pushdown::device
