// A weighted pushdown automaton along one string: for every step, the possible moves and their
// weights. It represents a Pda on a string, or a network with a nondeterministic stack, whose
// weights differ from step to step.
//
// A configuration is a pair (state q, top symbol x), numbered q*S + x; C = Q*S. Time t is after t
// symbols. The start state is 0 and the bottom symbol 0. With bottom = reexposed, a replace needs
// one element on the stack and a pop two, including the initial bottom symbol (the usual pushdown
// automaton; DuSell and Chiang 2023). With bottom = original, they need two and three (the
// recurrence of 2020, where the initial bottom symbol is never seen again).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pda/pda.h"

namespace pushdown {

struct Move {
  int configuration = 0;  // q*S + x
  int state = 0;          // r
  StackAction action = StackAction::pop;
  int pushed = -1;  // y; -1 for pop
  double log_weight = 0;
};

struct StringAutomaton {
  std::vector<std::string> states, stack_symbols;
  std::vector<std::string> input;  // the symbols read
  std::vector<double> accepting;   // weight of ending in each state
  bool at_bottom = false;          // accept only with the bottom symbol alone on the stack
  bool reexposed = true;
  int window = 0;  // how far back an edge of the stack automaton may reach (lang.h); 0: no limit
  std::vector<std::vector<Move>> moves;  // [t - 1]: those of step t

  int length() const { return static_cast<int>(moves.size()); }
  int symbols() const { return static_cast<int>(stack_symbols.size()); }
  int configurations() const { return static_cast<int>(states.size()) * symbols(); }
  int state_of(int configuration) const { return configuration / symbols(); }
  int top_of(int configuration) const { return configuration % symbols(); }
  // Returns the configuration after the move; `below` is the symbol under the top (used only by a
  // pop).
  int target(const Move& move, int below) const {
    return move.state * symbols() + (move.action == StackAction::pop ? below : move.pushed);
  }
};

// Returns the automaton on a string; omits transitions of weight 0.
StringAutomaton on_string(const Pda& pda, const Word& word, bool reexposed = true);

// One run of the whole string.
struct Run {
  double log_weight = 0;    // of the product of its moves and, if accepted, of the last state
  std::vector<Move> moves;  // one per symbol
};

// Returns the stack contents, bottom to top, at times 0 .. n of a run (or of a part of one).
std::vector<std::vector<int>> stacks_of(const StringAutomaton& automaton,
                                        const std::vector<Move>& moves);
// Returns the natural logarithm of the weight of ending in this state with this stack; -infinity if
// not accepted.
double log_accepting(const StringAutomaton& automaton, int state, const std::vector<int>& stack);

// Returns all runs, in the order of the moves, by trying every move. Throws std::invalid_argument
// if the search takes more than `limit` moves: the number of runs can grow exponentially with the
// length.
std::vector<Run> all_runs(const StringAutomaton& automaton, bool accepted, std::int64_t limit);

}  // namespace pushdown
