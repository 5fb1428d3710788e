// Grammars as text, in the notation of NLTK:
//
//   # a comment                        S -> 'a' S "b" [0.9] | [0.1]
//   %start S                           T -> S T
//                                        | 'c'
//
// * One left side per line. Alternatives are separated by |, which may also start the next line. An
//   empty alternative is epsilon. Both -> and the arrow U+2192 are accepted.
// * Terminals are in single or double quotes; \' \" and \\ are escapes inside them.
// * A nonterminal is any other run of characters without white space, | [ ] # and quotes; it may
//   end in primes (S').
// * A weight in brackets, [0.25] or [1/3], follows its alternative. Weights are relative to the sum
//   over the left side. Either all alternatives of a left side have a weight or none (all equal).
// * The first left side is the start symbol unless %start, or % start, names another.
// * A line that ends in a backslash continues on the next line.
// * Comment lines that begin with #% contain declarations that NLTK does not have: `#% name dyck`,
//   `#% symbols '(' ')'` (order of the alphabet), `#% unambiguous`.
// Lines end in \n or \r\n. Text must be UTF-8; a byte order mark is skipped.
#pragma once
#include <string>
#include <string_view>

#include "grammar/grammar.h"

namespace pushdown {

// Errors (std::invalid_argument) read "[grammar.parse] file:line: ...".
GrammarSource parse_grammar(std::string_view text, std::string_view file = "text");
// Parses one rule with one alternative and no weight: "S -> 'a' S 'b'".
NamedRule parse_rule(std::string_view text, std::string_view origin);

// Returns text that parses to the same grammar: name, alphabet order, start, rules and weights.
// Rules are grouped by left side, the start symbol first.
std::string to_text(const Grammar& grammar);

// Returns the shortest fixed-point notation that parses to the same number; NLTK has no exponents.
std::string weight_text(double weight);

// Returns 'a' or "a", whichever needs no escapes.
std::string quoted_terminal(std::string_view symbol);
// Returns why `name` cannot be a nonterminal ("must not be empty"), or an empty string if it can.
std::string nonterminal_name_error(std::string_view name);

}  // namespace pushdown
