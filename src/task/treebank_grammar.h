// Grammars read off a treebank: the rules of the trees, with their relative frequencies as
// probabilities (Charniak, "Tree-bank grammars", 1996).
#pragma once
#include <string>
#include <vector>

#include "grammar/grammar.h"
#include "task/phrase_tree.h"

namespace pushdown {

// Each phrase is a use of the rule from its label to the labels of its daughters. A word is a
// terminal below its part of speech or, if that is unknown, in the rule of its phrase. The weights
// are counts. A word and a label of the same spelling are different symbols. If all trees are one
// phrase with the same label, this label is the start symbol unless `start` is another name.
// Otherwise a new symbol, `start` or ROOT (with primes if that is a label), derives the top of each
// tree. Throws std::invalid_argument, with the number of the tree (from 1), if a phrase has no
// label or a label cannot be a nonterminal; also if there are no trees, or if `start` is a label
// but not at the top of all trees.
GrammarSource treebank_grammar(const std::vector<const PhraseTree*>& trees,
                               const std::string& start = "");

}  // namespace pushdown
