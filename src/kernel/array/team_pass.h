// Runs array programs (kernel/array/program.h) for one sequence and one step by a team of threads
// (kernel/device_team.h).
//
// One thread, or one group, computes each number: a result from the numbers that it depends on, and
// a gradient as the sum over all places of an instruction that read the number. So there are no
// conflicts within an instruction, and sums have a fixed order. Threads recompute what a whole line
// has in common, such as the largest number of a softmax, which takes no longer than waiting for
// one thread.
#pragma once
#include "kernel/array/lines.h"

namespace pushdown::device {

// Some dimensions of an instruction's space.
struct ArrayAxes {
  Index axis[kArrayDims] = {}, count = 0, size = 1;

  // Writes the indices of number i along them to `at`.
  PUSHDOWN_DEVICE void place(const ArrayInstruction& of, Index i, Index* at) const {
    for (Index k = count; k-- > 0;) {
      const Index n = static_cast<Index>(of.shape[axis[k]]);
      at[axis[k]] = i % n;
      i /= n;
    }
  }
};
// Returns those that `wanted` chooses.
template <class Wanted>
PUSHDOWN_DEVICE ArrayAxes axes_of(const ArrayInstruction& of, const Wanted& wanted) {
  ArrayAxes axes;
  for (Index d = 0; d < of.dims; ++d) {
    if (of.shape[d] == 1 || !wanted(d)) continue;
    axes.axis[axes.count++] = d;
    axes.size *= static_cast<Index>(of.shape[d]);
  }
  return axes;
}

// Buffers has value(buffer) and slope(buffer), which is null where no gradient is wanted. The
// gradients of the step's own memory must be 0 before the backward pass.
template <class F, class Buffers>
class ArrayTeamPass {
 public:
  PUSHDOWN_DEVICE ArrayTeamPass(const ArrayCode<F>& code, const Buffers& buffers, Index t)
      : code_(code),
        buffers_(buffers),
        step_(code.steps[t < code.step_count ? t : code.step_count - 1]) {}

  PUSHDOWN_DEVICE bool is_idle() const { return step_.first == step_.end; }
  // The size of the step's own memory.
  PUSHDOWN_DEVICE Index memory() const { return static_cast<Index>(step_.memory); }

  // The results are visible to the whole team after the next barrier.
  template <class Team>
  PUSHDOWN_DEVICE void forward(const Team& team) const {
    for (int i = step_.first; i < step_.end; ++i) {
      if (i > step_.first) team.sync();
      compute(team, code_.instructions[i]);
    }
  }
  // Computes the derivative of the results along a direction, buffers.tangent(), which is null
  // where it is 0. Every tangent of the step's own memory and of the output is written.
  template <class Team>
  PUSHDOWN_DEVICE void push_forward(const Team& team) const {
    for (int i = step_.first; i < step_.end; ++i) {
      if (i > step_.first) team.sync();
      push_forward(team, code_.instructions[i]);
    }
  }
  template <class Team>
  PUSHDOWN_DEVICE void backward(const Team& team) const {
    for (int i = step_.end; i-- > step_.first;) {
      const ArrayInstruction& of = code_.instructions[i];
      for (int k = 0; k < of.views && of.out.gradient; ++k) {
        if (slope(view(of, k)) == nullptr) continue;
        team.sync();
        propagate(team, of, k);
      }
    }
  }

 private:
  PUSHDOWN_DEVICE const ArrayView& view(const ArrayInstruction& of, int k) const {
    return code_.views[of.first_view + k];
  }
  PUSHDOWN_DEVICE F* value(const ArrayView& view) const {
    return buffers_.value(view.buffer) + view.offset;
  }
  PUSHDOWN_DEVICE F* slope(const ArrayView& view) const {
    F* found = view.gradient ? buffers_.slope(view.buffer) : nullptr;
    return found == nullptr ? nullptr : found + view.offset;
  }
  // Returns the offset of the first `dims` indices.
  PUSHDOWN_DEVICE static Count offset(const ArrayView& view, const Index* at, int dims) {
    Count sum = 0;
    for (int d = 0; d < dims; ++d) sum += at[d] * view.stride[d];
    return sum;
  }

  // Whether the result has one number for each line.
  PUSHDOWN_DEVICE static bool shortens(ArrayKind kind) {
    return (kShortening >> static_cast<int>(kind) & 1) != 0;
  }

  // The tangent of view k at a place; 0 if it has none.
  PUSHDOWN_DEVICE F tangent(const ArrayInstruction& of, int k, const Index* at) const {
    const ArrayView& own = view(of, k);
    const F* found = own.gradient ? buffers_.tangent(own.buffer) : nullptr;
    return found == nullptr ? F(0) : found[own.offset + offset(own, at, of.dims)];
  }

  // A line of a view along the last dimension.
  PUSHDOWN_DEVICE static Line<F> line(F* of, const ArrayView& view, const Index* at, int last) {
    return {of + offset(view, at, last), view.stride[last]};
  }

  // Calls store(at, sum of term(at)) for every place of `outer`; the sum is over those of `inner`.
  template <class Team, class Term, class Store>
  PUSHDOWN_DEVICE static void reduce(const Team& team, const ArrayInstruction& of,
                                     const ArrayAxes& outer, const ArrayAxes& inner,
                                     const Term& term, const Store& store) {
    const bool alone = inner.size == 1 || outer.size >= team.size();
    const Index first = alone ? team.id() : team.group(),
                apart = alone ? team.size() : team.groups(), start = alone ? 0 : team.lane(),
                step = alone ? 1 : team.lanes();
    for (Index i = first; i < outer.size; i += apart) {
      Index at[kArrayDims] = {};
      outer.place(of, i, at);
      F sum = 0;
      for (Index k = start; k < inner.size; k += step) {
        inner.place(of, k, at);
        sum += term(at);
      }
      if (!alone) sum = team.group_sum(sum);
      if (alone || team.lane() == 0) store(at, sum);
    }
  }

  // ---- Forward ----

  template <class Team>
  PUSHDOWN_NOINLINE PUSHDOWN_DEVICE void compute(const Team& team,
                                                 const ArrayInstruction& of) const {
    const int last = of.dims - 1;
    F* out = value(of.out);
    const bool shrinks = shortens(of.kind);
    const auto outer = axes_of(of, [&](Index d) { return d < last || !shrinks; });
    if (of.kind == ArrayKind::sum || of.kind == ArrayKind::contraction) {
      const F* a = value(view(of, 0));
      const F* b = of.kind == ArrayKind::sum ? nullptr : value(view(of, 1));
      const auto inner = axes_of(of, [&](Index d) { return d == last; });
      return reduce(
          team, of, outer, inner,
          [&](const Index* at) {
            const F x = a[offset(view(of, 0), at, of.dims)];
            return b == nullptr ? x : x * b[offset(view(of, 1), at, of.dims)];
          },
          [&](const Index* at, F sum) { out[offset(of.out, at, last)] = sum; });
    }
    each(team, outer.size, [&](Index i) {
      Index at[kArrayDims] = {};
      outer.place(of, i, at);
      out[offset(of.out, at, shrinks ? last : of.dims)] =
          of.kind == ArrayKind::map ? map_value(of, at) : line_value(of, at);
    });
  }

  // The operands of a map's functions at one place; `results` has room for their values.
  struct Place {
    const ArrayTeamPass& run;
    const ArrayInstruction& of;
    const Index* at;
    F* results;

    PUSHDOWN_DEVICE ArrayOperand<F> operator()(int k) const {
      if (k < 0) return {results + ~k, false};
      const ArrayView& own = run.view(of, k);
      return {run.value(own) + offset(own, at, of.dims), false};
    }
    PUSHDOWN_DEVICE const ArrayCall& call(int k) const {
      return run.code_.calls[of.first_call + k];
    }
    // Computes the values of the first functions.
    PUSHDOWN_DEVICE void compute(int count) const {
      for (int k = 0; k < count; ++k) {
        const ArrayCall& own = call(k);
        array_value(own.function, (*this)(own.a), (*this)(own.b), (*this)(own.c), results + k,
                    Index(0), Index(1));
      }
    }
  };
  PUSHDOWN_DEVICE F map_value(const ArrayInstruction& of, const Index* at) const {
    F results[kArrayCalls];
    const Place place{*this, of, at, results};
    place.compute(of.calls);
    return *place(of.calls > 0 ? ~(of.calls - 1) : 0).first;
  }

  PUSHDOWN_DEVICE F map_tangent(const ArrayInstruction& of, const Index* at) const {
    if (of.calls == 0) return tangent(of, 0, at);
    F results[kArrayCalls], tangents[kArrayCalls] = {};
    const Place place{*this, of, at, results};
    place.compute(of.calls);
    for (int k = 0; k < of.calls; ++k) {
      const ArrayCall& call = place.call(k);
      if (!call.gradient) continue;
      const F one = 1;
      F room = 0;
      // The slopes for a gradient of 1 are the partial derivatives.
      const auto along = [&](int from) {
        return from < 0 ? tangents[~from] : tangent(of, from, at);
      };
      const auto give = [&](int from, const F* numbers, const ArrayOperand<F>* factors) {
        const F direction = along(from);
        if (direction != 0) tangents[k] += *numbers * direction * (factors ? *factors->first : one);
      };
      const auto pass = [&](int from) { tangents[k] += along(from); };
      const auto wanted = [&](int from) { return from < 0 || view(of, from).gradient; };
      array_slopes(call, place(call.a), place(call.b), place(call.c), results + k, &one, &room,
                   Index(1), give, pass, wanted);
    }
    return tangents[of.calls - 1];
  }

  PUSHDOWN_DEVICE F line_value(const ArrayInstruction& of, const Index* at) const {
    const int last = of.dims - 1;
    const Line<F> x = line(value(view(of, 0)), view(of, 0), at, last);
    const Index count = static_cast<Index>(of.shape[last]);
    return with_line(of.kind, [&](auto row) { return row.number(x, count, at[last]); });
  }

  // ---- Along a direction ----

  template <class Team>
  PUSHDOWN_DEVICE void push_forward(const Team& team, const ArrayInstruction& of) const {
    const int last = of.dims - 1;
    F* out = buffers_.tangent(of.out.buffer) + of.out.offset;
    const bool shrinks = shortens(of.kind);
    const auto outer = axes_of(of, [&](Index d) { return d < last || !shrinks; });
    each(team, outer.size, [&](Index i) {
      Index at[kArrayDims] = {};
      outer.place(of, i, at);
      out[offset(of.out, at, shrinks ? last : of.dims)] = !of.out.gradient ? F(0)
                                                          : of.kind == ArrayKind::map
                                                              ? map_tangent(of, at)
                                                              : line_tangent(of, at);
    });
  }

  PUSHDOWN_DEVICE F line_tangent(const ArrayInstruction& of, const Index* at) const {
    const int last = of.dims - 1;
    const Index count = static_cast<Index>(of.shape[last]), own = at[last];
    Index place[kArrayDims];
    for (int d = 0; d < of.dims; ++d) place[d] = at[d];
    const auto along = [&](int k, Index i) {
      place[last] = i;
      return tangent(of, k, place);
    };
    const Line<F> x = line(value(view(of, 0)), view(of, 0), at, last),
                  y = line(value(of.out), of.out, at, last);
    if (of.kind == ArrayKind::contraction) {
      const Line<F> other = line(value(view(of, 1)), view(of, 1), at, last);
      return sum_below<F>(count,
                          [&](Index i) { return along(0, i) * other[i] + x[i] * along(1, i); });
    }
    return with_line(of.kind, [&](auto row) {
      return row.tangent(
          x, y, [&](Index i) { return along(0, i); }, count, own);
    });
  }

  // ---- Backward ----

  // Adds the gradient of view k.
  template <class Team>
  PUSHDOWN_NOINLINE PUSHDOWN_DEVICE void propagate(const Team& team, const ArrayInstruction& of,
                                                   int k) const {
    const int last = of.dims - 1;
    const ArrayView& own = view(of, k);
    F* to = slope(own);
    const F* given = slope(of.out);
    const F* other = of.kind == ArrayKind::contraction ? value(view(of, 1 - k)) : nullptr;
    // Numbers that are read at several places have the stride 0.
    reduce(
        team, of, axes_of(of, [&](Index d) { return own.stride[d] != 0; }),
        axes_of(of, [&](Index d) { return own.stride[d] == 0; }),
        [&](const Index* at) {
          switch (of.kind) {
            case ArrayKind::map: return map_slope(of, at, k, given[offset(of.out, at, of.dims)]);
            case ArrayKind::sum: return given[offset(of.out, at, last)];
            case ArrayKind::contraction:
              return given[offset(of.out, at, last)] * other[offset(view(of, 1 - k), at, of.dims)];
            default: return line_slope(of, at);
          }
        },
        [&](const Index* at, F sum) { to[offset(own, at, of.dims)] += sum; });
  }

  // Returns the gradient of view `wanted` at one place, where that of the result is `given`.
  PUSHDOWN_DEVICE F map_slope(const ArrayInstruction& of, const Index* at, int wanted,
                              F given) const {
    if (of.calls == 0) return given;
    F results[kArrayCalls], slopes[kArrayCalls] = {}, sum = 0, room = 0;
    const Place place{*this, of, at, results};
    const int last = of.calls - 1;
    place.compute(last);
    // The result of the last function is already in its place.
    results[last] = value(of.out)[offset(of.out, at, of.dims)];
    slopes[last] = given;
    const auto is_wanted = [&](int k) { return k < 0 ? place.call(~k).gradient : k == wanted; };
    for (int k = of.calls; k-- > 0;) {
      const ArrayCall& call = place.call(k);
      if (!call.gradient) continue;
      const F g = slopes[k];
      const auto give = [&](int to, const F* numbers, const ArrayOperand<F>* factors) {
        if (!is_wanted(to)) return;
        F& slope = to < 0 ? slopes[~to] : sum;
        slope += factors == nullptr ? *numbers : *numbers * *factors->first;
      };
      const auto pass = [&](int to) { give(to, &g, nullptr); };
      array_slopes(call, place(call.a), place(call.b), place(call.c), results + k, &g, &room,
                   Index(1), give, pass, is_wanted);
    }
    return sum;
  }

  PUSHDOWN_DEVICE F line_slope(const ArrayInstruction& of, const Index* at) const {
    const int last = of.dims - 1;
    const Line<F> x = line(value(view(of, 0)), view(of, 0), at, last),
                  y = line(value(of.out), of.out, at, last),
                  g = line(slope(of.out), of.out, at, last);
    const Index count = static_cast<Index>(of.shape[last]);
    return with_line(of.kind, [&](auto row) {
      return row.slope(row.common(x, y, g, count), x, y, g, count, at[last]);
    });
  }

  const ArrayCode<F>& code_;
  const Buffers& buffers_;
  const ArrayStep& step_;
};

}  // namespace pushdown::device
