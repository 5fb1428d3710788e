// Draws trees for the terminal: one line per word, with the phrases as boxes of lines to the left
// of the words.
//
//   S┬─NP┬─DT the
//    │   └─NN cat
//    └─VP───VBD sat
#pragma once
#include <string>

#include "task/phrase_tree.h"

namespace pushdown {

// Lines end in \n. With `ascii`, lines consist of + - | only. Throws std::invalid_argument for more
// than 2,000 words.
std::string drawing(const PhraseTree& tree, bool ascii = false);

// Draws `tree` to the left of the words and `gold`, a tree over the same words, mirrored to their
// right, both without labels. A span that both have is ●, any other is ○ (with `ascii`, # and o).
std::string drawing_beside(const PhraseTree& tree, const PhraseTree& gold, bool ascii = false);

}  // namespace pushdown
