// Grammars as text, in the notation of NLTK:
//
//   # a comment                        S -> 'a' S "b" [0.9] | [0.1]
//   %start S                           T -> S T
//                                        | 'c'
//
// * One left side a line; alternatives are separated by |, also at the start of a following line.
//   An empty alternative is epsilon. Both -> and the arrow U+2192 are read.
// * Terminals stand in single or double quotes; \' \" and \\ are escapes inside them.
// * A nonterminal is any other run of characters without white space, | [ ] # and quotes; it may
//   end in primes (S').
// * A weight in brackets, [0.25] or [1/3], follows its alternative. Weights are relative to the sum
//   over the left side. A left side has a weight at every alternative or at none (all equal).
// * The first left side is the start symbol unless %start, or % start, names another.
// * A line that ends in a backslash goes on in the next one.
// * Comment lines that begin with #% carry what NLTK has no word for: `#% name dyck`,
//   `#% symbols '(' ')'` (order of the alphabet), `#% unambiguous`.
// Lines end in \n or \r\n. Text must be UTF-8; a byte order mark is skipped.
#pragma once
#include <string>
#include <string_view>

#include "grammar/grammar.h"

namespace pushdown {

// Errors (std::invalid_argument) read "[grammar.parse] file:line: ...".
GrammarSource parse_grammar(std::string_view text, std::string_view file = "text");
// One rule with one alternative and no weight: "S -> 'a' S 'b'".
NamedRule parse_rule(std::string_view text, std::string_view origin);

// Reading the result gives the same grammar: name, alphabet order, start, rules and weights.
// Rules are grouped by left side, the start symbol first.
std::string to_text(const Grammar& grammar);

// The shortest fixed-point notation that reads back as the same number: NLTK knows no exponents.
std::string weight_text(double weight);

// 'a' or "a", whichever needs no escapes.
std::string quoted_terminal(std::string_view symbol);
// Why `name` cannot be a nonterminal ("must not be empty"), or empty if it can.
std::string nonterminal_name_error(std::string_view name);

}  // namespace pushdown
