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
// quotes. A symbol is a nonterminal if it is a left side somewhere, otherwise a terminal. In
// treebanks, words may be spelt like tags, as in ". --> .". The right sides of a tag are words,
// even those that are left sides. Tags are left sides whose rules all have one symbol,
//   A -> A, and otherwise only words that are no left side, or
//   at least one such word, if there are tags of the first kind, and words are only below tags.
// A left side that has such rules and is none of these may be meant in two ways and is refused. An
// explicit list of tags decides. Counts are normalised per left side. The start symbol is the first
// left side. --> may be written ->.
// Empty lines and lines that begin with # are skipped. In a rule list without any arrow, the left
// side is the first symbol.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/grammar.h"

namespace pushdown {

// Throws std::invalid_argument for a terminal that contains both kinds of quotes, because NLTK has
// no escapes.
std::string nltk_text(const Grammar& grammar);

// Errors (std::invalid_argument) read "[grammar.from_rules] file:line: ...". If `start` is empty,
// the first left side is the start symbol. `tags`: the left sides above words; if absent, they are
// found by the rules above.
GrammarSource parse_rule_list(std::string_view text, std::string_view file = "text",
                              const std::string& start = "",
                              const std::optional<std::vector<std::string>>& tags = std::nullopt);
// Throws std::invalid_argument if a symbol is an arrow, or if the list would not be read back as
// the same rules.
std::string rule_list_text(const Grammar& grammar);

}  // namespace pushdown
