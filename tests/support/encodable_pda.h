// Small automata that a neural state pushdown automaton can represent: random ones, and those of
// two languages.
#pragma once
#include <string>
#include <vector>

#include "base/random.h"
#include "pda/notation.h"

namespace pushdown::testing_support {

// At most one transition for each triple. It pushes the symbol that it reads, pops, or does not
// change the stack.
inline Pda encodable_pda(int states, int symbols, double density, bool at_bottom,
                         std::uint64_t seed) {
  Random random(seed, "encodable automaton");
  PdaSource source;
  source.start = "q0";
  source.bottom = "_";
  source.at_bottom = at_bottom;
  source.stack_symbols = {"_"};
  for (int l = 0; l < symbols; ++l) {
    source.symbols.emplace_back(1, static_cast<char>('a' + l));
    source.stack_symbols.push_back(source.symbols.back());
  }
  for (int q = 0; q < states; ++q) source.states.push_back("q" + std::to_string(q));
  for (int q = 0; q < states; ++q)
    if (q + 1 == states || random.uniform() < 0.4)
      source.accepting.emplace_back(source.states[q], 1.0);
  for (const auto& state : source.states)
    for (const auto& top : source.stack_symbols)
      for (const auto& symbol : source.symbols) {
        const bool first = state == "q0" && top == "_" && symbol == "a";  // at least this one
        if (!first && random.uniform() > density) continue;
        TransitionPattern t{state, top, symbol, source.states[random.below(states)]};
        const auto choice = random.below(3);
        t.action = choice == 0                 ? StackAction::push
                   : choice == 1 && top != "_" ? StackAction::pop
                                               : StackAction::replace;
        if (t.action != StackAction::pop) t.pushed = t.action == StackAction::push ? symbol : top;
        source.transitions.push_back(t);
      }
  return Pda(source);
}

inline Pda marked_palindrome() {
  return Pda(
      parse_pda("%name palindrome\n%bottom _\n%accepting second\n%at_bottom\n%symbols a b c\n"
                "first, x --y--> first, push y for x in _ a b for y in a b\n"
                "first, x --c--> second, replace x for x in _ a b\n"
                "second, y --y--> second, pop for y in a b\n"));
}

inline Pda equal_counts() {
  return Pda(
      parse_pda("%name an_bn\n%bottom _\n%accepting fall\n%at_bottom\n"
                "rise, x --a--> rise, push a for x in _ a\n"
                "rise, a --b--> fall, pop\nfall, a --b--> fall, pop\n"));
}

// Returns all words of at most this length.
inline std::vector<std::vector<int>> all_words(int symbols, int longest) {
  std::vector<std::vector<int>> words{{}};
  for (std::size_t at = 0; at < words.size(); ++at)
    if (static_cast<int>(words[at].size()) < longest)
      for (int l = 0; l < symbols; ++l) {
        words.push_back(words[at]);
        words.back().push_back(l);
      }
  return words;
}

}  // namespace pushdown::testing_support
