// Runs array programs (kernel/array/program.h) for one sequence and one step. For kernel files
// only.
//
// A map runs over its space in blocks of up to kBlock numbers. Every function of the map runs over
// the block before the next one, so that all intermediate results stay in the first-level cache.
// The backward pass recomputes the values of a block.
#pragma once
#include "kernel/array/line_loops.h"
#include "kernel/array/program.h"
#include "kernel/step/step_operations.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

template <class F>
class ArrayLoops {
 public:
  // `slopes`: of the values, null where not wanted; those of the step's own memory must be 0.
  ArrayLoops(const ArrayCode<F>& code, F* const* values, F* const* slopes)
      : code_(code), values_(values), slopes_(slopes) {}

  void forward(Index t) {
    const ArrayStep& step = code_.at(t);
    for (int i = step.first; i < step.end; ++i) {
      const ArrayInstruction& of = code_.instructions[i];
      if (of.kind == ArrayKind::map)
        map<false>(of);
      else
        lines<false>(of);
    }
  }
  void backward(Index t) {
    const ArrayStep& step = code_.at(t);
    for (int i = step.end; i-- > step.first;) {
      const ArrayInstruction& of = code_.instructions[i];
      if (!of.out.gradient) continue;
      if (of.kind == ArrayKind::map)
        map<true>(of);
      else
        lines<true>(of);
    }
  }

 private:
  static constexpr Index kBlock = 256, kL = kLanes<F>;
  static constexpr int kMost = kArrayViews > kArrayCalls ? kArrayViews : kArrayCalls;
  struct alignas(64) Numbers {
    F at[kBlock];
  };

  F* value(const ArrayView& view) const { return values_[view.buffer] + view.offset; }
  F* slope(const ArrayView& view) const {
    F* found = view.gradient ? slopes_[view.buffer] : nullptr;
    return found == nullptr ? nullptr : found + view.offset;
  }

  // ---- Maps ----

  // How a view is read in a block of `rows` rows of `columns` numbers each.
  enum class Form { direct, single, gathered };
  static Form form(const ArrayView& view, int last, Index rows, Index columns) {
    const Index inner = view.stride[last], outer = last > 0 ? view.stride[last - 1] : 0;
    if (inner == 0 && (rows == 1 || outer == 0)) return Form::single;
    if (inner == 1 && (rows == 1 || outer == columns)) return Form::direct;
    if (columns == 1 && outer == 1) return Form::direct;
    return Form::gathered;
  }
  static void gather(const F* from, const ArrayView& view, int last, Index rows, Index columns,
                     F* to) {
    const Index inner = view.stride[last], outer = last > 0 ? view.stride[last - 1] : 0;
    for (Index r = 0; r < rows; ++r, from += outer, to += columns) {
      if (inner == 0) {
        for (Index c = 0; c < columns; ++c) to[c] = *from;
      } else {
        for (Index c = 0; c < columns; ++c) to[c] = from[c * inner];
      }
    }
  }
  static void scatter(F* to, const ArrayView& view, int last, Index rows, Index columns,
                      const F* from, bool added) {
    const Index inner = view.stride[last], outer = last > 0 ? view.stride[last - 1] : 0;
    for (Index r = 0; r < rows; ++r, to += outer, from += columns) {
      if (!added) {
        for (Index c = 0; c < columns; ++c) to[c * inner] = from[c];
      } else if (inner == 0) {
        F sum = 0;
        for (Index c = 0; c < columns; ++c) sum += from[c];
        *to += sum;
      } else {
        for (Index c = 0; c < columns; ++c) to[c * inner] += from[c];
      }
    }
  }

  template <bool kBackward>
  void map(const ArrayInstruction& of) {
    const int last = of.dims - 1;
    const Index columns = of.shape[last], rows = last > 0 ? of.shape[last - 1] : 1;
    Index outer = 1;
    for (int d = 0; d + 1 < last; ++d) outer *= of.shape[d];
    const ArrayView* views = code_.views + of.first_view;
    Index at[kArrayDims] = {};
    Index starts[kArrayViews], out = 0;
    for (Index o = 0; o < outer; ++o) {
      for (int k = 0; k < of.views; ++k) starts[k] = start(views[k], at, last - 1);
      out = start(of.out, at, last - 1);
      if (columns >= kBlock) {
        for (Index r = 0; r < rows; ++r)
          for (Index c = 0; c < columns; c += kBlock)
            block<kBackward>(of, starts, out, r, c, 1, columns - c < kBlock ? columns - c : kBlock);
      } else {
        const Index each = kBlock / columns;
        for (Index r = 0; r < rows; r += each)
          block<kBackward>(of, starts, out, r, 0, rows - r < each ? rows - r : each, columns);
      }
      next(of, at, last - 1);
    }
  }
  // Returns the offset of the first `dims` indices.
  static Index start(const ArrayView& view, const Index* at, int dims) {
    Index sum = 0;
    for (int d = 0; d < dims; ++d) sum += at[d] * view.stride[d];
    return sum;
  }
  static void next(const ArrayInstruction& of, Index* at, int dims) {
    for (int d = dims; d-- > 0;) {
      if (++at[d] < of.shape[d]) return;
      at[d] = 0;
    }
  }
  static Index moved(const ArrayView& view, int last, Index r, Index c) {
    return (last > 0 ? r * view.stride[last - 1] : 0) + c * view.stride[last];
  }

  template <bool kBackward>
  void block(const ArrayInstruction& of, const Index* starts, Index out_start, Index r, Index c,
             Index rows, Index columns) {
    const int last = of.dims - 1;
    const Index count = rows * columns;
    const ArrayView* views = code_.views + of.first_view;
    const ArrayCall* calls = code_.calls + of.first_call;
    Numbers gathered[kArrayViews], results[kArrayCalls];
    ArrayOperand<F> view_values[kArrayViews], call_values[kArrayCalls];
    Form forms[kArrayViews];
    for (int k = 0; k < of.views; ++k) {
      const F* from = value(views[k]) + starts[k] + moved(views[k], last, r, c);
      forms[k] = form(views[k], last, rows, columns);
      if (forms[k] == Form::gathered) {
        gather(from, views[k], last, rows, columns, gathered[k].at);
        from = gathered[k].at;
      }
      view_values[k] = {from, forms[k] == Form::single};
    }
    const auto operand = [&](int k) { return k >= 0 ? view_values[k] : call_values[~k]; };
    const Index out_at = out_start + moved(of.out, last, r, c);
    const bool direct = form(of.out, last, rows, columns) == Form::direct;
    if constexpr (!kBackward) {
      F* to = value(of.out) + out_at;
      for (int k = 0; k < of.calls; ++k) {
        const ArrayCall& call = calls[k];
        const bool ends = k + 1 == of.calls && direct;
        // Whole vectors are written directly, the rest through the block's own numbers.
        const Index whole = ends ? count / kL * kL : 0;
        if (whole > 0)
          array_value(call.function, operand(call.a), operand(call.b), operand(call.c), to,
                      Index(0), whole);
        if (whole < count)
          array_value(call.function, operand(call.a), operand(call.b), operand(call.c),
                      results[k].at, whole, count);
        if (ends)
          for (Index i = whole; i < count; ++i) to[i] = results[k].at[i];
        call_values[k] = {results[k].at, false};
      }
      if (of.calls > 0 && direct) return;
      const ArrayOperand<F> from = of.calls > 0 ? call_values[of.calls - 1] : view_values[0];
      if (direct && !from.single) {
        copy(to, from.first, count);
      } else if (direct) {
        for (Index i = 0; i < count; ++i) to[i] = *from.first;
      } else if (from.single) {
        for (Index i = 0; i < count; ++i) gathered[0].at[i] = *from.first;
        scatter(to, of.out, last, rows, columns, gathered[0].at, false);
      } else {
        scatter(to, of.out, last, rows, columns, from.first, false);
      }
      return;
    }
    // Backward pass.
    for (int k = 0; k + 1 < of.calls; ++k) {
      const ArrayCall& call = calls[k];
      array_value(call.function, operand(call.a), operand(call.b), operand(call.c), results[k].at,
                  Index(0), count);
      call_values[k] = {results[k].at, false};
    }
    const F* given = slope(of.out) + out_at;
    Numbers own;
    if (!direct) {
      gather(given, of.out, last, rows, columns, own.at);
      given = own.at;
    }
    if (of.calls > 0) {
      // The result of the last function is already in its place.
      const F* made = value(of.out) + out_at;
      if (direct) {
        call_values[of.calls - 1] = {made, false};
      } else {
        gather(made, of.out, last, rows, columns, results[of.calls - 1].at);
        call_values[of.calls - 1] = {results[of.calls - 1].at, false};
      }
    }
    Numbers slopes[kMost], sums[kArrayViews];
    const F* call_slopes[kArrayCalls];
    bool begun[kArrayCalls] = {}, view_begun[kArrayViews] = {};
    Numbers room;
    // Adds numbers, times factors if there are any, to the slope of an operand.
    const auto give = [&](int k, const F* numbers, const ArrayOperand<F>* factors) {
      if (k < 0) {
        if (!calls[~k].gradient) return;
        add_block(slopes[~k].at, numbers, factors, count, begun[~k], false);
        begun[~k] = true;
        call_slopes[~k] = slopes[~k].at;
        return;
      }
      F* to = slope(views[k]);
      if (to == nullptr) return;
      to += starts[k] + moved(views[k], last, r, c);
      if (forms[k] == Form::direct) {
        add_block(to, numbers, factors, count, true, true);
      } else if (forms[k] == Form::single) {
        *to += block_sum(numbers, factors, count);
      } else {
        add_block(sums[k].at, numbers, factors, count, view_begun[k], false);
        view_begun[k] = true;
      }
    };
    if (of.calls == 0) {
      give(0, given, nullptr);
    } else {
      call_slopes[of.calls - 1] = given;
      begun[of.calls - 1] = true;
    }
    for (int k = of.calls; k-- > 0;) {
      const ArrayCall& call = calls[k];
      if (!call.gradient || !begun[k]) continue;
      const F* g = call_slopes[k];
      // A sum passes its slope on unchanged to an operand that nothing else uses.
      const auto pass = [&](int to) {
        if (to < 0 && calls[~to].single && calls[~to].gradient) {
          call_slopes[~to] = g;
          begun[~to] = true;
        } else {
          give(to, g, nullptr);
        }
      };
      const auto wanted = [&](int to) { return to < 0 ? calls[~to].gradient : views[to].gradient; };
      array_slopes(call, operand(call.a), operand(call.b), operand(call.c), call_values[k].first, g,
                   room.at, count, give, pass, wanted);
    }
    for (int k = 0; k < of.views; ++k)
      if (view_begun[k])
        scatter(slope(views[k]) + starts[k] + moved(views[k], last, r, c), views[k], last, rows,
                columns, sums[k].at, true);
  }

  // to += numbers factors, or = if there is no value yet. `exact`: the memory after the block is
  // preserved.
  static void add_block(F* to, const F* numbers, const ArrayOperand<F>* factors, Index count,
                        bool added, bool exact) {
    if (factors == nullptr)
      return add_each(to, count, added, exact, [=](Index i) { return load(numbers + i); });
    if (factors->single) {
      const Vector<F> factor = splat(*factors->first);
      return add_each(to, count, added, exact, [=](Index i) { return factor * load(numbers + i); });
    }
    const F* others = factors->first;
    add_each(to, count, added, exact,
             [=](Index i) { return load(others + i) * load(numbers + i); });
  }
  template <class Of>
  [[gnu::always_inline]] static void add_each(F* to, Index count, bool added, bool exact, Of of) {
    Index i = 0;
    if (added)
      for (; i + kL <= count; i += kL) store(to + i, load(to + i) + of(i));
    else
      for (; i + kL <= count; i += kL) store(to + i, of(i));
    if (i == count) return;
    const Vector<F> rest = of(i);
    if (!exact) return store(to + i, added ? load(to + i) + rest : rest);
    for (Index j = 0; i < count; ++i, ++j) to[i] = added ? to[i] + rest[j] : rest[j];
  }
  static F block_sum(const F* numbers, const ArrayOperand<F>* factors, Index count) {
    if (factors != nullptr && !factors->single) return dot(numbers, factors->first, count);
    const F sum = array_sum(numbers, count);
    return factors == nullptr ? sum : sum * *factors->first;
  }

  // ---- Along the last dimension ----

  template <bool kBackward>
  void lines(const ArrayInstruction& of) {
    const ArrayView* views = code_.views + of.first_view;
    if (of.kind == ArrayKind::contraction) return contraction<kBackward>(of, views[0], views[1]);
    const int last = of.dims - 1;
    Index outer = 1;
    for (int d = 0; d < last; ++d) outer *= of.shape[d];
    const ArrayView& in = views[0];
    const Index count = of.shape[last], step = in.stride[last], out_step = of.out.stride[last];
    Index at[kArrayDims] = {};
    for (Index o = 0; o < outer; ++o, next(of, at, last)) {
      const Line<F> x{value(in) + start(in, at, last), step},
          y{value(of.out) + start(of.out, at, last), out_step};
      if constexpr (!kBackward) {
        line_values(of.kind, x, y, count);
      } else {
        F* to = slope(in);
        if (to == nullptr) return;
        add_line_slopes(of.kind, {to + start(in, at, last), step}, x, y,
                        {slope(of.out) + start(of.out, at, last), out_step}, count);
      }
    }
  }

  // out[.., n] = sum_k a[.., n, k] b[.., n, k], where n is in the last dimension but one.
  template <bool kBackward>
  void contraction(const ArrayInstruction& of, const ArrayView& a, const ArrayView& b) {
    const int last = of.dims - 1;
    const Index inner = of.shape[last], columns = last > 0 ? of.shape[last - 1] : 1;
    Index outer = 1;
    for (int d = 0; d + 1 < last; ++d) outer *= of.shape[d];
    Index at[kArrayDims] = {};
    for (Index o = 0; o < outer; ++o, next(of, at, last - 1)) {
      const Factor left{value(a) + start(a, at, last - 1), column(a, last), a.stride[last]},
          right{value(b) + start(b, at, last - 1), column(b, last), b.stride[last]};
      const Index out_step = column(of.out, last), out_at = start(of.out, at, last - 1);
      if constexpr (!kBackward) {
        F* out = value(of.out) + out_at;
        if (out_step == 1 && left.column == 0 && right.column == 1)
          sum_rows(out, left, right, columns, inner);
        else if (out_step == 1 && right.column == 0 && left.column == 1)
          sum_rows(out, right, left, columns, inner);
        else
          for (Index n = 0; n < columns; ++n)
            out[n * out_step] = product(left.at + n * left.column, left.inner,
                                        right.at + n * right.column, right.inner, inner);
      } else {
        const F* g = slope(of.out) + out_at;
        if (F* to = slope(a))
          spread(to + start(a, at, last - 1), left.column, left.inner, right, g, out_step, columns,
                 inner);
        if (F* to = slope(b))
          spread(to + start(b, at, last - 1), right.column, right.inner, left, g, out_step, columns,
                 inner);
      }
    }
  }
  struct Factor {
    const F* at;
    Index column, inner;
  };
  static Index column(const ArrayView& view, int last) {
    return last > 0 ? view.stride[last - 1] : 0;
  }
  static F product(const F* x, Index x_step, const F* y, Index y_step, Index count) {
    if (x_step == 1 && y_step == 1) return dot(x, y, count);
    F sum = 0;
    for (Index k = 0; k < count; ++k) sum += x[k * x_step] * y[k * y_step];
    return sum;
  }
  // ---- Products with rows of up to kTile vectors, which stay in registers ----

  static constexpr int kTile = 4;

  // Calls of(vectors), a constant, for the whole and partial vectors of `count` numbers.
  template <class Of>
  [[gnu::always_inline]] static void in_tile(Index count, Of of) {
    if (count <= kL) return of(std::integral_constant<int, 1>());
    if (count <= 2 * kL) return of(std::integral_constant<int, 2>());
    if (count <= 3 * kL) return of(std::integral_constant<int, 3>());
    of(std::integral_constant<int, kTile>());
  }

  // out[n] = sum_k weights[k] rows[k][n]
  static void sum_rows(F* out, const Factor& weights, const Factor& rows, Index columns,
                       Index inner) {
    for (Index n = 0; n < columns; n += kTile * kL) {
      const Index count = columns - n < kTile * kL ? columns - n : kTile * kL;
      in_tile(count, [&](auto vectors) {
        constexpr int kVectors = vectors;
        Vector<F> sums[kVectors] = {};
        const F *row = rows.at + n, *weight = weights.at;
        for (Index k = 0; k < inner; ++k, row += rows.inner, weight += weights.inner) {
          const Vector<F> factor = splat(*weight);
          unrolled<kVectors>(PUSHDOWN_UNROLLED(v) { sums[v] += factor * load(row + v * kL); });
        }
        unrolled<kVectors - 1>(PUSHDOWN_UNROLLED(v) { store(out + n + v * kL, sums[v]); });
        store_first(out + n + (kVectors - 1) * kL, sums[kVectors - 1], count - (kVectors - 1) * kL);
      });
    }
  }
  static void store_first(F* to, Vector<F> numbers, Index count) {
    if (count == kL) return store(to, numbers);
    for (Index i = 0; i < count; ++i) to[i] = numbers[i];
  }
  // to[k] += sum_n g[n] rows[k][n], for at most kTile vectors of columns
  static void add_dots(F* to, Index to_step, const F* g, const F* rows, Index step, Index columns,
                       Index inner) {
    in_tile(columns, [&](auto vectors) {
      constexpr int kVectors = vectors;
      Vector<F> given[kVectors];
      unrolled<kVectors>(PUSHDOWN_UNROLLED(v) { given[v] = load(g + v * kL); });
      const auto last = first_lanes<F>(columns - (kVectors - 1) * kL);
      const auto products = [&](const F* row) __attribute__((always_inline)) {
        // Numbers after the row may be anything.
        const Vector<F> end = given[kVectors - 1] * load(row + (kVectors - 1) * kL);
        Vector<F> sum = last ? end : Vector<F>{};
        unrolled<kVectors - 1>(PUSHDOWN_UNROLLED(v) { sum += given[v] * load(row + v * kL); });
        return sum;
      };
      Index k = 0;
      for (; k + 4 <= inner; k += 4, rows += 4 * step) {
        const Vector<F> four[4] = {products(rows), products(rows + step), products(rows + 2 * step),
                                   products(rows + 3 * step)};
        F sums[4];
        store_sums<F, 4>(four, sums);
        for (int i = 0; i < 4; ++i) to[(k + i) * to_step] += sums[i];
      }
      for (; k < inner; ++k, rows += step) to[k * to_step] += sum_of(products(rows));
    });
  }
  // to[k][n] += g[n] weights[k], for at most kTile vectors of columns
  static void add_outer(F* to, Index step, const F* g, const F* weights, Index weight_step,
                        Index columns, Index inner) {
    in_tile(columns, [&](auto vectors) {
      constexpr int kVectors = vectors;
      const Index rest = columns - (kVectors - 1) * kL;
      Vector<F> given[kVectors];
      unrolled<kVectors>(PUSHDOWN_UNROLLED(v) { given[v] = load(g + v * kL); });
      const auto last = first_lanes<F>(rest);
      for (Index k = 0; k < inner; ++k, to += step) {
        const Vector<F> weight = splat(weights[k * weight_step]);
        unrolled<kVectors - 1>(
            PUSHDOWN_UNROLLED(v) { store(to + v * kL, load(to + v * kL) + given[v] * weight); });
        F* end = to + (kVectors - 1) * kL;
        const Vector<F> product = given[kVectors - 1] * weight;
        // A whole vector may extend into the following rows, which it leaves as they are.
        const bool inside = step >= columns && kVectors * kL <= (inner - 1 - k) * step + columns;
        if (inside)
          store(end, load(end) + (last ? product : Vector<F>{}));
        else
          for (Index i = 0; i < rest; ++i) end[i] += product[i];
      }
    });
  }
  // to[n, k] += g[n] other[n, k]
  static void spread(F* to, Index to_column, Index to_inner, const Factor& other, const F* g,
                     Index g_step, Index columns, Index inner) {
    const bool in_registers = columns <= kTile * kL;
    if (to_column == 0 && other.column == 1 && g_step == 1) {
      if (in_registers) return add_dots(to, to_inner, g, other.at, other.inner, columns, inner);
      for (Index k = 0; k < inner; ++k)
        to[k * to_inner] += dot(g, other.at + k * other.inner, columns);
    } else if (to_column == 1 && other.column == 0 && g_step == 1) {
      if (in_registers) return add_outer(to, to_inner, g, other.at, other.inner, columns, inner);
      for (Index k = 0; k < inner; ++k)
        add_scaled(to + k * to_inner, g, other.at[k * other.inner], columns);
    } else if (to_inner == 1 && other.inner == 1) {
      for (Index n = 0; n < columns; ++n)
        add_scaled(to + n * to_column, other.at + n * other.column, g[n * g_step], inner);
    } else {
      for (Index n = 0; n < columns; ++n)
        for (Index k = 0; k < inner; ++k)
          to[n * to_column + k * to_inner] +=
              g[n * g_step] * other.at[n * other.column + k * other.inner];
    }
  }

  const ArrayCode<F>& code_;
  F* const* values_;
  F* const* slopes_;
};

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
