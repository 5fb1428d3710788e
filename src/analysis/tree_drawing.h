// Trees for the terminal: one line a word, the phrases as boxes of lines in front of the words.
//
//   S┬─NP┬─DT the
//    │   └─NN cat
//    └─VP───VBD sat
#pragma once
#include <string>

#include "task/phrase_tree.h"

namespace pushdown {

// Lines end in \n. With `ascii`, of + - | alone. At most 2,000 words, else std::invalid_argument.
std::string drawing(const PhraseTree& tree, bool ascii = false);

// `tree` in front of the words and `gold`, a tree over the same words, behind them as in a mirror,
// both without labels. A span that both have is ●, any other is ○ (with `ascii`, # and o).
std::string drawing_beside(const PhraseTree& tree, const PhraseTree& gold, bool ascii = false);

}  // namespace pushdown
