// Elman networks with every memory of recorded steps and all options of its kernels.
#pragma once
#include "recurrence/execute/step_run.h"

namespace pushdown::testing_support {

// Fixed numbers.
inline Tensor numbers(at::IntArrayRef shape, at::TensorOptions options, double seed, double scale) {
  return at::arange(c10::multiply_integers(shape), at::kDouble)
      .mul(1.37)
      .add(seed)
      .sin()
      .mul(7919)
      .remainder(2)
      .sub(1)
      .mul(scale)
      .view(shape)
      .to(options);
}

inline MemoryShape shifted(ShiftedKind kind, std::int64_t size, std::int64_t memories, bool no_op,
                           std::int64_t reach, std::int64_t limit = 0, bool worn = false,
                           double empty = 0) {
  MemoryShape shape{MemoryKind::shifted};
  shape.shifted.kind = kind;
  shape.shifted.size = size;
  shape.shifted.memories = memories;
  shape.shifted.no_op = no_op;
  shape.shifted.reach = reach;
  shape.shifted.limit = limit;
  shape.shifted.worn = worn;
  shape.shifted.empty = empty;
  const bool closed = kind == ShiftedKind::tape || kind == ShiftedKind::ring;
  const std::int64_t kinds = closed ? 5 : (kind == ShiftedKind::stack ? 2 : 3) + (no_op ? 1 : 0);
  shape.actions = kinds * memories + size;
  const std::int64_t cells = kind == ShiftedKind::list ? 2 * reach + 1 : closed ? 1 : reach;
  shape.reading = cells * size;
  return shape;
}
// -1: every sequence has its own distance.
inline MemoryShape jumping(MemoryShape shape, std::int64_t jump) {
  shape.shifted.jump = jump;
  return shape;
}
inline MemoryShape analog(bool stops) {
  MemoryShape shape{MemoryKind::analog};
  shape.analog.symbols = 3;
  shape.analog.epsilon = 0.05;
  shape.analog.tolerance = 0.1;
  shape.analog.stops = stops;
  shape.actions = 1 + shape.analog.symbols;
  shape.reading = shape.analog.symbols + 3;
  return shape;
}

inline MemoryShape sections(SectionEnds ends, std::int64_t size, std::int64_t memories = 1,
                            StrengthKind push = StrengthKind::sigmoid,
                            StrengthKind pop = StrengthKind::sigmoid,
                            StrengthKind read = StrengthKind::fixed, std::int64_t greatest = 1) {
  MemoryShape shape{MemoryKind::stratification};
  shape.sections.size = size;
  shape.sections.ends = ends;
  shape.sections.memories = memories;
  shape.sections.max_strength = greatest;
  std::int64_t rows = size;
  const StrengthKind kinds[] = {push, pop, read};
  for (int what = 0; what < 3; ++what) {
    shape.sections.strengths[what] = kinds[what];
    rows += strength_rows(kinds[what], greatest);
  }
  const std::int64_t places = ends == SectionEnds::deque ? 2 : 1;
  shape.actions = places * memories * rows;
  shape.reading = places * memories * size;
  return shape;
}
inline MemoryShape automaton(int states, int symbols, std::int64_t channels = 0,
                             bool reexposed = true, bool state_symbol = true,
                             bool normalized = false) {
  MemoryShape shape{MemoryKind::nondeterministic};
  shape.automaton = {{states, symbols, 0, channels}};
  shape.automaton.reexposed = reexposed;
  shape.automaton.state_symbol = state_symbol;
  shape.automaton.normalized = normalized;
  const std::int64_t c = states * symbols;
  shape.actions = c * (2 * c + states) + channels;
  shape.reading = channels > 0 ? c * channels : state_symbol ? c : symbols;
  return shape;
}

struct Example {
  std::string name;
  MemoryShape shape;
};
inline MemoryShape limited(MemoryShape shape, std::int64_t window) {
  shape.automaton.window = window;
  return shape;
}

inline std::vector<Example> sections_and_automata() {
  constexpr auto sigmoid = StrengthKind::sigmoid, expectation = StrengthKind::expectation,
                 fixed = StrengthKind::fixed;
  return {
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

inline std::vector<Example> memories() {
  constexpr auto stack = ShiftedKind::stack, list = ShiftedKind::list, tape = ShiftedKind::tape,
                 ring = ShiftedKind::ring;
  std::vector<Example> all{
      {"stack of DiffStk", shifted(stack, 1, 1, true, 2, 0, true, -1)},
      {"stacks side by side", shifted(stack, 3, 3, false, 2, 0, false, -1)},
      {"worn stacks", shifted(stack, 2, 2, true, 1, 0, true, 0.25)},
      {"stack of vectors", shifted(stack, 4, 1, true, 1)},
      {"stack of vectors, read three deep", shifted(stack, 2, 1, false, 3, 0, false, 0.5)},
      {"stack of vectors with an end", shifted(stack, 3, 1, true, 1, 4)},
      {"stacks of vectors", shifted(stack, 6, 2, true, 1)},
      {"stacks of vectors, read two deep", shifted(stack, 6, 3, true, 2, 3, false, 0.5)},
      {"worn stack with an end", shifted(stack, 2, 1, true, 2, 3, true, -1)},
      {"lists", shifted(list, 3, 3, true, 2, 0, false, -1)},
      {"list of vectors", shifted(list, 2, 1, false, 1)},
      {"lists of vectors", shifted(list, 4, 2, false, 1)},
      {"tape", shifted(tape, 2, 1, false, 1, 5)},
      {"tapes", shifted(tape, 3, 3, false, 1, 4, false, 0.1)},
      {"tape of one cell", shifted(tape, 2, 1, false, 1, 1)},
      {"tape of two cells", shifted(tape, 2, 1, false, 1, 2)},
      {"ring without jumps", shifted(ring, 3, 1, false, 1, 6)},
      {"ring with jumps", jumping(shifted(ring, 2, 1, false, 1, 7), 3)},
      {"ring with jumps beyond its end", jumping(shifted(ring, 2, 1, false, 1, 5), 13)},
      {"rings with jumps of their sequences", jumping(shifted(ring, 6, 2, false, 1, 7), -1)},
      {"rings of numbers", jumping(shifted(ring, 3, 3, false, 1, 5, false, 0.1), -1)},
      {"ring of one cell", jumping(shifted(ring, 2, 1, false, 1, 1), 1)},
      {"ring of two cells", jumping(shifted(ring, 2, 2, false, 1, 2), -1)},
      {"analog stack", analog(false)},
      {"analog stack that refuses", analog(true)},
  };
  for (const Example& example : sections_and_automata()) all.push_back(example);
  return all;
}

// An Elman network with a memory of a shape; h has the necessary size.
struct MemoryNetwork {
  MemoryNetwork(const MemoryShape& given, std::int64_t batch, std::int64_t steps,
                at::TensorOptions options)
      : shape(given), batch(batch), steps(steps) {
    const auto leaf = [&](at::IntArrayRef size, double scale) {
      tensors.push_back(
          numbers(size, options, static_cast<double>(tensors.size()), scale).requires_grad_());
      return tensors.back();
    };
    const bool analog = shape.kind == MemoryKind::analog;
    input = leaf({batch, steps, 3}, 1);
    first = leaf({batch, 5}, 1);
    weight = leaf({5, 3 + shape.reading}, 0.5);
    recurrent = leaf({5, 5}, 0.5);
    bias = leaf({5}, 0.5);
    action = leaf({analog ? 1 : shape.actions, 5}, 1.5);
    action_bias = leaf({analog ? 1 : shape.actions}, 1);
    if (shape.automaton.channels > 0) bottom = leaf({shape.automaton.channels}, 1);
    const Tensor chosen =
        at::arange(batch * steps, at::kLong).mul(7).remainder(4).view({batch, steps});
    // The last of the four does not change the stack.
    if (analog) symbols = at::one_hot(chosen, 4).narrow(2, 0, 3).to(options);
  }

  TracedProgram record() const {
    StepTrace trace;
    const Traced x = trace.sequence(input), old = trace.state(first),
                 reading = trace.reading(shape.reading);
    const Traced hidden = (pushdown::linear(joined(std::vector<Traced>{x, reading}), weight, bias) +
                           pushdown::linear(old, recurrent))
                              .tanh();
    trace.bind(old, hidden);
    trace.begin_aftermath();
    Traced given = pushdown::linear(hidden, action, action_bias);
    MemoryShape memory = shape;
    memory.steps = steps;
    if (shape.kind == MemoryKind::shifted) {
      const auto weights = shape.actions - shape.shifted.size;
      const Traced shares = given.narrow(1, 0, weights);
      std::vector<Traced> actions{shares.softmax_of_groups(weights / shape.shifted.memories),
                                  given.narrow(1, weights, shape.shifted.size).sigmoid()};
      if (shape.shifted.jump < 0) actions.push_back(trace.sequence(distances()));
      given = joined(actions);
    } else if (shape.kind == MemoryKind::analog) {
      given = joined(std::vector<Traced>{given.tanh(), trace.sequence(symbols)});
      memory.steps = steps + 1;
    }
    memory.automaton.steps = steps - 1;
    trace.drive(reading, given, memory, bottom.numel() > 0 ? trace.constant(bottom) : Traced());
    if (shape.kind != MemoryKind::analog) return trace.finish(hidden);
    return trace.finish(joined(std::vector<Traced>{hidden, trace.read_now()}));
  }

  // B x T x 1: 2, 3, 4, ... cells, another number for each sequence
  Tensor distances() const {
    return at::arange(2, 2 + batch, input.options())
        .view({batch, 1, 1})
        .expand({-1, steps, -1})
        .contiguous();
  }

  MemoryShape shape;
  std::int64_t batch, steps;
  Tensor input, first, weight, recurrent, bias, action, action_bias, bottom, symbols;
  std::vector<Tensor> tensors;
};

}  // namespace pushdown::testing_support
