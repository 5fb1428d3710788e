// Weighted pushdown automata (DuSell and Chiang 2020, section 3.2).
//
// An automaton has states, an input alphabet, a stack alphabet, a start state, a bottom symbol and
// weighted transitions. Every transition reads one input symbol a:
//     q, x --a/w--> r, push y       put y on top of x
//     q, x --a/w--> r, replace y    exchange x for y
//     q, x --a/w--> r, pop          remove x
// A run begins in the start state with the bottom symbol alone on the stack and takes one
// transition for every symbol of the string; its weight is the product of their weights. The last
// element cannot be popped, so a stack always has a top.
//
// A run of the whole string is accepted if its last state is accepting and, with at_bottom, its
// stack is the bottom symbol alone. Accepting states have weights that are a factor of the run's
// weight (1 unless given). If an automaton names no accepting state, all states accept.
//
// A dead state is a trap: a run that enters it is never accepted and cannot leave it. Dead states
// and a strength turn an automaton, or a part of one, into a hint for a network
// (model/rule_insertion.h). The automaton itself does not use the strength.
//
// The start state is state 0 and the bottom symbol is stack symbol 0. Pda is an immutable value
// that is cheap to copy. Errors are std::invalid_argument and name the origin (file:line) of the
// transition.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grammar/alphabet.h"

namespace pushdown {

enum class StackAction { push, replace, pop };

struct Transition {
  int state = 0, top = 0, symbol = 0, next = 0;  // q, x, a, r
  StackAction action = StackAction::pop;
  int pushed = -1;     // y of push and replace, the new top
  double weight = 1;   // non-negative
  std::string origin;  // "wwr.lua:12", or empty
};

// A transition as written. Each name in `variables` is replaced by every symbol or state of its
// range; an empty range is the whole alphabet of the places where the variable is used.
struct TransitionPattern {
  std::string state, top, symbol, next;
  StackAction action = StackAction::pop;
  std::string pushed = {};
  double weight = 1;
  std::vector<std::pair<std::string, std::vector<std::string>>> variables = {};
  std::string origin = {};
};

struct PdaSource {
  std::string name = {};
  std::string start = {};  // empty: the state of the first transition
  std::string bottom = {};
  // Complete lists in order; an empty list is filled in order of first use.
  std::vector<std::string> states = {}, symbols = {}, stack_symbols = {};
  std::vector<std::pair<std::string, double>> accepting = {};  // (state, weight); empty: all
  bool at_bottom = false;
  std::vector<TransitionPattern> transitions = {};
  std::vector<std::string> dead = {};
  std::optional<double> strength = {};
};

class Pda {
 public:
  // Throws if there are no transitions, no bottom symbol, a name that is not in its list, a name
  // that cannot be written, a weight that is negative or not finite, an unused variable, a
  // duplicate transition, a dead state that is accepting or has outgoing transitions, a strength
  // not above 0, or, where symbols are not listed, a symbol that means none in other notations or a
  // pushed name that looks like several symbols.
  explicit Pda(const PdaSource& source);

  const std::string& name() const;
  const Alphabet& alphabet() const;                       // of the input
  const std::vector<std::string>& states() const;         // the start state first
  const std::vector<std::string>& stack_symbols() const;  // the bottom symbol first
  const std::vector<Transition>& transitions() const;
  const std::vector<double>& accepting() const;  // weight of ending in each state; 0: not accepting
  bool at_bottom() const;
  bool names_accepting() const;           // otherwise, all states except the dead ones accept
  const std::vector<bool>& dead() const;  // of each state
  std::optional<double> strength() const;
  // One line for each transition that pops the bottom symbol, named as the top, though the bottom
  // symbol is never pushed.
  const std::vector<std::string>& warnings() const;

  // Returns whether every state, top symbol and input symbol have at most one transition of
  // positive weight.
  bool deterministic() const;
  // Returns a probabilistic automaton: weights divided by their sum over each (state, top symbol,
  // input symbol).
  Pda normalized() const;

  // Returns "q1, x --a/0.5--> q2, push y".
  std::string transition_text(const Transition& transition) const;
  PdaSource source() const;  // the source form of this automaton

 private:
  Pda() = default;
  struct Data;
  std::shared_ptr<const Data> data_;
};

// Returns "push y", "replace y" or "pop".
std::string action_text(StackAction action, const std::string& pushed);

}  // namespace pushdown
