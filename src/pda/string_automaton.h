// A weighted pushdown automaton along one string: at every step the moves that may be taken and
// their weights. It is what a Pda gives on a string, and what a network with a nondeterministic
// stack gives, whose weights differ from step to step.
//
// A configuration is a pair (state q, top symbol x), numbered q*S + x; C = Q*S. Time t is after t
// symbols. The start state is 0 and the bottom symbol 0. bottom = reexposed: a replace needs one
// element on the stack and a pop two, the initial bottom counted (the usual pushdown automaton;
// Dusell and Chiang 2023); original: two and three (the recurrence of 2020, where the initial
// bottom symbol is never seen again).
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
  bool at_bottom = false;          // and only with the bottom symbol alone on the stack
  bool reexposed = true;
  int window = 0;  // how many steps an edge of the stack automaton may reach back (lang.h); 0: all
  std::vector<std::vector<Move>> moves;  // [t - 1]: those of step t

  int length() const { return static_cast<int>(moves.size()); }
  int symbols() const { return static_cast<int>(stack_symbols.size()); }
  int configurations() const { return static_cast<int>(states.size()) * symbols(); }
  int state_of(int configuration) const { return configuration / symbols(); }
  int top_of(int configuration) const { return configuration % symbols(); }
  // Where the move leads when `below` is the symbol under the top (needed by a pop alone).
  int target(const Move& move, int below) const {
    return move.state * symbols() + (move.action == StackAction::pop ? below : move.pushed);
  }
};

// The automaton on a string; transitions of weight 0 are left out.
StringAutomaton on_string(const Pda& pda, const Word& word, bool reexposed = true);

// One run of the whole string.
struct Run {
  double log_weight = 0;    // of the product of its moves, and of the last state where accepted
  std::vector<Move> moves;  // one a symbol
};

// Stack contents, bottom to top, at times 0 .. n of a run (or of a part of one).
std::vector<std::vector<int>> stacks_of(const StringAutomaton& automaton,
                                        const std::vector<Move>& moves);
// Natural logarithm of the weight of ending in this state with this stack; -infinity: not accepted.
double log_accepting(const StringAutomaton& automaton, int state, const std::vector<int>& stack);

// The run of greatest weight, by Lang's algorithm (lang.h); nothing where there is none. With
// `accepted` only accepted runs count, and the weight of the last state is a factor.
std::optional<Run> best_run(const StringAutomaton& automaton, bool accepted);

// All of them, by trying every move, in the order of the moves. Throws std::invalid_argument when
// the search takes more than `limit` moves: their number can grow exponentially with the length.
std::vector<Run> all_runs(const StringAutomaton& automaton, bool accepted, std::int64_t limit);

}  // namespace pushdown
