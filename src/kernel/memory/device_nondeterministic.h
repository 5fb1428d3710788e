// The nondeterministic stack for the CUDA kernels: its recurrence in posterior form
// (stack/nondeterministic.h, notation; nondeterministic_generic.h, the same on the CPU), with the
// layers that choose its actions and read it. It exists for any number of states and symbols (kQ =
// kS = 0), and for numbers known at compile time: then loops are unrolled, and there is no division
// by a number that must be loaded.
//
// Letters: nodes 0 .. N+1 for N steps, of which U are updates of this run, C configurations, W = 2C
// + Q actions, m channels.
//   columns : column j has, for channel 0 (P) and the m channels of V, C rows (target
//             configuration b) of j*C numbers, P[i->j][a->b] at i*C + a
//   popped  : node j has Q rows of (j-1)*C numbers, the pop factors M[k][(t,y)->r] at k*C + (t,y)
// There is no padding: consecutive threads take consecutive numbers of a row. With a window D, all
// rows have D*C numbers, those of the nodes j-D .. j-1; row() still counts from node 0.
//
// A step into node j = p + 1 has these stages, with a barrier in between: the factors; all rows of
// column j, with a thread for each place (i, a) and symbol, which computes the sums of kTile
// states; the masses, with a group of threads for each; the scaling. The backward step has the same
// stages; the gradients of the pop factors of a node and symbol are the sums of a part of a group.
// The pop factors of a step, which all threads read at once, are in fast memory; the kTile numbers
// that belong together are one pack.
#pragma once
#include <type_traits>

#include "kernel/memory/automaton_content.h"
#include "kernel/memory/automaton_range.h"

namespace pushdown::device {

// kNear: the pop factors are in fast memory however many they are. Otherwise the shape decides.
template <class F, int kQ, int kS, bool kLimited, bool kNear = false>
struct NondeterministicLoops {
  // States processed at once. Their pop factors lie together, a power of two of them.
  static constexpr int kTile = kQ == 0 || kQ > 4 ? 4 : kQ;
  // Number of pop factors that are kept in fast memory; more are in scratch.
  static constexpr Count kMostNear = 4096;
  static constexpr int kPack = kTile == 3 ? 4 : kTile;
  struct alignas(kPack * sizeof(F)) Pack {
    F of[kTile];
  };

  // Numbers of a row, of one node, that a thread processes at once: rows and columns begin at
  // multiples of it.
  static constexpr int kC = kQ * kS;
  static constexpr int kWide = kC == 0       ? 1
                               : kC % 4 == 0 ? 4
                               : kC % 2 == 0 ? 2
                               : kC % 3 == 0 ? 3
                                             : 1;
  static constexpr std::size_t kWideBytes = kWide == 3 ? sizeof(F) : kWide * sizeof(F);
  struct alignas(kWideBytes < 16 ? kWideBytes : 16) Wide {
    F of[kWide];
  };
  PUSHDOWN_DEVICE static const Wide& wide(const F* place) {
    return *reinterpret_cast<const Wide*>(place);
  }
  PUSHDOWN_DEVICE static Wide& wide(F* place) { return *reinterpret_cast<Wide*>(place); }
  // Calls body(i), i a multiple of kWide, for all `count` numbers.
  template <class Team, class Body>
  PUSHDOWN_DEVICE static void each_wide(const Team& team, Index count, const Body& body) {
    each(team, count / kWide, [&](Index i) { body(i * kWide); });
  }
  PUSHDOWN_DEVICE static F dot_wide(const Wide& x, const Wide& y) {
    F sum = 0;
    PUSHDOWN_UNROLL
    for (int k = 0; k < kWide; ++k) sum += x.of[k] * y.of[k];
    return sum;
  }
  // Parts of the tape and of scratch begin at such multiples, too.
  PUSHDOWN_HOST_DEVICE static Count rounded(Count count) { return (count + 3) / 4 * 4; }

  // A size that is either known at compile time or not.
  template <int kSize>
  struct Size {
    PUSHDOWN_HOST_DEVICE explicit Size(Count) {}
    PUSHDOWN_HOST_DEVICE constexpr operator Index() const { return kSize; }
  };
  struct AnySize {
    Index size;
    PUSHDOWN_HOST_DEVICE explicit AnySize(Count given) : size(static_cast<Index>(given)) {}
    PUSHDOWN_HOST_DEVICE operator Index() const { return size; }
  };
  template <int kSize>
  using SizeOf = std::conditional_t<kQ == 0, AnySize, Size<kSize>>;

  // The nodes before the first update and after the last one.
  std::conditional_t<kLimited, AnySize, Size<1>> head;
  // Update 0 of the run; 1 if the run begins with another one.
  std::conditional_t<kLimited, AnySize, Size<0>> first_update;
  Index last;
  SizeOf<kQ> q;
  SizeOf<kS> s;
  SizeOf<kQ * kS> c;
  SizeOf<2 * kQ * kS + kQ> w;
  Index m;
  std::conditional_t<kLimited, AnySize, Size<0>> window;
  bool reexposed, state_symbol, normalized, goes_on, held_constant;
  // Kept: U x C x W transition weights, U x m pushed vectors, forward weights and masses of nodes.
  F *weights, *vectors, *forward_weights, *mass, *columns, *popped;
  F *head_vectors, *last_vectors;  // m x C, of these nodes if the run goes on
  // Gradients of the numerators, of the gauge-invariant forward weights, and of pop factors.
  F *numerators, *forward_gradients, *popped_gradient;
  F *weight_gradient, *reading_rows, *vector_gradient;  // in fast memory, with `largest`
  F* largest;                                           // score of each row
  Pack* near;                                           // pop factors of the step, see above
  F* readings;
  const F* bottom;
  const F* left_gradient = nullptr;  // of the content that the run left; null: none

  PUSHDOWN_DEVICE NondeterministicLoops(const MemoryShape& shape, const StackMemory<F>& memory)
      : head(shape.automaton.held + 1),
        first_update(shape.held_moves ? 1 : 0),
        last(static_cast<Index>(shape.automaton.steps) + 1),
        q(shape.automaton.states),
        s(shape.automaton.symbols),
        c(configurations(shape)),
        w(2 * configurations(shape) + shape.automaton.states),
        m(shape.automaton.channels),
        window(window_of(shape)),
        reexposed(shape.reexposed),
        state_symbol(shape.state_symbol),
        normalized(shape.normalized),
        goes_on(shape.goes_on),
        held_constant(shape.held_constant),
        weights(memory.tape),
        vectors(weights + rounded(updates_of(shape) * c * w)),
        forward_weights(vectors + rounded(updates_of(shape) * m)),
        mass(forward_weights + rounded((last + 1) * c)),
        columns(mass + rounded((last + 1) * c)),
        popped(columns + rounded(columns_size(shape))),
        head_vectors(popped + rounded(popped_size(shape) * q * c)),
        last_vectors(head_vectors + m * c),
        numerators(memory.scratch),
        forward_gradients(numerators + rounded(columns_size(shape))),
        popped_gradient(forward_gradients + rounded((last + 1) * c)),
        weight_gradient(memory.fast),
        reading_rows(weight_gradient + c * w),
        vector_gradient(reading_rows + (1 + m) * c),
        largest(vector_gradient + m),
        near(aligned(is_near(shape) ? largest + c : popped_gradient + popped_nodes(shape) * q * c)),
        readings(memory.readings),
        bottom(memory.bottom) {}

  // 0 also if it is longer than the only piece of a sequence.
  PUSHDOWN_HOST_DEVICE static Count window_of(const MemoryShape& shape) {
    const auto& automaton = shape.automaton;
    return shape.goes_on || automaton.window <= automaton.steps ? automaton.window : 0;
  }
  // Numbers of columns 0 .. j-1 for one row, times C.
  template <class Number>
  PUSHDOWN_HOST_DEVICE static Number before(Number j, Number c, Number window) {
    return (window > 0 ? (j - 1) * window : j * (j - 1) / 2) * c * c;
  }
  PUSHDOWN_HOST_DEVICE static Count configurations(const MemoryShape& shape) {
    return static_cast<Count>(shape.automaton.states) * shape.automaton.symbols;
  }
  PUSHDOWN_HOST_DEVICE static Count updates_of(const MemoryShape& shape) {
    return shape.steps - 1 + (shape.held_moves ? 1 : 0);
  }
  PUSHDOWN_HOST_DEVICE static Count columns_size(const MemoryShape& shape) {
    return (1 + shape.automaton.channels) *
           before<Count>(shape.automaton.steps + 2, configurations(shape), window_of(shape));
  }
  // Number of nodes of the pop factors, for one row, of all steps and of one step.
  PUSHDOWN_HOST_DEVICE static Count popped_size(const MemoryShape& shape) {
    const Count n = shape.automaton.steps, window = window_of(shape);
    return window > 0 ? n * window : n * (n + 1) / 2;
  }
  PUSHDOWN_HOST_DEVICE static Count popped_nodes(const MemoryShape& shape) {
    const Count window = window_of(shape);
    return window > 0 ? window : shape.automaton.steps + 2;
  }
  PUSHDOWN_HOST_DEVICE static Count tape_size(const MemoryShape& shape) {
    const Count c = configurations(shape), u = updates_of(shape), q = shape.automaton.states;
    return rounded(u * c * (2 * c + q)) + rounded(u * shape.automaton.channels) +
           2 * rounded((shape.automaton.steps + 2) * c) + rounded(columns_size(shape)) +
           rounded(q * c * popped_size(shape)) + rounded(2 * shape.automaton.channels * c);
  }
  PUSHDOWN_HOST_DEVICE static Count scratch_size(const MemoryShape& shape) {
    const Count c = configurations(shape), near = near_size(shape);
    return rounded(columns_size(shape)) + rounded((shape.automaton.steps + 2) * c) +
           rounded(shape.automaton.states * popped_nodes(shape) * c) +
           (is_near(shape) ? 0 : near + kPack);
  }
  PUSHDOWN_HOST_DEVICE static Count fast_size(const MemoryShape& shape) {
    const Count c = configurations(shape), m = shape.automaton.channels;
    const Count near = is_near(shape) ? near_size(shape) + kPack : 0;
    const Count all = c * (2 * c + shape.automaton.states) + (1 + m) * c + m + c + near;
    // With the gradient of the actions, a multiple of what is processed at once.
    return rounded(all + shape.actions) - shape.actions;
  }
  // One pack for each tile of states, node below and configuration.
  PUSHDOWN_HOST_DEVICE static Index tiles(Index states) { return (states + kTile - 1) / kTile; }
  PUSHDOWN_HOST_DEVICE static Count near_size(const MemoryShape& shape) {
    const Count window = window_of(shape), nodes = window > 0 ? window : shape.automaton.steps;
    return tiles(shape.automaton.states) * kPack * nodes * configurations(shape);
  }
  PUSHDOWN_HOST_DEVICE static bool is_near(const MemoryShape& shape) {
    return kNear || near_size(shape) <= kMostNear;
  }
  // Not through an integer, so that a compiler still knows the kind of memory.
  PUSHDOWN_HOST_DEVICE static Pack* aligned(F* place) {
    const auto at = reinterpret_cast<std::uintptr_t>(place) / sizeof(F) % kPack;
    return reinterpret_cast<Pack*>(place + (kPack - at) % kPack);
  }

  // i / by and i % by.
  struct Divided {
    Index quotient, remainder;
  };
  PUSHDOWN_DEVICE static Divided divided(Index i, Index by) {
    const auto of = static_cast<std::uint32_t>(i), parts = static_cast<std::uint32_t>(by);
    return {static_cast<Index>(of / parts), static_cast<Index>(of % parts)};
  }

  // The oldest node that column j reaches.
  PUSHDOWN_DEVICE Index lowest(Index j) const { return window > 0 && j > window ? j - window : 0; }
  // Length of a row of column j, and the index of its first number when counted from node 0.
  PUSHDOWN_DEVICE Index length(Index j) const { return (window > 0 ? window : j) * c; }
  PUSHDOWN_DEVICE Index origin(Index j) const { return window > 0 ? (j - window) * c : 0; }
  // Row b of column j and channel in `of`, which has the layout of columns; valid from lowest(j)*C
  // on.
  PUSHDOWN_DEVICE F* row(F* of, Index j, Index channel, Index b) const {
    return of + (1 + m) * before<Index>(j, c, Index(window)) + (channel * c + b) * length(j) -
           origin(j);
  }
  // Iterates over the same row of successive columns.
  struct Walk {
    Index end, length, width;     // of the column's entries; of a row; C
    Index stride, more, growing;  // to the next column; growth of the stride and of its rows
    PUSHDOWN_DEVICE void go_on(const F*& place) {
      place += stride;
      stride += more;
      length += growing;
      end += width;
    }
  };
  PUSHDOWN_DEVICE Walk walk_from(Index j, Index channel, Index b) const {
    const Index more = (1 + m) * c * c;
    if (window > 0) return {j * c, window * c, c, more * window - c, 0, 0};
    return {j * c, j * c, c, more * j + (channel * c + b) * c, more, c};
  }

  // Row r of the pop factors of node j >= 2, valid from lowest(j)*C on.
  PUSHDOWN_DEVICE F* factors(Index j, Index r) const {
    if (window > 0) return popped + (q * (j - 2) + r) * window * c - origin(j);
    return popped + q * c * ((j - 1) * (j - 2) / 2) + r * (j - 1) * c;
  }
  PUSHDOWN_DEVICE Index reading_size() const { return m > 0 ? c * m : state_symbol ? c : s; }
  PUSHDOWN_DEVICE F* reading_of(Index node) const {
    return readings + (node - head - first_update) * reading_size();
  }
  // The contents before the first update and after the last one, and the rows of their columns.
  PUSHDOWN_DEVICE AutomatonContent<F> taken(const F* numbers) const {
    return {c, m, head - 1, 1, const_cast<F*>(numbers)};
  }
  PUSHDOWN_DEVICE AutomatonContent<F> left(const F* numbers) const {
    const Index most = window - 1, kept = last - 1 < most ? last - 1 : most;
    return {c, m, kept, last - kept, const_cast<F*>(numbers)};
  }
  PUSHDOWN_DEVICE auto rows_of(F* of) const {
    return [this, of](Index j, Index r) { return row(of, j, 0, r); };
  }

  // Reads u of the node, or the expected vectors times u.
  template <class Team>
  PUSHDOWN_DEVICE void read(const Team& team, Index node) const {
    const F* u = forward_weights + node * c;
    F* reading = reading_of(node);
    if (m > 0) {
      sums<F>(
          team, c * m, [&](Index) { return (node - lowest(node)) * c; },
          [&](Index place) {
            const F* from = row(columns, node, 1 + place % m, place / m) + lowest(node) * c;
            return [from](Index e) { return from[e]; };
          },
          [&](Index place, F sum) { reading[place] = u[place / m] * sum; });
      return;
    }
    each(team, reading_size(), [&](Index place) {
      F sum = 0;
      for (Index b = place; b < c; b += state_symbol ? c : s) sum += u[b];
      reading[place] = sum;
    });
  }

  template <class Team>
  PUSHDOWN_DEVICE void begin(const Team& team, const F*, F*) {
    if constexpr (kLimited)
      if (goes_on) return take_over(team, taken(bottom));
    each(team, 2 * c, [&](Index i) {
      forward_weights[i] = i == 0 || i == c ? F(1) : F(0);
      mass[i] = i == c ? F(1) : F(0);
    });
    // Column 1: the edge of the initial bottom symbol, from configuration 0 to configuration 0.
    each(team, (1 + m) * c * c, [&](Index i) {
      const auto [b, a] = divided(i, c);
      const Index channel = b / c;
      F value = 0;
      if (reexposed && i == channel * c * c) value = channel == 0 ? F(1) : bottom[channel - 1];
      row(columns, 1, 0, b)[a] = value;
    });
    team.sync();
    read(team, 1);
    team.sync();
    // The initial bottom is read at first even if it can never be seen again.
    each(team, m, [&](Index k) { readings[k] = bottom[k]; });
  }

  template <class Team>
  PUSHDOWN_DEVICE void take_over(const Team& team, const AutomatonContent<F>& content) {
    F* u = forward_weights + head * c;
    each(team, c, [&](Index b) { u[b] = content.forward()[b]; });
    // The gradients of these columns are not divided by a mass.
    each(team, (head + 1) * c, [&](Index i) { mass[i] = 1; });
    each(team, m * c, [&](Index i) { head_vectors[i] = content.vectors()[i]; });
    for (Index j = 1; j <= head; ++j)
      each(team, (1 + m) * c * length(j),
           [&](Index i) { (row(columns, j, 0, 0) + origin(j))[i] = 0; });
    team.sync();
    content.write_edges(team, rows_of(columns));
    if (first_update > 0) {
      team.sync();
      return advance(team, 0, content.actions());
    }
    if (m == 0) return read(team, head);
    each(team, c * m, [&](Index i) { readings[i] = u[i / m] * head_vectors[i % m * c + i / m]; });
  }
  template <class Team>
  requires kLimited PUSHDOWN_DEVICE void leave(const Team& team, F* numbers) const {
    const auto content = left(numbers);
    content.read_edges(team, rows_of(columns));
    each(team, c, [&](Index b) { content.forward()[b] = forward_weights[last * c + b]; });
    each(team, m * c, [&](Index i) {
      const F* own = row(columns, last, 0, c + i);
      F sum = 0;
      for (Index e = lowest(last) * c; e < last * c; ++e) sum += own[e];
      last_vectors[i] = content.vectors()[i] = sum;
    });
  }

  // Computes the transition weights from the scores of the action layer.
  template <class Team>
  PUSHDOWN_DEVICE void weigh(const Team& team, const F* given, const F* from,
                             const AutomatonRange<F>& range, F* used) {
    const bool again = range.raised > 0;
    each(team, c, [&](Index a) {
      F greatest = given[a * w];
      for (Index k = 1; k < w; ++k)
        if (given[a * w + k] > greatest) greatest = given[a * w + k];
      largest[a] = greatest;
      if (!normalized || !again) return;
      // The logarithm of the sum instead, because the weights are not divided by it below.
      F sum = 0;
      for (Index k = 0; k < w; ++k) sum += exponential(given[a * w + k] - greatest);
      largest[a] += std::log(sum);
    });
    team.sync();
    // A common factor changes nothing, so the largest usable weight is scaled to 1.
    F common = 0;
    bool any = false;
    for (Index a = 0; !normalized && a < c; ++a)
      if (from[a] > 0 && (!any || largest[a] > common)) {
        common = largest[a];
        any = true;
      }
    each(team, c * w, [&](Index i) {
      const Index a = i / w;
      const F x = given[i] - (normalized ? largest[a] : common);
      used[i] = from[a] > 0 ? range.kept(exponential(range.exponent(x))) : F(0);
    });
    if (!normalized || again) return;
    team.sync();
    each(team, c, [&](Index a) {
      if (!(from[a] > 0)) return;
      F sum = 0;
      for (Index k = 0; k < w; ++k) sum += used[a * w + k];
      const F factor = 1 / sum;
      for (Index k = 0; k < w; ++k) used[a * w + k] = range.kept(used[a * w + k] * factor);
    });
  }

  // Computes numbers e .. e + kWide - 1 of rows of column j, for a tile of states with symbol y:
  // replace and pop. `low`: the smallest e that the group processes at once, so that it visits the
  // columns together.
  PUSHDOWN_DEVICE void fill(Index j, Index channel, Index tile, Index y, Index e, Index low,
                            const F* u, const F* used) const {
    const Index p = j - 1, first = tile * kTile;
    F total[kTile][kWide] = {};
    const F* below = row(columns, p, channel, 0) + e;
    for (Index a = 0; a < c; ++a) {
      const Wide value = wide(below + a * length(p));
      const F* weight = used + a * w + c + first * s + y;
      PUSHDOWN_UNROLL
      for (int r = 0; r < kTile; ++r) {
        if (!is_state(first + r)) continue;
        const F factor = u[a] * weight[r * s];
        PUSHDOWN_UNROLL
        for (int k = 0; k < kWide; ++k) total[r][k] += value.of[k] * factor;
      }
    }
    const Index from = divided(low, c).quotient + 1, oldest = lowest(j);
    const Pack* factor = near + ((tile * (p - oldest) + from - oldest) * c + y);
    const F* column = row(columns, from, channel, y) + e;
    Walk walk = walk_from(from, channel, y);
    const Index end = p * c;
    PUSHDOWN_UNROLL_SOME
    for (; walk.end < end; walk.go_on(column)) {
      for (Index t = 0; t < q; ++t) {
        const Wide value = e < walk.end ? wide(column + t * s * walk.length) : Wide{};
        const Pack own = factor[t * s];
        PUSHDOWN_UNROLL
        for (int r = 0; r < kTile; ++r) {
          PUSHDOWN_UNROLL
          for (int k = 0; k < kWide; ++k) total[r][k] += value.of[k] * own.of[r];
        }
      }
      factor += c;
    }
    PUSHDOWN_UNROLL
    for (int r = 0; r < kTile; ++r) {
      if (!is_state(first + r)) continue;
      Wide all;
      PUSHDOWN_UNROLL
      for (int k = 0; k < kWide; ++k) all.of[k] = total[r][k];
      wide(row(columns, j, channel, (first + r) * s + y) + e) = all;
    }
  }
  PUSHDOWN_DEVICE bool is_state(Index r) const { return kQ == kTile || r < q; }

  template <class Team>
  PUSHDOWN_DEVICE void forward(const Team& team, Index update, const F* given, F*) {
    advance(team, first_update + update, given);
  }
  // Update number `update` of all, with the first one.
  template <class Team>
  PUSHDOWN_DEVICE void advance(const Team& team, Index update, const F* given) {
    const Index p = head + update, j = p + 1;
    const F* u = forward_weights + p * c;
    F* used = weights + update * c * w;
    F* pushed = vectors + update * m;
    each(team, m, [&](Index k) { pushed[k] = given[c * w + k]; });
    AutomatonRange<F> range;
    do {
      weigh(team, given, u, range, used);
      team.sync();
      step(team, j, u, used, pushed);
    } while (range.again(total_of(u), total_of(mass + j * c)));
    read(team, j);
  }
  // Every thread computes the same number.
  PUSHDOWN_DEVICE F total_of(const F* configurations) const {
    F total = 0;
    for (Index b = 0; b < c; ++b) total += configurations[b];
    return total;
  }
  // Column j and its forward weights.
  template <class Team>
  PUSHDOWN_DEVICE void step(const Team& team, Index j, const F* u, const F* used, const F* pushed) {
    const Index p = j - 1;
    // Restricted to the nodes that column j reaches.
    const Index oldest = lowest(j) * c, older = p * c - oldest;
    each_wide(team, tiles(q) * older, [&](Index i) {
      const auto [tile, place] = divided(i, older);
      const Index e = oldest + place;
      F total[kTile][kWide] = {};
      for (Index a = 0; a < c; ++a) {
        const Wide value = wide(row(columns, p, 0, a) + e);
        PUSHDOWN_UNROLL
        for (int r = 0; r < kTile; ++r) {
          if (!is_state(tile * kTile + r)) continue;
          const F factor = u[a] * used[a * w + 2 * c + tile * kTile + r];
          PUSHDOWN_UNROLL
          for (int k = 0; k < kWide; ++k) total[r][k] += value.of[k] * factor;
        }
      }
      PUSHDOWN_UNROLL
      for (int k = 0; k < kWide; ++k) {
        Pack all;
        PUSHDOWN_UNROLL
        for (int r = 0; r < kTile; ++r) all.of[r] = total[r][k];
        near[i + k] = all;
      }
      PUSHDOWN_UNROLL
      for (int r = 0; r < kTile; ++r) {
        if (!is_state(tile * kTile + r)) continue;
        Wide all;
        PUSHDOWN_UNROLL
        for (int k = 0; k < kWide; ++k) all.of[k] = total[r][k];
        wide(factors(j, tile * kTile + r) + e) = all;
      }
    });
    team.sync();
    each_wide(team, (1 + m) * s * tiles(q) * older, [&](Index i) {
      const auto [rest, place] = divided(i, older);
      const auto [channel, part] = divided(rest, s * tiles(q));
      const auto [tile, y] = divided(part, s);
      const Index before = team.lane() * kWide, low = place > before ? place - before : 0;
      fill(j, channel, tile, y, oldest + place, oldest + low, u, used);
    });
    each(team, (1 + m) * c * c, [&](Index i) {
      const Index channel = i / (c * c), b = i / c % c, a = i % c;
      row(columns, j, channel, b)[p * c + a] =
          (channel > 0 ? pushed[channel - 1] : F(1)) * u[a] * used[a * w + b];
    });
    team.sync();
    sums<F>(
        team, c, [&](Index) { return older + c; },
        [&](Index b) {
          const F* own = row(columns, j, 0, b) + oldest;
          return [own](Index e) { return own[e]; };
        },
        [&](Index b, F sum) { mass[j * c + b] = sum; });
    team.sync();
    const F* z = mass + j * c;
    const F total = total_of(z), least = AutomatonRange<F>::least(total);
    each_wide(team, (1 + m) * c * (older + c), [&](Index i) {
      const auto [b, place] = divided(i, older + c);
      const F sum = z[divided(b, c).remainder], scale = sum < least ? F(0) : 1 / sum;
      Wide& own = wide(row(columns, j, 0, b) + oldest + place);
      Wide all = own;
      PUSHDOWN_UNROLL
      for (int k = 0; k < kWide; ++k) all.of[k] *= scale;
      own = all;
    });
    each(team, c,
         [&](Index b) { forward_weights[j * c + b] = z[b] < least ? F(0) : z[b] / total; });
    team.sync();
  }

  template <class Team>
  PUSHDOWN_DEVICE void begin_backward(const Team& team) {
    each(team, (last + 1) * c, [&](Index i) { forward_gradients[i] = 0; });
    // The last column's gradient starts from this.
    F* column = row(numerators, last, 0, 0) + origin(last);
    each(team, (1 + m) * c * length(last), [&](Index i) { column[i] = 0; });
    left_gradient = nullptr;
  }
  template <class Team>
  requires kLimited PUSHDOWN_DEVICE void begin_backward(const Team& team, const F* given) {
    begin_backward(team);
    left_gradient = given;
  }

  // Adds the gradient of a reading to the rows of its column, see memory/nondeterministic.h.
  template <class Team>
  PUSHDOWN_DEVICE void spread(const Team& team, Index node, const F* given) {
    const F* u = forward_weights + node * c;
    F mean = 0;
    if (m > 0) {
      const F* expected = reading_of(node);
      for (Index i = 0; i < c * m; ++i) mean += given[i] * expected[i];
    } else {
      for (Index b = 0; b < c; ++b) mean += given[state_symbol ? b : b % s] * u[b];
    }
    each(team, (1 + m) * c, [&](Index i) {
      const Index channel = i / c, b = i - channel * c;
      F slope;
      if (m > 0)
        slope = channel == 0 ? -mean : given[b * m + channel - 1];
      else
        slope = given[state_symbol ? b : b % s] - mean;
      reading_rows[i] = u[b] * slope;
    });
  }

  // Completes the gradients of the numerators of column j; those of later nodes must be complete.
  template <class Team>
  PUSHDOWN_DEVICE void finish(const Team& team, Index j) {
    // The last node that pops through node j; one that reaches node i must not be above i + D.
    const Index end_node = window > 0 && j + window - 1 < last ? j + window - 1 : last;
    const Index first_node = kLimited && j < head - 1 ? head + 1 : j + 2;
    const Index oldest = lowest(j) * c, count = j * c - oldest;
    const F least = AutomatonRange<F>::least(total_of(mass + j * c));
    // In fast memory: for each tile of states t, later node l and configuration (r, y), the factors
    // of (t, y).
    const Index later = end_node >= first_node ? end_node - first_node + 1 : 0;
    each(team, tiles(q) * later * c, [&](Index i) {
      const auto [tile, rest] = divided(i, later * c);
      const auto [l, b] = divided(rest, c);
      const auto [r, y] = divided(b, s);
      const F* factor = factors(first_node + l, r) + j * c + tile * kTile * s + y;
      Pack all;
      PUSHDOWN_UNROLL
      for (int t = 0; t < kTile; ++t) all.of[t] = is_state(tile * kTile + t) ? factor[t * s] : F(0);
      near[i] = all;
    });
    team.sync();
    each_wide(team, (1 + m) * s * tiles(q) * count, [&](Index i) {
      const auto [rest, place] = divided(i, count);
      const auto [channel, part] = divided(rest, s * tiles(q));
      const auto [tile, y] = divided(part, s);
      const Index e = oldest + place;
      F total[kTile][kWide] = {};
      const Pack* factor = near + (tile * later * c + y);
      const F* column = row(numerators, first_node, channel, y) + e;
      Walk walk = walk_from(first_node, channel, y);
      Index end = end_node * c;
      if (window > 0) {
        const Index reach = (divided(e, c).quotient + window) * c;
        if (reach < end) end = reach;
      }
      PUSHDOWN_UNROLL_SOME
      for (; walk.end <= end; walk.go_on(column)) {
        for (Index r = 0; r < q; ++r) {
          const Wide slope = wide(column + r * s * walk.length);
          const Pack own = factor[r * s];
          PUSHDOWN_UNROLL
          for (int t = 0; t < kTile; ++t) {
            PUSHDOWN_UNROLL
            for (int k = 0; k < kWide; ++k) total[t][k] += slope.of[k] * own.of[t];
          }
        }
        factor += c;
      }
      PUSHDOWN_UNROLL
      for (int t = 0; t < kTile; ++t) {
        const Index state = tile * kTile + t, b = state * s + y;
        if (!is_state(state)) continue;
        const F z = mass[j * c + b], scale = z < least ? F(0) : 1 / z;
        F g = reading_rows[channel * c + b];
        if (channel == 0) g += forward_gradients[j * c + b];
        Wide& gradient = wide(row(numerators, j, channel, b) + e);
        Wide all = gradient;
        PUSHDOWN_UNROLL
        for (int k = 0; k < kWide; ++k)
          all.of[k] = AutomatonRange<F>::limited((all.of[k] + total[t][k] + g) * scale);
        gradient = all;
      }
    });
    each_wide(team, count, [&](Index place) {
      const Index e = oldest + place;
      Wide sum{};
      for (Index i = 0; i < (1 + m) * c; ++i) {
        const F g = reading_rows[i] + (i < c ? forward_gradients[j * c + i] : F(0));
        const Wide own = wide(row(columns, j, 0, i) + e);
        PUSHDOWN_UNROLL
        for (int k = 0; k < kWide; ++k) sum.of[k] += g * own.of[k];
      }
      Wide& gradient = wide(forward_gradients + e);
      Wide all = gradient;
      PUSHDOWN_UNROLL
      for (int k = 0; k < kWide; ++k) all.of[k] += sum.of[k];
      gradient = all;
    });
  }

  template <class Team>
  PUSHDOWN_DEVICE void backward(const Team& team, Index update, const F* reading_gradient, F* out) {
    undo(team, first_update + update, reading_gradient, out);
  }
  template <class Team>
  PUSHDOWN_DEVICE void undo(const Team& team, Index update, const F* reading_gradient, F* out) {
    const Index p = head + update, j = p + 1;
    const F* u = forward_weights + p * c;
    const F* used = weights + update * c * w;
    const F* pushed = vectors + update * m;
    spread(team, j, reading_gradient);
    if (kLimited && left_gradient != nullptr) {
      team.sync();
      const auto content = left(left_gradient);
      if (content.has_column(j))
        content.add_edges(team, j, rows_of(columns), rows_of(numerators), forward_gradients);
      if (j == last) content.add_head(team, forward_weights + j * c, last_vectors, reading_rows);
    }
    team.sync();
    finish(team, j);
    team.sync();
    each(team, c * c, [&](Index i) {
      const Index a = i / c, b = i - a * c;
      F sum = 0;
      for (Index channel = 0; channel <= m; ++channel)
        sum +=
            (channel > 0 ? pushed[channel - 1] : F(1)) * row(numerators, j, channel, b)[p * c + a];
      weight_gradient[a * w + b] = u[a] * sum;
    });
    sums<F>(
        team, m, [&](Index) { return c * c; },
        [&](Index k) {
          return [this, used, u, p, slopes = row(numerators, j, 1 + k, 0)](Index i) {
            const Index a = i / c, b = i - a * c;
            return used[a * w + b] * u[a] * slopes[b * length(p + 1) + p * c + a];
          };
        },
        [&](Index k, F sum) { vector_gradient[k] = sum; });
    // Row a of column p with kTile rows b of the numerators, by a group.
    const Index oldest = lowest(j) * c, nodes = p - lowest(j);
    const Index row_tiles = (c + kTile - 1) / kTile;
    for (Index i = team.group(); i < c * row_tiles; i += team.groups()) {
      const auto [a, tile] = divided(i, row_tiles);
      const Index first = tile * kTile, count = c - first < kTile ? Index(c - first) : Index{kTile};
      F sum[kTile] = {};
      for (Index channel = 0; channel <= m; ++channel) {
        const F *x = row(columns, p, channel, a), *y = row(numerators, j, channel, first);
        PUSHDOWN_UNROLL_SOME
        for (Index e = oldest + team.lane() * kWide; e < p * c; e += team.lanes() * kWide) {
          const Wide value = wide(x + e);
          PUSHDOWN_UNROLL
          for (int b = 0; b < kTile; ++b)
            if (b < count) sum[b] += dot_wide(value, wide(y + b * length(j) + e));
        }
      }
      PUSHDOWN_UNROLL
      for (int b = 0; b < kTile; ++b) {
        const F total = team.group_sum(sum[b]);
        if (b < count && team.lane() == 0) weight_gradient[a * w + c + first + b] = u[a] * total;
      }
    }
    // The rows (t, y) of column k with the rows (r, y) of the numerators, by a part of a group.
    // Those of the oldest node are 0, because nothing pops back to it.
    const Index parts = team.lanes() / team.part();
    const Index items = tiles(q) * tiles(q) * s * nodes;
    for (Index base = team.group() * parts; base < items; base += team.groups() * parts) {
      const Index item = base + team.lane() / team.part();
      const auto [rest, above_oldest] = divided(item < items ? item : 0, nodes);
      const auto [both, y] = divided(rest, s);
      const auto [tile, other] = divided(both, tiles(q));
      const Index k = lowest(j) + above_oldest, from = tile * kTile, to = other * kTile;
      const Index end = item < items ? k * c : 0;
      F sum[kTile][kTile] = {};
      for (Index channel = 0; channel <= m; ++channel) {
        const F* above = row(columns, k, channel, from * s + y);
        const F* slopes = row(numerators, j, channel, to * s + y);
        PUSHDOWN_UNROLL_SOME
        for (Index e = oldest + team.lane() % team.part() * kWide; e < end;
             e += team.part() * kWide) {
          Wide slope[kTile];
          PUSHDOWN_UNROLL
          for (int r = 0; r < kTile; ++r)
            slope[r] = is_state(to + r) ? wide(slopes + r * s * length(j) + e) : Wide{};
          PUSHDOWN_UNROLL
          for (int t = 0; t < kTile; ++t) {
            if (!is_state(from + t)) continue;
            const Wide value = wide(above + t * s * length(k) + e);
            PUSHDOWN_UNROLL
            for (int r = 0; r < kTile; ++r) sum[t][r] += dot_wide(value, slope[r]);
          }
        }
      }
      PUSHDOWN_UNROLL
      for (int t = 0; t < kTile; ++t) {
        PUSHDOWN_UNROLL
        for (int r = 0; r < kTile; ++r) {
          const F total = team.part_sum(sum[t][r]);
          if (item < items && team.lane() % team.part() == 0 && is_state(from + t) &&
              is_state(to + r))
            popped_gradient[((to + r) * nodes + above_oldest) * c + (from + t) * s + y] = total;
        }
      }
    }
    team.sync();
    sums<F>(
        team, c * q, [&](Index) { return nodes * c; },
        [&](Index i) {
          const F *x = row(columns, p, 0, i / q) + oldest, *y = popped_gradient + i % q * nodes * c;
          return [x, y](Index e) { return x[e] * y[e]; };
        },
        [&](Index i, F sum) { weight_gradient[i / q * w + 2 * c + i % q] = u[i / q] * sum; });
    const Index first = lowest(p) * c;
    each_wide(team, (1 + m) * c * (p * c - first), [&](Index i) {
      const auto [rest, place] = divided(i, p * c - first);
      const auto [channel, a] = divided(rest, c);
      const Index e = first + place;
      Wide sum{};
      const auto add = [&](const Wide& slope, F weight) {
        PUSHDOWN_UNROLL
        for (int k = 0; k < kWide; ++k) sum.of[k] += slope.of[k] * weight;
      };
      for (Index b = 0; e >= oldest && b < c; ++b)
        add(wide(row(numerators, j, channel, b) + e), used[a * w + c + b]);
      for (Index r = 0; channel == 0 && e >= oldest && r < q; ++r)
        add(wide(popped_gradient + r * nodes * c + e - oldest), used[a * w + 2 * c + r]);
      PUSHDOWN_UNROLL
      for (int k = 0; k < kWide; ++k) sum.of[k] *= u[a];
      wide(row(numerators, p, channel, a) + e) = sum;
    });
    team.sync();
    // Backward through the computation of the weights.
    F balance = 0, magnitude = 0;
    for (Index i = 0; !normalized && i < c * w; ++i) {
      const F slope = used[i] * weight_gradient[i];
      balance += slope;
      magnitude += slope < 0 ? -slope : slope;
    }
    const bool noise = !normalized && AutomatonRange<F>::is_noise(balance, magnitude);
    each(team, c, [&](Index a) {
      const F *to = used + a * w, *slope = weight_gradient + a * w;
      // The weights of a configuration sum to 1, or to exp(raised).
      F mean = 0, sum = 0;
      for (Index k = 0; normalized && k < w; ++k) {
        mean += to[k] * slope[k];
        sum += to[k];
      }
      if (sum > 0) mean /= sum;
      for (Index k = 0; k < w; ++k) out[a * w + k] = noise ? F(0) : to[k] * (slope[k] - mean);
    });
    each(team, m, [&](Index k) { out[c * w + k] = vector_gradient[k]; });
  }

  // A probability of the automaton depends on all previous steps: check_device_step() rejects
  // windows.
  template <class Team>
  PUSHDOWN_DEVICE void end_backward(const Team& team, const F* reading_gradient, F* out) {
    if constexpr (kLimited)
      if (goes_on) return give_back(team, taken(out), reading_gradient);
    if (m == 0) return;
    if (reexposed) {
      spread(team, 1, reading_gradient);
      team.sync();
      finish(team, 1);
      team.sync();
    }
    each(team, m, [&](Index k) {
      out[k] = reexposed ? row(numerators, 1, 1 + k, 0)[0] : reading_gradient[k];
    });
  }
  // The gradient of the content that the run took over, see memory/nondeterministic.h.
  template <class Team>
  PUSHDOWN_DEVICE void give_back(const Team& team, const AutomatonContent<F>& content,
                                 const F* reading_gradient) {
    if (first_update > 0) {
      undo(team, 0, reading_gradient, content.actions());
      team.sync();
    }
    if (held_constant) {
      const auto count = static_cast<Index>(content.actions() - content.numbers);
      return each(team, count, [&](Index i) { content.numbers[i] = 0; });
    }
    const bool read_first = first_update == 0;
    const F* u = forward_weights + head * c;
    each(team, c, [&](Index b) {
      F slope = 0;
      for (Index k = 0; u[b] >= AutomatonRange<F>::kSmallest && k < w; ++k)
        slope += weights[b * w + k] * weight_gradient[b * w + k] / u[b];
      if (m == 0 && read_first) slope += reading_gradient[state_symbol ? b : b % s];
      for (Index k = 0; k < m; ++k) {
        const F given = read_first ? reading_gradient[b * m + k] : F(0);
        slope += given * head_vectors[k * c + b];
        content.vectors()[k * c + b] = given * u[b];
      }
      content.forward()[b] = slope;
    });
    each(team, (1 + m) * c, [&](Index i) { reading_rows[i] = 0; });
    for (Index j = 1; j < head; ++j)
      each(team, (1 + m) * c * length(j),
           [&](Index i) { (row(numerators, j, 0, 0) + origin(j))[i] = 0; });
    for (Index j = head; j > 1; --j) {
      each(team, (head + 1) * c, [&](Index i) { forward_gradients[i] = 0; });
      team.sync();
      finish(team, j);
      team.sync();
    }
    content.read_edges(team, rows_of(numerators));
    if (left_gradient == nullptr) return;
    team.sync();
    const auto after = left(left_gradient);
    for (Index j = after.oldest + 1; j <= head; ++j)
      for (Index r = 0; r < (1 + m) * c; ++r)
        each_between(team, after.begin(), j * c,
                     [&](Index e) { content.row(j, r)[e] += after.row(j, r)[e]; });
  }
};

template <class F, int kQ = 0, int kS = 0>
struct NondeterministicStack : NondeterministicLoops<F, kQ, kS, false> {
  using NondeterministicLoops<F, kQ, kS, false>::NondeterministicLoops;
};
template <class F>
struct LimitedNondeterministicStack : NondeterministicLoops<F, 0, 0, true> {
  using NondeterministicLoops<F, 0, 0, true>::NondeterministicLoops;
};

// Calls visit.operator()<Stack>() with the automaton of this shape.
template <class F, class Visit>
auto with_automaton(const MemoryShape& shape, const Visit& visit) {
  const auto is = [&](int states, int symbols) {
    return shape.automaton.states == states && shape.automaton.symbols == symbols;
  };
  if (LimitedNondeterministicStack<F>::window_of(shape) > 0)
    return visit.template operator()<LimitedNondeterministicStack<F>>();
  if (is(2, 2)) return visit.template operator()<NondeterministicStack<F, 2, 2>>();
  if (is(3, 3)) return visit.template operator()<NondeterministicStack<F, 3, 3>>();
  return visit.template operator()<NondeterministicStack<F>>();
}

}  // namespace pushdown::device
