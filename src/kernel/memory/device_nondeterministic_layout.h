// The nondeterministic stack for the CUDA kernels: its recurrence in posterior form
// (stack/nondeterministic.h, notation; nondeterministic_generic.h, the same on the CPU), with the
// layers that choose its actions and read it. The numbers of states and symbols are known at
// compile time, so that loops are unrolled and nothing is divided by a number that must be loaded.
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

// The numbers that a sequence needs.
struct NondeterministicSizes {
  // States processed at once. Their pop factors lie together, a power of two of them.
  PUSHDOWN_HOST_DEVICE static constexpr int tile(int states) { return states > 4 ? 4 : states; }
  PUSHDOWN_HOST_DEVICE static constexpr int pack(int states) {
    return tile(states) == 3 ? 4 : tile(states);
  }
  // Parts of the tape and of scratch begin at such multiples.
  PUSHDOWN_HOST_DEVICE static Count rounded(Count count) { return (count + 3) / 4 * 4; }
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
    return shape.steps - 1 + (shape.automaton.held_moves ? 1 : 0);
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
    const Count c = configurations(shape);
    return rounded(columns_size(shape)) + rounded((shape.automaton.steps + 2) * c) +
           rounded(shape.automaton.states * popped_nodes(shape) * c);
  }
  PUSHDOWN_HOST_DEVICE static Count fast_size(const MemoryShape& shape) {
    const Count c = configurations(shape), m = shape.automaton.channels;
    const Count near = near_size(shape) + pack(shape.automaton.states);
    const Count all = c * (2 * c + shape.automaton.states) + (1 + m) * c + m + c + near;
    // With the gradient of the actions, a multiple of what is processed at once.
    return rounded(all + shape.actions) - shape.actions;
  }
  // One pack for each tile of states, node below and configuration.
  PUSHDOWN_HOST_DEVICE static Index tiles(Index states) {
    return (states + tile(states) - 1) / tile(states);
  }
  PUSHDOWN_HOST_DEVICE static Count near_size(const MemoryShape& shape) {
    const Count window = window_of(shape), nodes = window > 0 ? window : shape.automaton.steps;
    const int states = shape.automaton.states;
    return tiles(states) * pack(states) * nodes * configurations(shape);
  }
};

template <class F, int kQ, int kS, bool kLimited>
struct NondeterministicLoops : NondeterministicSizes {
  static constexpr int kTile = tile(kQ), kPack = pack(kQ);
  struct alignas(kPack * sizeof(F)) Pack {
    F of[kTile];
  };

  // Numbers of a row, of one node, that a thread processes at once: rows and columns begin at
  // multiples of it.
  static constexpr int kC = kQ * kS;
  static constexpr int kWide = kC % 4 == 0 ? 4 : kC % 2 == 0 ? 2 : kC % 3 == 0 ? 3 : 1;
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

  // The nodes before the first update and after the last one.
  std::conditional_t<kLimited, AnySize, Size<1>> head;
  // Update 0 of the run; 1 if the run begins with another one.
  std::conditional_t<kLimited, AnySize, Size<0>> first_update;
  static constexpr Index q = kQ, s = kS, c = kC, w = 2 * kC + kQ;
  Index last, m;
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
        first_update(shape.automaton.held_moves ? 1 : 0),
        last(static_cast<Index>(shape.automaton.steps) + 1),
        m(shape.automaton.channels),
        window(window_of(shape)),
        reexposed(shape.automaton.reexposed),
        state_symbol(shape.automaton.state_symbol),
        normalized(shape.automaton.normalized),
        goes_on(shape.goes_on),
        held_constant(shape.automaton.held_constant),
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
        near(aligned(largest + c)),
        readings(memory.readings),
        bottom(memory.bottom) {}

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
  // Every thread computes the same number.
  PUSHDOWN_DEVICE F total_of(const F* configurations) const {
    F total = 0;
    for (Index b = 0; b < c; ++b) total += configurations[b];
    return total;
  }
  PUSHDOWN_DEVICE bool is_state(Index r) const { return kQ == kTile || r < q; }

  // ---- Forward, see device_nondeterministic_forward.h. ----
  template <class Team>
  PUSHDOWN_DEVICE void begin(const Team& team, const F*, F*);
  template <class Team>
  PUSHDOWN_DEVICE void forward(const Team& team, Index update, const F* given, F*) {
    advance(team, first_update + update, given);
  }
  template <class Team>
  PUSHDOWN_DEVICE void advance(const Team& team, Index update, const F* given);
  template <class Team>
  PUSHDOWN_DEVICE void weigh(const Team& team, const F* given, const F* from,
                             const AutomatonRange<F>& range, F* used);
  template <class Team>
  PUSHDOWN_DEVICE void step(const Team& team, Index j, const F* u, const F* used, const F* pushed);
  PUSHDOWN_DEVICE void fill(Index j, Index channel, Index tile, Index y, Index e, Index low,
                            const F* u, const F* used) const;
  template <class Team>
  PUSHDOWN_DEVICE void read(const Team& team, Index node) const;

  // ---- Backward, see device_nondeterministic_backward.h. ----
  template <class Team>
  PUSHDOWN_DEVICE void begin_backward(const Team& team);
  template <class Team>
  PUSHDOWN_DEVICE void backward(const Team& team, Index update, const F* reading_gradient, F* out) {
    undo(team, first_update + update, reading_gradient, out);
  }
  template <class Team>
  PUSHDOWN_DEVICE void undo(const Team& team, Index update, const F* reading_gradient, F* out);
  template <class Team>
  PUSHDOWN_DEVICE void spread(const Team& team, Index node, const F* given);
  template <class Team>
  PUSHDOWN_DEVICE void finish(const Team& team, Index j);
  template <class Team>
  PUSHDOWN_DEVICE void end_backward(const Team& team, const F* reading_gradient, F* out);

  // ---- Content that runs hand over, see device_nondeterministic_content.h. ----
  template <class Team>
  PUSHDOWN_DEVICE void take_over(const Team& team, const AutomatonContent<F>& content);
  template <class Team>
  requires kLimited PUSHDOWN_DEVICE void leave(const Team& team, F* numbers) const;
  template <class Team>
  requires kLimited PUSHDOWN_DEVICE void begin_backward(const Team& team, const F* given) {
    begin_backward(team);
    left_gradient = given;
  }
  template <class Team>
  PUSHDOWN_DEVICE void give_back(const Team& team, const AutomatonContent<F>& content,
                                 const F* reading_gradient);
};

}  // namespace pushdown::device
