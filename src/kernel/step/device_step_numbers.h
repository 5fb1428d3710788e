// The numbers of one sequence of one model in a step program on a device (device_step_loop.h), and
// its array programs.
#pragma once
#include "kernel/array/team_pass.h"
#include "kernel/step/device_step.h"

namespace pushdown::device {

// A place of DeviceStepPlace for one sequence: the value of step t is at value + t * step.
template <class F>
struct StepPlace {
  F *value, *gradient;
  Index step, gradient_step;
  Index shift, slots;  // the gradient of step t: slot (t + shift) & slots
};
template <class F>
struct StepMatrix {
  const F* first;
  Index rows, columns, row, gradient;
};

// The numbers of one sequence of one model.
template <class F>
struct StepSequence {
  // The program is in the device's constant memory and is not copied.
  const DeviceStepProgram<F>& p;
  Index model, sequence;

  PUSHDOWN_DEVICE StepPlace<F> place(int n) const {
    const auto& all = p.places[n];
    const auto shift = static_cast<Index>(1 + all.shift);
    StepPlace<F> own{all.value,
                     all.gradient,
                     static_cast<Index>(all.step),
                     static_cast<Index>(all.gradient_step),
                     shift,
                     all.slots == 1   ? 0
                     : all.slots == 2 ? 1
                                      : -1};
    if (own.value != nullptr)
      own.value += model * all.model + sequence * all.row + shift * all.step;
    if (own.gradient != nullptr)
      own.gradient += model * all.gradient_model + sequence * all.gradient_row;
    return own;
  }
  PUSHDOWN_DEVICE StepMatrix<F> matrix(int k) const {
    const auto& all = p.matrices[k];
    return {all.first + model * all.model, static_cast<Index>(all.rows),
            static_cast<Index>(all.columns), static_cast<Index>(all.row),
            static_cast<Index>(all.gradient)};
  }
};

// A block's copy of the program's tables, followed by its places and matrices, whose addresses are
// computed once instead of at every use.
template <class F>
struct StepTables {
  PUSHDOWN_HOST_DEVICE static Count places_at(const DeviceStepProgram<F>& program) {
    return (program.table_bytes + 15) / 16 * 16;
  }
  PUSHDOWN_HOST_DEVICE static Count matrices_at(const DeviceStepProgram<F>& program) {
    return places_at(program) + program.count * Count{sizeof(StepPlace<F>)};
  }
  PUSHDOWN_HOST_DEVICE static Count bytes(const DeviceStepProgram<F>& program) {
    return matrices_at(program) + program.matrix_count * Count{sizeof(StepMatrix<F>)};
  }

  // Fills the copy, with all threads of a team.
  template <class Team>
  PUSHDOWN_DEVICE static void copy(const Team& team, const StepSequence<F>& of, std::uint8_t* to) {
    const auto* from = reinterpret_cast<const std::uint32_t*>(of.p.tables);
    auto* words = reinterpret_cast<std::uint32_t*>(to);
    each(team, Index(of.p.table_bytes / 4), [&](Index i) { words[i] = from[i]; });
    auto* places = reinterpret_cast<StepPlace<F>*>(to + places_at(of.p));
    each(team, Index(of.p.count), [&](Index n) { places[n] = of.place(n); });
    auto* matrices = reinterpret_cast<StepMatrix<F>*>(to + matrices_at(of.p));
    each(team, Index(of.p.matrix_count), [&](Index k) { matrices[k] = of.matrix(k); });
    team.sync();
  }
};

template <class F>
struct StepNumbers : StepSequence<F> {
  using StepSequence<F>::model;
  using StepSequence<F>::p;
  using StepSequence<F>::sequence;

  const std::uint8_t* tables;  // the program's tables or a block's copy
  const StepPlace<F>* near_places = nullptr;
  const StepMatrix<F>* near_matrices = nullptr;

  // near_tables: a filled StepTables; null: there is none.
  PUSHDOWN_DEVICE StepNumbers(const StepSequence<F>& of, const std::uint8_t* near_tables)
      : StepSequence<F>(of), tables(near_tables == nullptr ? of.p.tables : near_tables) {
    if (near_tables == nullptr) return;
    using Tables = StepTables<F>;
    near_places = reinterpret_cast<const StepPlace<F>*>(near_tables + Tables::places_at(p));
    near_matrices = reinterpret_cast<const StepMatrix<F>*>(near_tables + Tables::matrices_at(p));
  }

  template <class T>
  PUSHDOWN_DEVICE const T* table(const T* of_program) const {
    return reinterpret_cast<const T*>(
        tables + (reinterpret_cast<const std::uint8_t*>(of_program) - p.tables));
  }
  PUSHDOWN_DEVICE const StepNode* nodes() const { return table(p.nodes); }
  PUSHDOWN_DEVICE const StepTerm* terms() const { return table(p.terms); }
  PUSHDOWN_DEVICE const int* operands() const { return table(p.operands); }
  PUSHDOWN_DEVICE const std::uint8_t* waits() const { return table(p.waits); }
  PUSHDOWN_DEVICE StepPlace<F> place(int n) const {
    return near_places != nullptr ? near_places[n] : StepSequence<F>::place(n);
  }
  PUSHDOWN_DEVICE StepMatrix<F> matrix(int k) const {
    return near_matrices != nullptr ? near_matrices[k] : StepSequence<F>::matrix(k);
  }

  PUSHDOWN_DEVICE F* value(int n, Index t) const {
    const auto own = place(n);
    return own.value + t * own.step;
  }
  PUSHDOWN_DEVICE F* gradient(int n, Index t) const {
    const auto own = place(n);
    return own.gradient + ((t + own.shift) & own.slots) * own.gradient_step;
  }
  PUSHDOWN_DEVICE Index symbol(Index t) const {
    return static_cast<Index>(p.symbols[(Count{model} * p.batch + sequence) * p.steps + t]);
  }
};

// The buffers of the array program of a node at step t.
template <class F>
struct ArrayBuffers {
  StepNumbers<F> of;
  int node;
  Index t;

  PUSHDOWN_DEVICE const ArrayCode<F>& code() const { return of.p.arrays[of.nodes()[node].array]; }
  PUSHDOWN_DEVICE F* value(int buffer) const {
    const int inputs = code().inputs;
    if (buffer <= inputs) return of.value(node_of(buffer), t);
    return buffer == inputs + 1 ? const_cast<F*>(code().constants) : own();
  }
  PUSHDOWN_DEVICE F* slope(int buffer) const {
    const int inputs = code().inputs;
    if (buffer == inputs + 1) return nullptr;
    if (buffer > inputs) return own_slopes();
    const int found = node_of(buffer);
    return of.nodes()[found].gradient ? of.gradient(found, t) : nullptr;
  }
  PUSHDOWN_DEVICE F* own_slopes() const { return own() + of.p.array_memory; }

 private:
  // Returns the node of an input or of the output.
  PUSHDOWN_DEVICE int node_of(int buffer) const {
    if (buffer == code().inputs) return node;
    return of.operands()[of.nodes()[node].first_operand + buffer];
  }
  // The memory of the step.
  PUSHDOWN_DEVICE F* own() const {
    const Count place = Count{of.model} * of.p.batch + of.sequence;
    return of.p.array_room + place * 2 * of.p.array_memory;
  }
};

// These are functions of their own: they are long and the same for all stacks.
template <bool kLong, class F, class Team>
PUSHDOWN_NOINLINE PUSHDOWN_DEVICE void compute_map(const Team& team, const StepNumbers<F> numbers,
                                                   int n, Index t) {
  const StepNode& node = numbers.nodes()[n];
  F* out = numbers.value(n, t);
  const F* x = numbers.value(node.a, t);
  const F* y = node.b < 0 ? x : numbers.value(node.b, t);
  const F* z = node.c < 0 ? x : numbers.value(node.c, t);
  with_function(node.function, [&](auto row) {
    using Row = decltype(row);
    if constexpr (kLong || Row::kByLanes)
      each(team, static_cast<Index>(node.size),
           [&](Index i) { out[i] = Row::template value<F>(x[i], y[i], z[i]); });
  });
}
// waits: whether there is a barrier between the gradients of the operands.
template <bool kLong, class F, class Team>
PUSHDOWN_NOINLINE PUSHDOWN_DEVICE void propagate_map(const Team& team, const StepNumbers<F> numbers,
                                                     int n, Index t, bool waits) {
  const StepNode& node = numbers.nodes()[n];
  const F *slopes = numbers.gradient(n, t), *out = numbers.value(n, t);
  const F* x = numbers.value(node.a, t);
  const F* y = node.b < 0 ? x : numbers.value(node.b, t);
  const F* z = node.c < 0 ? x : numbers.value(node.c, t);
  for (int k = 0; k < 3; ++k) {
    const int operand = k == 0 ? node.a : k == 1 ? node.b : node.c;
    if (operand < 0 || !numbers.nodes()[operand].gradient) continue;
    F* to = numbers.gradient(operand, t);
    with_function(node.function, [&](auto row) {
      using Row = decltype(row);
      with_slope(row, k, [&](auto slope) {
        if constexpr ((kLong || Row::kByLanes) && slope.kind != SlopeKind::none)
          each(team, static_cast<Index>(node.size), [&](Index i) {
            to[i] += Row::template slope<F>(slope, x[i], y[i], z[i], out[i], slopes[i]);
          });
      });
    });
    if (waits) team.sync();
  }
}

template <class F, class Team>
PUSHDOWN_NOINLINE PUSHDOWN_DEVICE void compute_array(const Team& team, const StepNumbers<F> numbers,
                                                     int n, Index t) {
  const ArrayBuffers<F> buffers{numbers, n, t};
  ArrayTeamPass<F, ArrayBuffers<F>>(buffers.code(), buffers, t).forward(team);
}

template <class F, class Team>
PUSHDOWN_NOINLINE PUSHDOWN_DEVICE void propagate_array(const Team& team,
                                                       const StepNumbers<F> numbers, int n,
                                                       Index t) {
  const ArrayBuffers<F> buffers{numbers, n, t};
  const ArrayTeamPass<F, ArrayBuffers<F>> run(buffers.code(), buffers, t);
  if (run.is_idle()) return;
  if (const Index memory = run.memory(); memory > 0) {
    // Intermediate results were not kept.
    run.forward(team);
    F* slopes = buffers.own_slopes();
    each(team, memory, [&](Index i) { slopes[i] = 0; });
  }
  run.backward(team);
}

}  // namespace pushdown::device
