// Examples of number prediction as strings over a vocabulary: what classifiers are trained on.
#pragma once
#include "task/labelled_dataset.h"
#include "task/number_prediction.h"

namespace pushdown {

// <unk> and the most frequent words of the prefixes, see WordCounts.
Alphabet number_vocabulary(const NumberExamples& examples, std::int64_t limit);
// The ids of the prefix' words; of an unknown one that of <unk>. std::invalid_argument where the
// vocabulary has no <unk>.
Word prefix_ids(const NumberExample& example, const Alphabet& vocabulary);
// The prefixes with the label true for a plural verb, as observed classes: one prefix may be
// followed by either.
LabelledDataset number_dataset(const NumberExamples& examples, const Alphabet& vocabulary);

}  // namespace pushdown
