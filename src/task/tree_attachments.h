// Trees as attachments (grammar/incremental_parse.h) and back.
#pragma once
#include "grammar/grammar.h"
#include "grammar/incremental_parse.h"
#include "task/phrase_tree.h"

namespace pushdown {

// Returns the attachments of the binarized tree.
Attachments attachments_of(const PhraseTree& tree, Branching branching);
// Returns the tree, without labels, whose words attach like this. Throws std::invalid_argument if
// they cannot.
PhraseTree tree_of(const std::vector<std::string>& words, const Attachments& attachments);
// Returns the string of a derivation, given as rules in leftmost order, and the attachments of its
// binarized tree. Nonterminals over the empty string are left out. Throws std::invalid_argument if
// the rules are not a derivation.
std::pair<Word, Attachments> attached_yield(const Grammar& grammar,
                                            const std::vector<int>& derivation,
                                            Branching branching);

}  // namespace pushdown
