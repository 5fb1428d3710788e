// A context-free grammar as a pushdown automaton that accepts every string with its weight.
//
// From Greibach normal form (grammar/greibach.h), so that every transition reads a symbol. The
// state is the nonterminal to be derived next; an element of the stack is the list of those that
// come after it, and the element below belongs to the left side above. With the list Y = Y1 ... Yk
// on top, reading a by the rule A -> a B1 ... Bm
//   m >= 2        goes to B1 and pushes the list B2 ... Bm,
//   m = 1         goes to B1 and leaves Y (replace Y),
//   m = 0         goes to Y1 and replaces Y by Y2 ... Yk, or pops it where k = 1;
//                 with the bottom symbol on top it goes to the accepting state `end`.
// Runs that end there correspond one to one to leftmost derivations of the normal form, which may
// have fewer than the grammar, and have their weights, so the accepted runs of w weigh G(w) in all.
// The start state accepts the empty string with its weight.
#pragma once
#include "grammar/grammar.h"
#include "pda/pda.h"

namespace pushdown {

Pda pda_from_grammar(const Grammar& grammar);

}  // namespace pushdown
