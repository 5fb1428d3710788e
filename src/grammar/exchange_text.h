// Grammars as text for other programs.
//
// NLTK (nltk.PCFG.fromstring): the notation of grammar/text.h with what NLTK cannot read replaced.
// Nonterminals must match [\w/][\w/^<>-]*, so S' becomes S_prime and any other character _; comment
// lines say which names stand for which. The first rule is the start symbol's.
//
// Rule lists, as they are read off treebanks and as the programs of Mark Johnson read them:
//   0.9 S --> NP VP
//   0.1 S -->
// One rule a line, a weight or a count, which may be left out (1), and symbols without quotes. A
// symbol is a nonterminal if it is a left side somewhere, else a terminal. Counts are normalised by
// left side. The start symbol is the first left side. --> may be written ->. Lines that are empty
// or begin with # are skipped. In a rule list without any arrow the left side is the first symbol.
#pragma once
#include <string>
#include <string_view>

#include "grammar/grammar.h"

namespace pushdown {

// Throws std::invalid_argument for a terminal that holds both kinds of quotes: NLTK has no escapes.
std::string nltk_text(const Grammar& grammar);

// Errors (std::invalid_argument) read "[grammar.from_rules] file:line: ...". `start`: empty for the
// first left side.
GrammarSource parse_rule_list(std::string_view text, std::string_view file = "text",
                              const std::string& start = "");
// Throws std::invalid_argument if a symbol is a terminal and a nonterminal, or cannot stand without
// quotes: it is an arrow or begins with #.
std::string rule_list_text(const Grammar& grammar);

}  // namespace pushdown
