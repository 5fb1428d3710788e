// Examples of number prediction as strings over a vocabulary, to train classifiers on.
#pragma once
#include "task/labelled_dataset.h"
#include "task/number_prediction.h"

namespace pushdown {

// Returns <unk> and the most frequent words of the prefixes; see WordCounts.
Alphabet number_vocabulary(const NumberExamples& examples, std::int64_t limit);
// Returns the ids of the words of the prefix; an unknown word gets the id of <unk>. Throws
// std::invalid_argument if the vocabulary has no <unk>.
Word prefix_ids(const NumberExample& example, const Alphabet& vocabulary);
// Returns the prefixes, labelled true for a plural verb, as observed classes: a prefix may occur
// with both.
LabelledDataset number_dataset(const NumberExamples& examples, const Alphabet& vocabulary);

}  // namespace pushdown
