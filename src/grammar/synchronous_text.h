// Synchronous grammars as text, one rule per line:
//
//   #% synchronous
//   A -> S1 VT2 O3 | S1 O3 VT2
//   S -> S1 'rpi' S2 VT3 | S1 'rpo' S2 VT3 [1/5]      # a comment
//   %start A
//
// The source side is before the bar and the target side after it; either may be empty, or ε, λ,
// epsilon or lambda. A nonterminal on a side ends in its index, a number from 1. The rest is as in
// NLTK's notation (grammar/text.h): quotes, arrows, weights in brackets at all rules of a left side
// or at none, comments, %start. Comment lines that begin with #% have the same meaning as there:
// `#% name svo`, `#% source_symbols 'a' 'b'`, `#% target_symbols 'x'`. `#% synchronous`
// distinguishes the text from that of a Grammar and may be omitted where the kind is known.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "grammar/synchronous.h"

namespace pushdown {

// Errors (std::invalid_argument) read "[grammar.parse] file:line: ...".
SynchronousSource parse_synchronous(std::string_view text, std::string_view file = "text");
// Parses one line with a rule. Sets `weighted` to whether the line contains a weight.
NamedSynchronousRule parse_synchronous_rule(std::string_view text, std::string_view origin,
                                            bool* weighted = nullptr);
// Returns whether a line of the text is `#% synchronous`.
bool says_synchronous(std::string_view text);

// Returns text that parses to the same grammar.
std::string to_text(const SynchronousGrammar& grammar);

}  // namespace pushdown
