// Random small automata, and their transition weights for the nondeterministic stack.
#pragma once
#include <cmath>
#include <string>

#include "base/random.h"
#include "pda/string_automaton.h"
#include "tensor/torch.h"

namespace pushdown::testing_support {

// About `density` of all transitions, with weights in (0, scale).
inline Pda random_pda(int states, int symbols, int inputs, double density, double scale,
                      bool at_bottom, std::uint64_t seed) {
  Random random(seed);
  const auto name = [](const char* letter, int k) { return letter + std::to_string(k); };
  PdaSource source;
  source.start = "q0";
  source.bottom = "x0";
  source.at_bottom = at_bottom;
  for (int q = 0; q < states; ++q) {
    source.states.push_back(name("q", q));
    if (random.uniform() < 0.6 || q + 1 == states)
      source.accepting.emplace_back(name("q", q), 0.5 + random.uniform());
  }
  for (int x = 0; x < symbols; ++x) source.stack_symbols.push_back(name("x", x));
  for (int a = 0; a < inputs; ++a) source.symbols.push_back(name("a", a));
  for (int q = 0; q < states; ++q)
    for (int x = 0; x < symbols; ++x)
      for (int a = 0; a < inputs; ++a)
        for (int r = 0; r < states; ++r)
          for (const auto action : {StackAction::push, StackAction::replace, StackAction::pop})
            for (int y = 0; y < (action == StackAction::pop ? 1 : symbols); ++y) {
              const bool first = q + x + a + r + y == 0;  // at least one transition
              if (!first && random.uniform() > density) continue;
              source.transitions.push_back({name("q", q), name("x", x), name("a", a), name("q", r),
                                            action, action == StackAction::pop ? "" : name("x", y),
                                            scale * random.uniform()});
            }
  return Pda(source);
}

inline Word random_word(int inputs, int length, std::uint64_t seed) {
  Random random(seed);
  Word word;
  for (int k = 0; k < length; ++k) word.push_back(static_cast<int>(random.below(inputs)));
  return word;
}

// n x C x W, float64: columns push r*S+y, replace r*S+y, pop r.
inline Tensor weight_tensor(const StringAutomaton& automaton) {
  const int size = automaton.configurations(), states = static_cast<int>(automaton.states.size());
  Tensor weights = at::zeros({automaton.length(), size, 2 * size + states}, at::kDouble);
  for (int t = 0; t < automaton.length(); ++t)
    for (const auto& move : automaton.moves[t]) {
      const int target = move.state * automaton.symbols() + std::max(move.pushed, 0);
      const int column = move.action == StackAction::push      ? target
                         : move.action == StackAction::replace ? size + target
                                                               : 2 * size + move.state;
      weights[t][move.configuration][column] = std::exp(move.log_weight);
    }
  return weights;
}

}  // namespace pushdown::testing_support
