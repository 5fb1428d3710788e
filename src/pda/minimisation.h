// Deterministic pushdown automata made small, compared, and put together.
//
// Minimisation is that of finite automata with the pair (top, symbol) as the letter (Moore 1956):
// states are merged when, for every letter, both have a transition with the same action to merged
// states or neither has one, and both accept or neither does. Then, in automata of up to 100
// states, those are merged that nothing which can be reached tells apart, such as two states that
// are never met with the same top: each with the first one it fits, in breadth-first order, so that
// not every merge that exists need be found. Before all this, transitions that no string can take
// are left out (reachability.h), and those into states from which no accepting state can be
// reached: a missing transition rejects as well.
#pragma once
#include <vector>

#include "pda/pda.h"

namespace pushdown {

// The states in the order in which a breadth-first walk meets them; a merged state has the name of
// the first one met. Dead states are left out unless `keep_dead`, or nothing else is left: then all
// states without hope are one, marked dead, and transitions into it leave the stack. The alphabets
// stay. Throws std::invalid_argument when the automaton is not deterministic, a weight is neither 0
// nor 1, or no transition can be taken from the start.
Pda minimal(const Pda& pda, bool keep_dead = false);

// Whether both are the same up to the names of states and of the bottom symbol, the order of their
// lists, and states that no transition leads to. For deterministic automata.
bool isomorphic(const Pda& a, const Pda& b);

// All transitions of several automata in one: states, symbols and stack symbols of the same name
// are the same. A transition of two of them counts once. Start, bottom symbol and, where they are
// given, at_bottom, accepting states and strength must agree: else std::invalid_argument.
Pda merged(const std::vector<Pda>& parts);

}  // namespace pushdown
