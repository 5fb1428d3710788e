// Labelled strings made from a grammar: positives drawn from it, negatives checked by an exact
// oracle made from it (Membership), for the recognition tasks of Mali et al. 2019 and 2021.
//
// Positives. A length is drawn, uniformly from the lengths in the interval that have strings or in
// proportion to the grammar's mass of each length, then a string from the grammar's distribution
// given the length. Once all distinct strings of a length are used up the length is left out; the
// last few of a length, which a hundred tries did not find, are listed (all, or some twice as many
// as are used) and drawn uniformly.
//
// Random negatives. A length is drawn, from the lengths of the positives (so that length says
// nothing about the label) or uniformly from the interval, then symbols uniformly; what the oracle
// accepts is thrown away.
//
// Difficult negatives. A positive of the set, chosen at random, with 1 or 3 (`swaps`) random edits
// one after the other; kept when the oracle rejects it and its length lies in the interval. The
// paper says "swap around 1 or 3 characters" and shows strings with one symbol changed: an edit is
// therefore one of replace (a symbol by another), transpose (two places with different symbols),
// insert or delete (a symbol), chosen uniformly from those in `edits`.
//
// Matched negatives (`negative_kind`), instead of both: see matched_negatives.h. Automata learnt
// from the excluded sets do not tell them from valid strings either, as far as such strings are
// found.
//
// No string is in both halves, none is in an excluded set, and positives, negatives or both are
// distinct as asked; the order is random. Nothing loops for ever: where the strings run out, an
// error says what there is.
#pragma once
#include "task/labelled_dataset.h"

namespace pushdown {

struct LabelledOptions {
  std::int64_t positives = 0, negatives = 0;
  int shortest = 0, longest = 0;
  // The share of difficult ones among the negatives, drawn uniformly from this interval.
  double difficult_low = 0, difficult_high = 0;
  std::vector<int> swaps{1, 3};
  std::vector<std::string> edits{"replace", "transpose"};  // of labelled_edits()
  std::string distinct = "all";                            // "all", "negatives", "none"
  std::string positive_lengths = "uniform";                // "uniform", "grammar"
  std::string negative_lengths = "positives";              // "positives", "uniform"
  std::string negative_kind = "usual";                     // random and difficult ones; "matched"
  std::uint64_t seed = 0;
};

// replace, transpose, insert, delete.
const std::vector<std::string>& labelled_edits();

// `exclude`: data sets none of whose strings may occur. Throws std::invalid_argument on options out
// of range, and when the language does not have enough strings or negatives.
LabelledDataset make_labelled(const Grammar& grammar, const LabelledOptions& options,
                              const std::vector<LabelledDatasetPtr>& exclude = {});

}  // namespace pushdown
