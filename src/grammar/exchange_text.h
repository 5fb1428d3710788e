// Grammars as text for other programs.
//
// NLTK (nltk.PCFG.fromstring): the notation of grammar/text.h, with everything that NLTK cannot
// read replaced. Nonterminals must match [\w/][\w/^<>-]*, so S' becomes S_prime and any other
// invalid character becomes _; comment lines list the replaced names. The first rule is one of the
// start symbol.
//
// Rule lists, as extracted from treebanks and as read by the programs of Mark Johnson:
//   0.9 S --> NP VP
//   0.1 S -->
// There is one rule per line: a weight or count, which may be omitted (1), then symbols without
// quotes. A symbol is a nonterminal if it is a left side somewhere, otherwise a terminal. Counts
// are normalised per left side. The start symbol is the first left side. --> may be written ->.
// Empty lines and lines that begin with # are skipped. In a rule list without any arrow, the left
// side is the first symbol.
#pragma once
#include <string>
#include <string_view>

#include "grammar/grammar.h"

namespace pushdown {

// Throws std::invalid_argument for a terminal that contains both kinds of quotes, because NLTK has
// no escapes.
std::string nltk_text(const Grammar& grammar);

// Errors (std::invalid_argument) read "[grammar.from_rules] file:line: ...". If `start` is empty,
// the first left side is the start symbol.
GrammarSource parse_rule_list(std::string_view text, std::string_view file = "text",
                              const std::string& start = "");
// Throws std::invalid_argument if a symbol is both a terminal and a nonterminal, or cannot be
// written without quotes because it is an arrow or begins with #.
std::string rule_list_text(const Grammar& grammar);

}  // namespace pushdown
