// Pushdown automata as text.
//
//   # w reversed w                        a line that begins with # is a comment
//   %start q1                             the start state; default: that of the first transition
//   %bottom ⊥                             the bottom symbol, required
//   %accepting q2 q1/0.5                  states in which a run may end, with weights; default: all
//   %at_bottom                            accept only with the bottom symbol alone on the stack
//   %dead trap                            states that are never left and never accept
//   %strength 4                           strength of the automaton as a hint
//   q1, x --a--> q1, push a   for all x for a in 0 1
//   q1, a --a/0.5--> q2, pop  for a in 0 1     # the middle
//   q2, 0 --0/1/2--> q2, replace 1
//
// * The weight after / is a number or a fraction; default 1.
// * `for NAME in ...` expands a line to one transition per listed symbol (or state). `for all NAME,
//   NAME` expands it over the whole range: stack symbols if NAME is a top or a pushed symbol, input
//   symbols if it is read, states if it is a state, and their intersection if it is several of
//   these.
// * %states, %symbols (input) and %stack_symbols give an alphabet and its order; such a list is
//   complete. %name gives a name. Lines with % cannot end in a comment.
// * A name is any text without white space. In quotes ('x' or "x", escapes \' \" \\) it may begin
//   with a quote and contain / or a comma, or --> if it is the symbol that is read.
// Lines end in \n or \r\n. Text must be UTF-8; a byte order mark is skipped.
#pragma once
#include <string>
#include <string_view>

#include "pda/pda.h"

namespace pushdown {

// Errors (std::invalid_argument) read "[pda.parse] file:line: ...".
PdaSource parse_pda(std::string_view text, std::string_view file = "text");
// Parses one transition with its variables.
TransitionPattern parse_transition(std::string_view text, std::string_view origin);

// Returns text that parses to the same automaton: name, alphabets, start, bottom, accepting states,
// transitions and weights. Variables are expanded.
std::string to_text(const Pda& pda);

}  // namespace pushdown
