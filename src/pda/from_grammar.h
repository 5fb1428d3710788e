// Converts a context-free grammar to a pushdown automaton that accepts every string with its
// weight.
//
// The conversion starts from Greibach normal form (grammar/greibach.h), so every transition reads a
// symbol. Nonterminals with the same rules become one (equal_nonterminals.h). The state is the
// nonterminal to be derived next. A stack element is the list of the nonterminals that follow it;
// the element below belongs to the parent rule. With the list Y = Y1
// ... Yk on top, reading a by the rule A -> a B1 ... Bm
//   m >= 2        goes to B1 and pushes the list B2 ... Bm,
//   m = 1         goes to B1 and leaves Y (replace Y),
//   m = 0         goes to Y1 and replaces Y by Y2 ... Yk, or pops it if k = 1;
//                 with the bottom symbol on top it goes to the accepting state `end`.
// Runs that end there correspond one to one to the leftmost derivations of that form, whose equal
// rules are one of their total weight, so the accepted runs of w weigh G(w) in total. The
// normal form may have fewer derivations than the grammar. The start state accepts the empty string
// with its weight.
#pragma once
#include "grammar/grammar.h"
#include "pda/pda.h"

namespace pushdown {

// Throws std::invalid_argument for a grammar that derives no string but the empty one, and for an
// automaton of more than 300,000 transitions.
Pda pda_from_grammar(const Grammar& grammar);

}  // namespace pushdown
