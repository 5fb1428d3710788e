// Converts a pushdown automaton to a context-free grammar that gives every string the weight of its
// accepted runs (the triple construction, Hopcroft and Ullman 1979, section 5.3).
//
// A nonterminal <q,x,r> derives the strings of the runs from state q that pop x, whatever is below
// it, and end in state r; <q,x> derives those of the accepted runs that never pop it:
//     q, x --a--> r, pop           <q,x,r> -> a
//     q, x --a--> s, replace y     <q,x,r> -> a <s,y,r>          <q,x> -> a <s,y>
//     q, x --a--> s, push y        <q,x,r> -> a <s,y,t> <t,x,r>  <q,x> -> a <s,y,t> <t,x>
//                                  <q,x> -> a <s,y>              (without at_bottom)
//     accepting q                  <q,x> ->                      (with at_bottom, of bottom x)
// Only triples that some accepted run uses are made (summaries.h). Derivations correspond one to
// one to accepted runs, so the grammar of a deterministic automaton is unambiguous.
//
// The weights of a grammar are probabilities. If the accepted runs of all strings have the finite
// total weight Z, the grammar gives w the probability W(w) / Z, where W(w) is the weight in the
// automaton. If Z is infinite, as in most automata with weights of 1, each symbol gets a factor c,
// the half of the greatest power of 1/2 with a finite total:
//     G(w) = W(w) c^|w| / Z(c).
// Strings of the same length keep their relative weights in both cases.
#pragma once
#include "grammar/grammar.h"
#include "pda/pda.h"

namespace pushdown {

struct PdaGrammar {
  Grammar grammar;
  double log_total = 0;   // log Z(c)
  double log_factor = 0;  // log c
};

// log W(w) = log G(w) + log_total - |w| log_factor. The alphabet contains the symbols that occur in
// accepted strings, in the automaton's order. Throws std::invalid_argument if no string is accepted
// or there are more than a million rules.
PdaGrammar grammar_from_pda(const Pda& pda);

}  // namespace pushdown
