// Strings over one alphabet, each labelled valid (in the language) or invalid. The recognition
// tasks train and test on such datasets and their parts.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "task/next_symbols.h"

namespace pushdown {

// Meaning of a label: membership of the string in a language, or the class of an observation. In
// the second case the same string may occur in both classes.
enum class LabelMeaning { membership, observed_class };

class LabelledDataset {
 public:
  // Throws std::invalid_argument if there are no strings, an id is outside the alphabet, the
  // numbers of labels and strings differ, or a string is both valid and invalid. `dead_ends`: for
  // every string, the number of symbols after which no string of the language can follow, or 0 if
  // one always can, as for every valid string; empty if unknown.
  LabelledDataset(Alphabet alphabet, std::vector<Word> words, std::vector<bool> labels,
                  std::vector<std::int64_t> dead_ends = {},
                  LabelMeaning meaning = LabelMeaning::membership);

  const Alphabet& alphabet() const { return alphabet_; }
  const std::vector<Word>& words() const { return words_; }
  const std::vector<bool>& labels() const { return labels_; }  // true: valid
  const std::vector<std::int64_t>& dead_ends() const { return dead_ends_; }
  // The symbols that may follow each prefix of the valid strings, with no sets for invalid strings;
  // null if unknown.
  const NextSymbolsPtr& next_symbols() const { return next_symbols_; }
  LabelMeaning meaning() const { return meaning_; }
  std::int64_t size() const { return static_cast<std::int64_t>(words_.size()); }
  std::int64_t positives() const;  // number of valid strings
  std::int64_t negatives() const { return size() - positives(); }
  std::int64_t symbol_count() const;
  std::int64_t shortest() const;
  std::int64_t longest() const;

  // Returns the same strings with these sets. Throws std::invalid_argument unless every valid
  // string has one set after each of its prefixes, which contains the symbol that follows there, or
  // the end, and every invalid string has none.
  LabelledDataset with_next_symbols(NextSymbols sets) const;

  // Returns the strings with these indices (from 0), in this order; at least one.
  LabelledDataset subset(const std::vector<std::int64_t>& indices) const;
  // Returns the indices of the strings with shortest <= length <= longest, in order; may be empty.
  std::vector<std::int64_t> of_length(std::int64_t shortest, std::int64_t longest) const;

 private:
  Alphabet alphabet_;
  std::vector<Word> words_;
  std::vector<bool> labels_;
  std::vector<std::int64_t> dead_ends_;
  LabelMeaning meaning_;
  NextSymbolsPtr next_symbols_;
};

using LabelledDatasetPtr = std::shared_ptr<const LabelledDataset>;

// Splits into parts of the given shares (positive, divided by their sum). Each label is shuffled
// and divided separately, so that the parts have the same balance. Equal strings stay together, so
// that no string is in two parts, except a string of both classes. If the strings are distinct, the
// sizes match the shares up to rounding; otherwise they are as close as the repetitions allow.
// Throws std::invalid_argument if a part would be empty.
std::vector<LabelledDataset> split(const LabelledDataset& dataset,
                                   const std::vector<double>& shares, std::uint64_t seed);

// Targets after each symbol of a string; index t = 0 .. n, where 0 is before the first symbol.
struct StepTargets {
  std::vector<std::uint8_t> viable;  // 1: w_1 .. w_t begins some string of the language
  std::vector<std::uint8_t> member;  // 1: w_1 .. w_t is itself in the language
};
// Returns one for each word. The words must be over the grammar's alphabet.
std::vector<StepTargets> step_targets(const Grammar& grammar, const std::vector<Word>& words);

// Returns the same strings with the dead ends computed from the grammar.
LabelledDataset with_dead_ends(const LabelledDataset& dataset, const Grammar& grammar);

// Returns the same strings with the sets of next symbols computed from the grammar.
LabelledDataset with_next_symbols(const LabelledDataset& dataset, const Grammar& grammar);

// Returns the indices (from 0) of the strings whose label contradicts the grammar. Throws
// std::invalid_argument if the alphabets differ.
std::vector<std::int64_t> wrong_labels(const LabelledDataset& dataset, const Grammar& grammar);

// Returns the dataset as text: 1 for a valid and 0 for an invalid string, with its dead end if
// known:
//
//   # pushdown labelled data set 1
//   # alphabet ( ) [ ]
//   1<TAB>( [ ] ( ) )
//   0<TAB>( [ ]
//   0:2<TAB>( ] ]
// If the next symbols of valid strings are known, they follow the label after a blank: the sets
// after 0 .. n symbols as hexadecimal numbers with commas between them, `1 15,1f,15<TAB>( )`.
// The title of observed classes is "# pushdown classified data set 1".
std::string to_text(const LabelledDataset& dataset);
// Errors (std::invalid_argument) read "[labelled.load] file:line: ...".
LabelledDataset parse_labelled(std::string_view text, std::string_view file);

}  // namespace pushdown
