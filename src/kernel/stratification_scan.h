// Memories of sections with strengths (stack/stratification.h) for the fused recurrence and the
// step programs: see kernel/scan_stacks.h for what its functions do. For kernel files only.
#pragma once
#include "kernel/scan_math.h"
#include "kernel/strengths.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

// K memories of sections with strengths. Rows of the action layer for each
// end, the top one first: those of K pushes | K pops | K readings | K vectors, where a strength has
// one row, one for each value of its distribution, or none (stack/strength_layer.h). Reading: for
// each memory that of each end.
template <class F>
struct StratificationScan {
  static constexpr int kPush = 0, kPop = 1, kRead = 2;

  Index updates, m, memories, ends, values;  // ends: 2 of a deque, else 1; values of a distribution
  SectionEnds kind;
  StrengthKind how[3];
  Index end_rows, chance_row;  // of the action layer at an end; numbers of distributions
  F* actions;                  // ends x U x 3K: the strengths; each end with a padding behind
  F* chances;                  // ends x U x chance_row: their distributions; the same
  F* vectors;                  // ends x U x Km: the same
  F* strengths;
  F* vector_gradient;  // as vectors
  F* strength_scratch;

  StratificationScan(const ScanShape& shape, F* tape, F* scratch)
      : updates(shape.steps - 1),
        m(shape.size),
        memories(shape.memories),
        ends(ends_of(shape)),
        values(shape.max_strength + 1),
        kind(shape.ends),
        how{shape.strengths[kPush], shape.strengths[kPop], shape.strengths[kRead]},
        end_rows(memories * m),
        chance_row(chances_of(shape)),
        actions(tape),
        chances(actions + ends * part_size(shape, 3 * memories)),
        vectors(chances + ends * part_size(shape, chance_row)),
        strengths(vectors + ends * part_size(shape, memories * m)),
        vector_gradient(scratch),
        strength_scratch(scratch + ends * part_size(shape, memories * m)) {
    for (const StrengthKind one : how) end_rows += memories * strength_rows(one, values - 1);
  }
  static Index ends_of(const ScanShape& shape) { return shape.ends == SectionEnds::deque ? 2 : 1; }
  static Index chances_of(const ScanShape& shape) {
    Index count = 0;
    for (const StrengthKind one : shape.strengths)
      if (one == StrengthKind::expectation) count += shape.memories * (shape.max_strength + 1);
    return count;
  }
  static Index part_size(const ScanShape& shape, Index row) {
    return (shape.steps - 1) * row + kScanPadding;
  }
  static Index tape_size(const ScanShape& shape) {
    return ends_of(shape) *
               (part_size(shape, 3 * shape.memories) + part_size(shape, chances_of(shape)) +
                part_size(shape, shape.memories * shape.size)) +
           shape.memories * Strengths<F>::tape_size(shape.steps - 1, shape.ends);
  }
  static Index scratch_size(const ScanShape& shape) {
    return ends_of(shape) * part_size(shape, shape.memories * shape.size) +
           shape.memories * Strengths<F>::scratch_size(shape.steps - 1, shape.ends);
  }

  Strengths<F> sections(Index k) const {
    return {updates, strengths + k * Strengths<F>::tape_size(updates, kind),
            strength_scratch + k * Strengths<F>::scratch_size(updates, kind), kind, true};
  }
  F* part_of(F* of, Index row, Index end, Index u) const {
    return of + end * (updates * row + kScanPadding) + u * row;
  }
  F* actions_of(Index end, Index u) const { return part_of(actions, 3 * memories, end, u); }
  F* chances_of(Index end, Index u) const { return part_of(chances, chance_row, end, u); }
  F* vectors_of(F* of, Index end, Index u) const { return part_of(of, memories * m, end, u); }
  // The vector of memory k at a place: rows are in the order of the updates, at each end.
  F* at_place(F* of, Index k, Index place) const {
    if (ends == 1) return vectors_of(of, 0, place) + k * m;
    return (place < updates ? vectors_of(of, 1, updates - 1 - place)
                            : vectors_of(of, 0, place - updates)) +
           k * m;
  }
  bool top(Index end) const { return end == 0 && kind != SectionEnds::queue; }

  void begin(const ScanParameters<F>&, F* reading) { clear(reading, memories * ends * m); }

  // The expected values of K softmax distributions.
  void expect(const F* given, F* chance, F* expected) const {
    const Index count = memories * values;
    for (Index k = 0; k < memories; ++k) {
      const F* own = given + k * values;
      F largest = own[0];
      for (Index i = 1; i < values; ++i) largest = own[i] > largest ? own[i] : largest;
      for (Index i = 0; i < values; ++i) chance[k * values + i] = own[i] - largest;
    }
    // What lies behind are rows to come, or the padding.
    clear(chance + count, scan_padded(count) - count);
    exp_all(chance, count);
    for (Index k = 0; k < memories; ++k) {
      F* own = chance + k * values;
      F sum = 0, mean = 0;
      for (Index i = 0; i < values; ++i) sum += own[i];
      for (Index i = 0; i < values; ++i) {
        own[i] /= sum;
        mean += static_cast<F>(i) * own[i];
      }
      expected[k] = mean;
    }
  }

  void forward(Index u, F* given, F* reading) {
    for (Index end = 0; end < ends; ++end) {
      F* action = actions_of(end, u);
      F* chance = chances_of(end, u);
      for (const StrengthKind one : how) {
        // Each writes up to a vector behind: what lies there comes later.
        if (one == StrengthKind::sigmoid) {
          sigmoid_all(given, action, memories);
        } else if (one == StrengthKind::expectation) {
          expect(given, chance, action);
          chance += memories * values;
        } else {
          for (Index k = 0; k < memories; ++k) action[k] = 1;
        }
        given += memories * strength_rows(one, values - 1);
        action += memories;
      }
      tanh_all(given, vectors_of(vectors, end, u), memories * m);
      given += memories * m;
    }
    clear(reading, memories * ends * m);
    const F *first = actions_of(0, u), *last = actions_of(ends - 1, u);
    for (Index k = 0; k < memories; ++k) {
      auto own = sections(k);
      own.update(u, first[k], first[memories + k], last[k], last[memories + k]);
      for (Index end = 0; end < ends; ++end, reading += m)
        own.read(u, top(end), actions_of(end, u)[2 * memories + k],
                 [&](Index i, F share) { add_scaled(reading, at_place(vectors, k, i), share, m); });
    }
  }

  void begin_backward() {
    for (Index k = 0; k < memories; ++k) sections(k).begin_backward();
    clear(vector_gradient, ends * (updates * memories * m + kScanPadding));
  }

  // The rows of what strength of memory k, its gradient being given.
  void strength_backward(Index end, Index u, int what, Index k, F slope, F* out) const {
    const F* chance = chances_of(end, u);
    for (int before = 0; before < what; ++before) {
      out += memories * strength_rows(how[before], values - 1);
      if (how[before] == StrengthKind::expectation) chance += memories * values;
    }
    const F value = actions_of(end, u)[what * memories + k];
    if (how[what] == StrengthKind::sigmoid) out[k] = slope * value * (1 - value);
    if (how[what] != StrengthKind::expectation) return;
    for (Index i = k * values, n = 0; n < values; ++i, ++n)
      out[i] = slope * chance[i] * (static_cast<F>(n) - value);
  }

  void backward(Index u, const F* reading_gradient, F* out) {
    const F *first = actions_of(0, u), *last = actions_of(ends - 1, u);
    for (Index k = 0; k < memories; ++k) {
      auto own = sections(k);
      for (Index end = 0; end < ends; ++end, reading_gradient += m) {
        const F slope = own.read_backward(
            u, top(end), actions_of(end, u)[2 * memories + k], [&](Index i, F share) {
              add_scaled(at_place(vector_gradient, k, i), reading_gradient, share, m);
              return dot(reading_gradient, at_place(vectors, k, i), m);
            });
        strength_backward(end, u, kRead, k, slope, out + end * end_rows);
      }
      const auto slopes = own.update_backward(u, first[memories + k], last[memories + k]);
      strength_backward(0, u, kPush, k, slopes.push, out);
      strength_backward(0, u, kPop, k, slopes.pop, out);
      if (ends == 1) continue;
      strength_backward(1, u, kPush, k, slopes.bottom_push, out + end_rows);
      strength_backward(1, u, kPop, k, slopes.bottom_pop, out + end_rows);
    }
    for (Index end = 0; end < ends; ++end) {
      const F* v = vectors_of(vectors, end, u);
      const F* dv = vectors_of(vector_gradient, end, u);
      out += end_rows;
      for (Index i = 0; i < memories * m; ++i) out[i - memories * m] = dv[i] * (1 - v[i] * v[i]);
    }
  }
  void cut() { begin_backward(); }
  void end_backward(const F*, F*) {}
};

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
