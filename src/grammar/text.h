// Grammars as text, in the notation of NLTK:
//
//   # a comment                        S -> 'a' S "b" [0.9] | [0.1]
//   %start S                           T -> S T
//                                        | 'c'
//
// * One left side per line. Alternatives are separated by |, which may also start the next line. An
//   empty alternative is epsilon, and may be written ε, λ, epsilon or lambda without quotes, if
//   that is no left side (with_empty_right_sides()). Both -> and the arrow U+2192 are accepted.
// * Terminals are in single or double quotes; \' \" and \\ are escapes inside them.
// * A nonterminal is any other run of characters without white space, | [ ] # and quotes; it may
//   end in primes (S'). A backslash before one of | [ ] # % ' " makes it a part of the name.
// * A weight in brackets, [0.25] or [1/3], follows its alternative. Weights are relative to the sum
//   over the left side. Without any weight, all alternatives of a left side are equally probable.
//   If some have weights, which are probabilities, the others share the rest of 1 equally.
// * The first left side is the start symbol unless %start, or % start, names another.
// * A line that ends in a backslash continues on the next line.
// * Comment lines that begin with #% contain declarations that NLTK does not have: `#% name dyck`,
//   `#% symbols '(' ')'` (order of the alphabet), `#% unambiguous`.
// Lines end in \n or \r\n. Text must be UTF-8; a byte order mark is skipped.
#pragma once
#include <string>
#include <string_view>

#include "grammar/grammar.h"
#include "grammar/symbol_text.h"

namespace pushdown {

// Errors (std::invalid_argument) read "[grammar.parse] file:line: ...".
GrammarSource parse_grammar(std::string_view text, std::string_view file = "text");
// Parses one rule with one alternative and no weight: "S -> 'a' S 'b'".
NamedRule parse_rule(std::string_view text, std::string_view origin);

// Empties the right sides that consist of a nonterminal without rules whose name means no symbol
// (means_no_symbol() in symbol_text.h). Throws for such a name next to other symbols.
GrammarSource with_empty_right_sides(GrammarSource source);

// Returns text that parses to the same grammar: name, alphabet order, start, rules and weights.
// Rules are grouped by left side, the start symbol first.
std::string to_text(const Grammar& grammar);

// Returns the rules without epsilon and unary rules (closed_rules() in normal_form.h), one per
// line: "S -> 'a' S|1 [0.25]".
std::string closed_rules_text(const Grammar& grammar);

}  // namespace pushdown
