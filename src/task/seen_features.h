// Classifiers learnt from valid strings alone: a string is classified as valid if and only if each
// of its features occurs in some valid training string.
#pragma once
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "grammar/grammar.h"

namespace pushdown {

// A finite automaton can compute every kind except counts_compared.
enum class FeatureKind {
  length_modulo_2,
  length_modulo_3,
  counts_modulo_2,  // one feature: the counts of all symbols modulo 2
  counts_modulo_3,
  counts_around_2,  // for each symbol: the counts of all symbols modulo 2 before and after its
                    // first occurrence
  counts_around_3,
  unigrams,  // the symbols
  bigrams,   // pairs of neighbours; begin and end of the string count as symbols
  trigrams,
  counts_compared,  // less, equal or greater: two symbols, and a symbol with all others together
};
const std::vector<FeatureKind>& feature_kinds();
std::string_view name_of(FeatureKind kind);

class SeenFeatures {
 public:
  SeenFeatures(FeatureKind kind, int symbols) : kind_(kind), symbols_(symbols) {}
  void add(const Word& valid);  // call once per string
  // Returns whether every feature occurs in at least `strings` strings.
  bool accepts(const Word& word, int strings = 1) const;

 private:
  FeatureKind kind_;
  int symbols_;
  std::unordered_map<std::uint64_t, int> seen_;  // number of strings with the feature
};

// Returns the number of occurrences of each symbol.
std::vector<int> symbol_counts(const Word& word, int symbols);

}  // namespace pushdown
