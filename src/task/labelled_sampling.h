// Labelled strings generated from a grammar for the recognition tasks of Mali et al. 2019 and 2021.
// Positives are drawn from the grammar, and negatives are checked by an exact oracle (Membership).
//
// Positives. A length is drawn, uniformly from the lengths in the interval that have strings or in
// proportion to the grammar's mass of each length, then a string from the grammar's distribution
// given the length. Once all distinct strings of a length are used, the length is dropped. If a
// hundred tries find no new string of a length, its strings are listed (all, or about twice as many
// as are used) and the remaining ones are drawn uniformly.
//
// Random negatives. A length is drawn, from the lengths of the positives (so that the length
// reveals nothing about the label) or uniformly from the interval, then symbols are drawn
// uniformly; strings that the oracle accepts are rejected.
//
// Difficult negatives. A random positive of the set gets 1 or 3 (`swaps`) random edits in a row.
// The result is kept if the oracle rejects it and its length is in the interval. The paper says
// "swap around 1 or 3 characters" and shows strings with one symbol changed. An edit is therefore
// one of replace (a symbol by another), transpose (two positions with different symbols), insert or
// delete (a symbol), chosen uniformly from those in `edits`.
//
// Matched negatives (`negative_kind`) replace both kinds: see matched_negatives.h. As far as such
// strings are found, automata learnt from the excluded sets do not distinguish them from valid
// strings either.
//
// No string is both positive and negative, none is in an excluded set, and positives, negatives or
// both are distinct as requested; the order is random. All loops are bounded: if the strings run
// out, the error says how many there are.
#pragma once
#include "task/labelled_dataset.h"

namespace pushdown {

struct LabelledOptions {
  std::int64_t positives = 0, negatives = 0;
  int shortest = 0, longest = 0;
  // The fraction of difficult negatives, drawn uniformly from this interval.
  double difficult_low = 0, difficult_high = 0;
  std::vector<int> swaps{1, 3};
  std::vector<std::string> edits{"replace", "transpose"};  // from labelled_edits()
  std::string distinct = "all";                            // "all", "negatives", "none"
  std::string positive_lengths = "uniform";                // "uniform", "grammar"
  std::string negative_lengths = "positives";              // "positives", "uniform"
  std::string negative_kind = "usual";                     // random and difficult; or "matched"
  std::uint64_t seed = 0;
};

// Returns replace, transpose, insert, delete.
const std::vector<std::string>& labelled_edits();

// `exclude`: datasets whose strings must not occur. Throws std::invalid_argument on options out of
// range, and if the language does not have enough strings or negatives.
LabelledDataset make_labelled(const Grammar& grammar, const LabelledOptions& options,
                              const std::vector<LabelledDatasetPtr>& exclude = {});

}  // namespace pushdown
