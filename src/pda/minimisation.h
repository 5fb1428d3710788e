// Minimisation, comparison and merging of deterministic pushdown automata.
//
// Minimisation treats the pair (top, symbol) as a letter of a finite automaton (Moore 1956). Two
// states are merged if, for every letter, both have a transition with the same action to merged
// states or neither has one, and both accept or neither does. Then, in automata of up to 100
// states, states are also merged if no reachable situation distinguishes them, for example two
// states that never have the same top. Each is merged with the first one that fits, in
// breadth-first order, so not every possible merge is found. Before all this, two kinds of
// transitions are removed: those that no string can take (reachability.h) and those into states
// from which no accepting state can be reached, because a missing transition rejects as well.
#pragma once
#include <vector>

#include "pda/pda.h"

namespace pushdown {

// Returns the minimal automaton with its states in breadth-first order. A merged state has the name
// of its first state in this order. Dead states are removed unless `keep_dead` is set or no other
// state is left. In that case all states without a path to acceptance become one state marked dead,
// and transitions into it do not change the stack. The alphabets are kept. Throws
// std::invalid_argument if the automaton is not deterministic, a weight is neither 0 nor 1, or no
// transition can be taken from the start.
Pda minimal(const Pda& pda, bool keep_dead = false);

// Returns whether both automata are equal up to the names of states and of the bottom symbol, the
// order of their lists, and states that no transition leads to. For deterministic automata.
bool isomorphic(const Pda& a, const Pda& b);

// Merges the transitions of several automata into one automaton. States, symbols and stack symbols
// of the same name are identified, and a transition of two automata counts once. Start, bottom
// symbol and, if given, at_bottom, accepting states and strength must agree; otherwise throws
// std::invalid_argument.
Pda merged(const std::vector<Pda>& parts);

}  // namespace pushdown
