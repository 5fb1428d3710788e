// The most probable trees of a string under a language model that attaches symbols
// (model/attaching_network.h), by a beam search over attachments, symbol by symbol: of the trees so
// far, each with every place where the next symbol may attach, those with the greatest
// log-probability of symbols and attachments are kept. With one tree these are the attachments that
// the model makes when it reads the string.
#pragma once
#include "model/language_model.h"

namespace pushdown {

struct FoundTree {
  Word attachments;
  double log_probability = 0;  // of the string, its end if the model predicts it, and the tree
};

// Returns at most `beam` trees, the most probable first. Throws std::invalid_argument for a model
// without trees and for a beam below 1.
std::vector<FoundTree> best_trees(const LanguageModel& model, const Word& word, std::int64_t beam);

}  // namespace pushdown
