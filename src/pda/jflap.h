// Automata in the files of JFLAP (.jff, Rodger and Finley 2006): pushdown and finite automata.
//
// Every character of <read>, <pop> and <push> is a symbol, the first one of a stack string the top.
// The stack begins with Z. A string is accepted in a final state, with any stack. Empty elements
// are moves that read, pop or push nothing; so are λ and ε.
#pragma once
#include <string_view>

#include "pda/general_pda.h"

namespace pushdown {

// Returns whether a text is XML and not in the notation of notation.h.
bool looks_like_jflap(std::string_view text);

// Errors (std::invalid_argument) read "[pda.load] file:line: ...": text that is not well-formed,
// another kind of machine, states without an id or with the same name, a transition from or to a
// state that does not exist, not exactly one initial state, no final state.
GeneralPda parse_jflap(std::string_view text, std::string_view file = "text");

}  // namespace pushdown
