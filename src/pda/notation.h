// Pushdown automata as text.
//
//   # w reversed w                        a line that begins with # is a comment
//   %start q1                             the start state; else that of the first transition
//   %bottom ⊥                             the bottom symbol, required
//   %accepting q2 q1/0.5                  states in which a run may end, with weights; else all
//   %at_bottom                            and only with the bottom symbol alone on the stack
//   %dead trap                            states that are never left and never accept
//   %strength 4                           of the automaton as a hint
//   q1, x --a--> q1, push a   for all x for a in 0 1
//   q1, a --a/0.5--> q2, pop  for a in 0 1     # the middle
//   q2, 0 --0/1/2--> q2, replace 1
//
// * The weight after / is a number or a fraction; 1 if left out.
// * `for NAME in ...` makes a line stand for one transition for every symbol (or state) listed,
//   `for all NAME, NAME` for every one there is: stack symbols where NAME is a top or a pushed
//   symbol, input symbols where it is read, states where it is a state, those common to all where
//   it is several of these.
// * %states, %symbols (input) and %stack_symbols give an alphabet and its order; such a list is
//   complete. %name gives a name. Lines with % have no comments behind them.
// * A name is any text without white space. In quotes ('x' or "x", escapes \' \" \\) it may begin
//   with a quote and hold / or a comma, or --> in the place of the symbol that is read.
// Lines end in \n or \r\n. Text must be UTF-8; a byte order mark is skipped.
#pragma once
#include <string>
#include <string_view>

#include "pda/pda.h"

namespace pushdown {

// Errors (std::invalid_argument) read "[pda.parse] file:line: ...".
PdaSource parse_pda(std::string_view text, std::string_view file = "text");
// One transition with its variables.
TransitionPattern parse_transition(std::string_view text, std::string_view origin);

// Reading the result gives the same automaton: name, alphabets, start, bottom, accepting states,
// transitions and weights. Variables are written out.
std::string to_text(const Pda& pda);

// The name as it stands in the notation: bare where that is possible, else in quotes.
std::string pda_name_text(std::string_view name);
// Why `name` cannot be a state or symbol ("must not be empty"), or empty if it can.
std::string pda_name_error(std::string_view name);

}  // namespace pushdown
