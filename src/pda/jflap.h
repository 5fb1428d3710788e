// Automata in the files of JFLAP (.jff, Rodger and Finley 2006): pushdown and finite automata.
//
// Every character of <read>, <pop> and <push> is a symbol, the first one of a stack string the top.
// The stack begins with Z. A string is accepted in a final state, with any stack, or with an empty
// stack: the file does not say which, and JFLAP asks. Empty elements are moves that read, pop or
// push nothing; so are λ and ε.
//
// States are known by their ids. A state keeps its name, which may be TeX, if no other has it;
// white space in it becomes _, or ~ next to a $. Any other state is called q and its id, as in
// JFLAP.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "pda/general_pda.h"

namespace pushdown {

// Returns whether a text is XML and not in the notation of notation.h.
bool looks_like_jflap(std::string_view text);

// Errors (std::invalid_argument) read "[pda.load] file:line: ...": text that is not well-formed,
// another kind of machine, states without an id or with the same id, a transition from or to a
// state that does not exist, not exactly one initial state, no final state, and an empty stack of a
// finite automaton.
GeneralPda parse_jflap(std::string_view text, std::string_view file = "text",
                       bool by_empty_stack = false);

struct JflapText {
  std::string text;
  std::vector<std::string> losses;  // one line for each kind of thing that JFLAP does not have
};

// Returns a file that accepts the same strings in final states: those whose weight is not 0. The
// bottom symbol is Z, and stack symbols of several characters get others. The states are those of
// the automaton if the bottom symbol stays at the bottom and is nowhere else, with a final state
// for at_bottom. Otherwise, Z is below the automaton's own stack, which is put on it and inspected
// by moves that read nothing. Throws std::invalid_argument for an input symbol that is not one
// character, or one that XML does not have.
JflapText to_jflap(const Pda& pda);

}  // namespace pushdown
