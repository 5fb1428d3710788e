// The numbers of one sequence of one model in a step program on a device (device_step_loop.h), and
// its array programs.
#pragma once
#include "kernel/array/team_run.h"
#include "kernel/step/device_step.h"

namespace pushdown::device {

template <class F>
struct StepNumbers {
  // The program is in the device's constant memory and is not copied.
  const DeviceStepProgram<F>& p;
  Index model, sequence;
  const std::uint8_t* tables;  // the program's tables or a copy

  template <class T>
  PUSHDOWN_DEVICE const T* table(const T* of_program) const {
    return reinterpret_cast<const T*>(
        tables + (reinterpret_cast<const std::uint8_t*>(of_program) - p.tables));
  }
  PUSHDOWN_DEVICE const StepNode* nodes() const { return table(p.nodes); }
  PUSHDOWN_DEVICE const StepTerm* terms() const { return table(p.terms); }
  PUSHDOWN_DEVICE const int* operands() const { return table(p.operands); }
  PUSHDOWN_DEVICE const DeviceStepMatrix<F>* matrices() const { return table(p.matrices); }
  PUSHDOWN_DEVICE const DeviceStepPlace<F>* places() const { return table(p.places); }
  PUSHDOWN_DEVICE const std::uint8_t* waits() const { return table(p.waits); }

  PUSHDOWN_DEVICE F* value(int n, Index t) const {
    const auto& place = places()[n];
    return place.value + model * place.model + sequence * place.row +
           (t + 1 + place.shift) * place.step;
  }
  PUSHDOWN_DEVICE F* gradient(int n, Index t) const {
    const auto& place = places()[n];
    return place.gradient + model * place.gradient_model + sequence * place.gradient_row +
           slot(t + 1 + place.shift, place.slots) * place.gradient_step;
  }
  PUSHDOWN_DEVICE Index symbol(Index t) const {
    return static_cast<Index>(p.symbols[(Count{model} * p.batch + sequence) * p.steps + t]);
  }

 private:
  PUSHDOWN_DEVICE static Index slot(Index step, Index slots) {
    return slots == 1 ? 0 : slots == 2 ? step % 2 : step;
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
template <class F, class Team>
PUSHDOWN_NOINLINE PUSHDOWN_DEVICE void compute_array(const Team& team, const StepNumbers<F> numbers,
                                                     int n, Index t) {
  const ArrayBuffers<F> buffers{numbers, n, t};
  ArrayTeamRun<F, ArrayBuffers<F>>(buffers.code(), buffers, t).forward(team);
}

template <class F, class Team>
PUSHDOWN_NOINLINE PUSHDOWN_DEVICE void propagate_array(const Team& team,
                                                       const StepNumbers<F> numbers, int n,
                                                       Index t) {
  const ArrayBuffers<F> buffers{numbers, n, t};
  const ArrayTeamRun<F, ArrayBuffers<F>> run(buffers.code(), buffers, t);
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
