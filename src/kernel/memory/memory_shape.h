// The memories of recorded steps and their parameters: everything that a kernel must know about
// one.
//
// T steps, U = T - 1 updates: step t = 0 .. T-1 reads the reading after t of them. R reading, A
// actions. Padded sizes (…p) are multiples of kPadding numbers.
#pragma once
#include <cstdint>

#include "kernel/memory/nondeterministic_kernel.h"

namespace pushdown {

inline constexpr std::int64_t kPadding = 16;
[[gnu::always_inline]] constexpr std::int64_t padded_size(std::int64_t count) {
  return (count + kPadding - 1) / kPadding * kPadding;
}

enum class MemoryKind { none, stratification, nondeterministic, shifted, analog };
// Memories whose cells become mixtures of their neighbours, see kernel/memory/shifted.h.
enum class ShiftedKind { stack, list, tape, ring };
// Ends at which memories of sections with strengths are cut, pushed and read, see
// stack/stratification.h.
enum class SectionEnds { stack, queue, deque };
// How strengths are computed, see stack/strength_layer.h.
enum class StrengthKind { sigmoid, expectation, fixed };
// Returns the rows of the action layer for one strength whose greatest value is `greatest`.
[[gnu::always_inline]] constexpr std::int64_t strength_rows(StrengthKind kind,
                                                            std::int64_t greatest) {
  return kind == StrengthKind::sigmoid ? 1 : kind == StrengthKind::expectation ? greatest + 1 : 0;
}

// Sections with strengths (sections.h).
struct SectionsShape {
  SectionEnds ends = SectionEnds::stack;
  std::int64_t size = 0;      // numbers of a vector
  std::int64_t memories = 1;  // parallel ones
  // Of pushes, pops and readings.
  StrengthKind strengths[3] = {StrengthKind::sigmoid, StrengthKind::sigmoid, StrengthKind::fixed};
  std::int64_t max_strength = 1;

  bool operator==(const SectionsShape&) const = default;
};

// Cells that become mixtures of their neighbours (shifted.h).
struct ShiftedShape {
  ShiftedKind kind = ShiftedKind::stack;
  std::int64_t size = 0;  // numbers of a cell
  // Memories side by side, each with its own weights for its part of a cell, size / memories
  // numbers.
  std::int64_t memories = 1;
  bool no_op = false;      // one additional action
  bool worn = false;       // for a stack: no_op keeps only the top cell
  std::int64_t reach = 1;  // number of cells read from a stack, or to each side of a head
  std::int64_t limit = 0;  // cells of a tape or ring, or of a stack with limited depth; 0: none
  std::int64_t jump = 0;   // distance of the jumps on a ring; -1: the last number of the actions
  double empty = 0;        // content of cells that were never written
  bool taped = true;       // kept for a backward pass

  bool operator==(const ShiftedShape&) const = default;
};

// The nondeterministic stacks (nondeterministic.h, device_nondeterministic.h); its steps are the
// updates, T - 1.
struct AutomatonShape : NondeterministicSize {
  const std::int64_t* row_start = nullptr;  // see NondeterministicMemory
  bool reexposed = false, state_symbol = false, normalized = true;
  // Of a run that takes over a content: whether the actions of an update that comes before the
  // first reading follow it, and whether it is constant.
  bool held_moves = false, held_constant = false;

  bool operator==(const AutomatonShape&) const = default;
};

// The analog stack (analog.h; model/analog_pushdown.h).
struct AnalogShape {
  std::int64_t symbols = 0;
  double epsilon = 0, tolerance = 0;
  bool stops = false;

  bool operator==(const AnalogShape&) const = default;
};

struct MemoryShape {
  MemoryKind kind = MemoryKind::none;
  std::int64_t steps = 0, reading = 0, actions = 0;
  // Whether this run takes over a memory from a previous run and leaves it to a later one, see
  // memories.h, and the number of earlier updates: for shifted memories the cells that may have
  // been written (the extent, see there), for nondeterministic stacks the nodes below the head.
  bool goes_on = false;
  std::int64_t held = 0;
  // Of its kind alone.
  SectionsShape sections;
  ShiftedShape shifted;
  AutomatonShape automaton;
  AnalogShape analog;

  bool operator==(const MemoryShape&) const = default;
};

}  // namespace pushdown
