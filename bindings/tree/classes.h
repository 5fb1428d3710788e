// Phrase structure trees as Lua values.
#pragma once
#include "bindings/binder/value.h"
#include "task/phrase_tree.h"

namespace pushdown {

template <>
inline constexpr auto kClassName<PhraseTree> = "Tree";
template <>
inline constexpr auto kHeldBytes<PhraseTree> = [](const PhraseTree& tree) {
  return tree.words().size() * 2 * sizeof(std::string) + tree.phrases().size() * sizeof(Phrase);
};

using TreeList = std::vector<std::shared_ptr<PhraseTree>>;
// A sentence: a tree, a list of words, or one text with blanks between the words.
using Sentence = std::variant<std::shared_ptr<PhraseTree>, std::string, std::vector<std::string>>;

// Binds from_distances, the baselines and score of pd.tree, and the class TreeScore.
void bind_parses(Module& module);

}  // namespace pushdown
