// Shapes that the CUDA kernels of the fused recurrence are tested with.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kernel/scan.h"

namespace pushdown::testing_support {

struct Sizes {
  std::int64_t steps, hidden, layers = 1, models = 1, batch = 2;
};

inline void complete(ScanShape& shape, ScanCell cell, const Sizes& sizes) {
  shape.cell = cell;
  shape.steps = sizes.steps;
  shape.hidden = sizes.hidden;
  shape.layers = sizes.layers;
  shape.gates = scan_gates(cell) * sizes.hidden;
  shape.automaton.steps = sizes.steps - 1;
}
inline ScanShape superposition(std::int64_t size) {
  ScanShape shape{ScanCell::lstm, ScanStack::superposition};
  shape.size = shape.reading = size;
  shape.actions = 3 + size;
  return shape;
}
inline ScanShape sections(SectionEnds ends, std::int64_t size, std::int64_t memories = 1,
                          StrengthKind push = StrengthKind::sigmoid,
                          StrengthKind pop = StrengthKind::sigmoid,
                          StrengthKind read = StrengthKind::fixed, std::int64_t greatest = 1) {
  ScanShape shape{ScanCell::lstm, ScanStack::stratification};
  shape.size = size;
  shape.ends = ends;
  shape.memories = memories;
  shape.max_strength = greatest;
  std::int64_t rows = size;
  const StrengthKind kinds[] = {push, pop, read};
  for (int what = 0; what < 3; ++what) {
    shape.strengths[what] = kinds[what];
    rows += strength_rows(kinds[what], greatest);
  }
  const std::int64_t places = ends == SectionEnds::deque ? 2 : 1;
  shape.actions = places * memories * rows;
  shape.reading = places * memories * size;
  return shape;
}
inline ScanShape automaton(int states, int symbols, std::int64_t channels = 0,
                           bool reexposed = true, bool state_symbol = true,
                           bool normalized = false) {
  ScanShape shape{ScanCell::lstm, ScanStack::nondeterministic};
  shape.automaton = {states, symbols, 0, channels};
  shape.reexposed = reexposed;
  shape.state_symbol = state_symbol;
  shape.normalized = normalized;
  const std::int64_t c = states * symbols;
  shape.actions = c * (2 * c + states) + channels;
  shape.reading = channels > 0 ? c * channels : state_symbol ? c : symbols;
  return shape;
}
inline ScanShape limited(ScanShape shape, std::int64_t window) {
  shape.automaton.window = window;
  return shape;
}

struct Example {
  std::string name;
  ScanShape shape;
};
inline std::vector<Example> examples() {
  constexpr auto sigmoid = StrengthKind::sigmoid, expectation = StrengthKind::expectation,
                 fixed = StrengthKind::fixed;
  return {
      {"no stack", {ScanCell::lstm, ScanStack::none}},
      {"superposition", superposition(5)},
      {"stack of sections", sections(SectionEnds::stack, 4)},
      {"queue of sections", sections(SectionEnds::queue, 3, 2)},
      {"deque of sections", sections(SectionEnds::deque, 2, 2)},
      {"variable strengths",
       sections(SectionEnds::stack, 3, 2, sigmoid, expectation, expectation, 3)},
      {"variable strengths of a deque",
       sections(SectionEnds::deque, 3, 1, expectation, sigmoid, sigmoid, 2)},
      {"fixed pushes", sections(SectionEnds::queue, 3, 1, fixed, expectation, fixed, 2)},
      {"automaton 2 x 2", automaton(2, 2)},
      {"automaton 2 x 2, symbols read", automaton(2, 2, 0, true, false)},
      {"automaton 3 x 2, original bottom", automaton(3, 2, 0, false, false, true)},
      {"automaton 1 x 3, normalized", automaton(1, 3, 0, true, true, true)},
      {"automaton 5 x 1, more than a tile", automaton(5, 1)},
      {"vector automaton 2 x 2", automaton(2, 2, 3)},
      {"vector automaton 3 x 1, original bottom", automaton(3, 1, 2, false, true, true)},
      {"automaton 2 x 2, window of 1", limited(automaton(2, 2), 1)},
      {"automaton 2 x 2, window of 2", limited(automaton(2, 2, 0, true, false), 2)},
      {"automaton 3 x 3, window of 3", limited(automaton(3, 3, 0, false, true, true), 3)},
      {"automaton 5 x 1, window of 4", limited(automaton(5, 1), 4)},
      {"automaton 2 x 2, long window", limited(automaton(2, 2), 100)},
      {"vector automaton 2 x 2, window of 3", limited(automaton(2, 2, 3), 3)},
      {"vector automaton 1 x 3, window of 1", limited(automaton(1, 3, 2, false, true, true), 1)},
  };
}
inline constexpr ScanCell kCells[] = {ScanCell::elman_tanh, ScanCell::elman_sigmoid, ScanCell::lstm,
                                      ScanCell::gru};

}  // namespace pushdown::testing_support
