// The loops of memories for one CPU thread with whole vectors, see loops.h.
#pragma once
#include "kernel/vector_math.h"

#define PUSHDOWN_DEVICE
#define PUSHDOWN_NOINLINE [[gnu::noinline]]
#define PUSHDOWN_HOST_DEVICE inline

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

using Count = Index;

struct LoneThread {
  static constexpr Index id() { return 0; }
  static constexpr Index size() { return 1; }
  static void sync() {}
};

template <class F>
struct StackMemory {
  F* tape;     // kept from the forward to the backward pass
  F* scratch;  // of one pass
};

inline constexpr Index kRowPadding = kPadding;
inline Index row_size(Index count) { return padded_size(count); }

template <class Body>
[[gnu::always_inline]] inline void each(const LoneThread&, Index count, const Body& body) {
  for (Index i = 0; i < count; ++i) body(i);
}
template <class Body>
[[gnu::always_inline]] inline void each_between(const LoneThread&, Index first, Index end,
                                                const Body& body) {
  for (Index i = first; i < end; ++i) body(i);
}
template <class F>
void sigmoids(const LoneThread&, const F* x, F* y, Index count) {
  sigmoid_all(x, y, count);
}
template <class F>
void tanhs(const LoneThread&, const F* x, F* y, Index count) {
  tanh_all(x, y, count);
}
// Computes softmax distributions of several groups over the values 0, 1, ..., and their
// expectations.
template <class F>
void expected_values(const LoneThread&, const F* given, F* chances, F* expected, Index groups,
                     Index values) {
  const Index count = groups * values;
  for (Index k = 0; k < groups; ++k) {
    const F* scores = given + k * values;
    F largest = scores[0];
    for (Index i = 1; i < values; ++i) largest = scores[i] > largest ? scores[i] : largest;
    for (Index i = 0; i < values; ++i) chances[k * values + i] = scores[i] - largest;
  }
  // Later rows, or the padding, come after it.
  clear(chances + count, row_size(count) - count);
  exp_all(chances, count);
  for (Index k = 0; k < groups; ++k) {
    F* chance = chances + k * values;
    F sum = 0, mean = 0;
    for (Index i = 0; i < values; ++i) sum += chance[i];
    for (Index i = 0; i < values; ++i) {
      chance[i] /= sum;
      mean += static_cast<F>(i) * chance[i];
    }
    expected[k] = mean;
  }
}

// See device_loops.h. Reads whole vectors.
template <class F>
void spread_actions(const LoneThread&, F* rows, const F* given, Index width, Index row, Index count,
                    Index memories) {
  const F* value = given + count * memories;
  for (Index k = 0; k < row; k += kLanes<F>)
    store(rows + count * row + k, first_lanes(load(value + k), width - k));
  const Index part = width / memories;
  for (Index a = 0; a < count; ++a) {
    F* to = rows + a * row;
    const Vector<F> all = splat(memories == 1 ? given[a] : F(0));
    for (Index k = 0; k < row; k += kLanes<F>) store(to + k, first_lanes(all, width - k));
    for (Index own = 0; memories > 1 && own < memories; ++own)
      for (Index k = own * part; k < (own + 1) * part; ++k) to[k] = given[own * count + a];
  }
}

// Adds up the numbers of each row, several rows at a time.
template <class F, Index kCount>
void sum_rows(F* sums, const F* rows, Index width, Index row) {
  F all[kCount] = {};
  for (Index k = 0; k < width; ++k)
    for (Index a = 0; a < kCount; ++a) all[a] += rows[a * row + k];
  for (Index a = 0; a < kCount; ++a) sums[a] = all[a];
}

// Calls run(kCount constant, sources, weights) with the sources that exist.
template <class F, class From, class Run>
[[gnu::always_inline]] inline void with_sources(Index count, const From& from, F* weights,
                                                Index row, const Run& run) {
  const F* sources[5];
  F* of[5];
  Index n = 0;
  for (Index a = 0; a < count; ++a)
    if (const F* source = from(a)) {
      sources[n] = source;
      of[n++] = weights + a * row;
    }
  switch (n) {
    case 0: return run(std::integral_constant<Index, 0>(), sources, of);
    case 1: return run(std::integral_constant<Index, 1>(), sources, of);
    case 2: return run(std::integral_constant<Index, 2>(), sources, of);
    case 3: return run(std::integral_constant<Index, 3>(), sources, of);
    case 4: return run(std::integral_constant<Index, 4>(), sources, of);
    default: return run(std::integral_constant<Index, 5>(), sources, of);
  }
}

// to[at] = sum_a weights[a] from(a, at), elementwise, for `rows` rows; from() is null if there is
// no source. The sources of the rows at .. run_end(at) - 1 are contiguous.
template <class F, class From, class Run>
void mix(const LoneThread&, F* to, Index rows, Index row, Index count, const F* weights,
         const From& from, const Run& run_end) {
  for (Index at = 0, end = 0; at < rows; at = end) {
    end = run_end(at);
    with_sources<const F>(
        count, [&](Index a) { return from(a, at); }, weights, row,
        [&](auto constant, const F* const* sources, const F* const* own) {
          constexpr Index n = decltype(constant)::value;
          for (Index k = 0; k < row; k += kLanes<F>) {
            Vector<F> weight[n + 1];
            const F* source[n + 1];
            for (Index a = 0; a < n; ++a) {
              weight[a] = load(own[a] + k);
              source[a] = sources[a] + k;
            }
            F* first = to + at * row + k;
            for (Index i = 0; i < (end - at) * row; i += row) {
              Vector<F> sum = {};
              for (Index a = 0; a < n; ++a) sum += weight[a] * load(source[a] + i);
              store(first + i, sum);
            }
          }
        });
  }
}

inline Index product_scratch(Index count, Index row) { return count * row; }
// The gradients of the weights: sum over the rows of given[at] from(a, at), elementwise in the
// order of the action layer, and summed over the numbers of each of the memories side by side.
template <class F, class From, class Run>
void sum_products(const LoneThread&, F* out, const F* given, Index rows, Index width, Index count,
                  Index memories, const From& from, const Run& run_end, F* scratch) {
  const Index row = row_size(width);
  clear(scratch, count * row);
  for (Index at = 0, end = 0; at < rows; at = end) {
    end = run_end(at);
    with_sources(
        count, [&](Index a) { return from(a, at); }, scratch, row,
        [&](auto constant, const F* const* sources, F* const* sums) {
          constexpr Index n = decltype(constant)::value;
          for (Index k = 0; k < row; k += kLanes<F>) {
            Vector<F> sum[n + 1];
            const F* source[n + 1];
            for (Index a = 0; a < n; ++a) {
              sum[a] = load(sums[a] + k);
              source[a] = sources[a] + k;
            }
            const F* slopes = given + at * row + k;
            for (Index i = 0; i < (end - at) * row; i += row) {
              const Vector<F> slope = load(slopes + i);
              for (Index a = 0; a < n; ++a) sum[a] += slope * load(source[a] + i);
            }
            for (Index a = 0; a < n; ++a) store(sums[a] + k, sum[a]);
          }
        });
  }
  const Index part = width / memories;
  for (Index own = 0; own < memories; ++own) {
    F* sums = out + own * count;
    const F* products = scratch + own * part;
    Index a = 0;
    for (; a + 2 < count; a += 3) sum_rows<F, 3>(sums + a, products + a * row, part, row);
    for (; a < count; ++a) sum_rows<F, 1>(sums + a, products + a * row, part, row);
  }
}

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
