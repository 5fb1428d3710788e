// The floor of a labelled dataset: the smallest error rate of simple classifiers learnt from a
// training set. A model whose error rate is not below the floor shows no knowledge of the language.
//
//   constant         the more frequent label of the training set
//   length           valid, unless significantly more than half of the training strings of this
//                    length are invalid: invalid - valid > 3 sqrt(invalid + valid)
//   length_modulo_2, ..., trigrams
//                    valid iff all features occur in valid training strings (seen_features.h)
//   automaton        a deterministic finite automaton of at most 4 states (small_automaton.h)
//   conjunction      valid iff all of several classifiers above say so; classifiers are added one
//                    at a time as long as that lowers the training error; features of a valid
//                    training string count here only if another one has them, too
//   counts_compared  compares numbers of symbols. This needs a counter, which a finite automaton
//                    does not have, so it is reported but is not part of the floor.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "task/labelled_dataset.h"

namespace pushdown {

struct StringFloor {
  double error = 100;      // percent of the test strings
  std::string classifier;  // the classifier with this error, the first in the list above
  std::vector<std::pair<std::string, double>> errors;  // all classifiers, in the order of the list
};

// Throws std::invalid_argument if the alphabets differ.
StringFloor string_floor(const LabelledDataset& train, const LabelledDataset& test);

}  // namespace pushdown
