// Strings over one alphabet with a label each: valid (in the language) or invalid. What the
// recognition tasks train and test on, and the parts it is cut into.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/grammar.h"

namespace pushdown {

// What a label says: whether the string is in a language, which is so or not, or which of two
// classes an observation was of, where the same string may have been of both.
enum class LabelMeaning { membership, observed_class };

class LabelledDataset {
 public:
  // Throws std::invalid_argument when there are no strings, an id is outside the alphabet, the
  // number of labels is not the number of strings, or one string is valid and invalid. `dead_ends`:
  // for every string after how many symbols no string of the language can follow any more, 0 where
  // one always can, as with every valid string; empty where that is not known.
  LabelledDataset(Alphabet alphabet, std::vector<Word> words, std::vector<bool> labels,
                  std::vector<std::int64_t> dead_ends = {},
                  LabelMeaning meaning = LabelMeaning::membership);

  const Alphabet& alphabet() const { return alphabet_; }
  const std::vector<Word>& words() const { return words_; }
  const std::vector<bool>& labels() const { return labels_; }  // true: valid
  const std::vector<std::int64_t>& dead_ends() const { return dead_ends_; }
  LabelMeaning meaning() const { return meaning_; }
  std::int64_t size() const { return static_cast<std::int64_t>(words_.size()); }
  std::int64_t positives() const;  // how many are valid
  std::int64_t negatives() const { return size() - positives(); }
  std::int64_t symbol_count() const;
  std::int64_t shortest() const;
  std::int64_t longest() const;

  // The strings of these numbers (from 0), in this order; at least one.
  LabelledDataset subset(const std::vector<std::int64_t>& indices) const;
  // The numbers of the strings of shortest <= length <= longest, in their order; may be none.
  std::vector<std::int64_t> of_length(std::int64_t shortest, std::int64_t longest) const;

 private:
  Alphabet alphabet_;
  std::vector<Word> words_;
  std::vector<bool> labels_;
  std::vector<std::int64_t> dead_ends_;
  LabelMeaning meaning_;
};

using LabelledDatasetPtr = std::shared_ptr<const LabelledDataset>;

// Cuts into parts of the given shares (positive, divided by their sum). Each label is shuffled and
// divided by itself, so that the parts have the same balance, and equal strings stay together, so
// that no string is in two parts, but for one of both classes: the sizes are those of the shares up
// to rounding where the strings are distinct, and otherwise as near as the repetitions allow.
// Throws std::invalid_argument when a part would be empty.
std::vector<LabelledDataset> split(const LabelledDataset& dataset,
                                   const std::vector<double>& shares, std::uint64_t seed);

// What can be said after each symbol of a string; index t = 0 .. n, 0 is before the first symbol.
struct StepTargets {
  std::vector<std::uint8_t> viable;  // 1: w_1 .. w_t begins some string of the language
  std::vector<std::uint8_t> member;  // 1: w_1 .. w_t is itself in the language
};
// One for each word. The words must be over the grammar's alphabet.
std::vector<StepTargets> step_targets(const Grammar& grammar, const std::vector<Word>& words);

// The same strings with the dead ends that the grammar knows.
LabelledDataset with_dead_ends(const LabelledDataset& dataset, const Grammar& grammar);

// The numbers (from 0) of the strings whose label is not what the grammar says. Throws
// std::invalid_argument when the alphabets differ.
std::vector<std::int64_t> wrong_labels(const LabelledDataset& dataset, const Grammar& grammar);

// As text, with 1 for a valid and 0 for an invalid string, and its dead end where it has one:
//
//   # pushdown labelled data set 1
//   # alphabet ( ) [ ]
//   1<TAB>( [ ] ( ) )
//   0<TAB>( [ ]
//   0:2<TAB>( ] ]
// The title of observed classes is "# pushdown classified data set 1".
std::string to_text(const LabelledDataset& dataset);
// Errors (std::invalid_argument) read "[labelled.load] file:line: ...".
LabelledDataset parse_labelled(std::string_view text, std::string_view file);

}  // namespace pushdown
