// Unlabelled F1 of trees against a treebank. For every sentence, both trees give a set of spans of
// more than one word, so phrases over the same words count once and single words never do.
// Precision, recall and F1 compare the sets. Published numbers differ in the steps before that:
//
//   htut     Htut, Cho and Bowman (2018): punctuation stays, the whole sentence counts as a span,
//            the gold trees are binarised, the mean over sentences.
//   merrill  Merrill et al. (2019): the same without the span of the whole sentence. (Their models
//            read the first word in lower case, which does not affect the score.)
//
// Of the programs behind these numbers, the second one is PRPN's. A sentence in which neither tree
// has a span scores 1; one in which only one tree has spans scores 0. How the gold trees were
// binarised is not published; right branching (see binarized) reproduces the published baselines
// best.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/options.h"
#include "task/phrase_tree.h"

namespace pushdown {

struct TreeScore {
  struct Sentence {
    std::int64_t number;                 // index in the list, from 0
    int words;                           // number of scored words
    std::int64_t common, induced, gold;  // spans
    double precision, recall, f1;        // 0 to 1
  };
  struct Found {
    std::int64_t gold = 0, found = 0;
  };
  Json settings;                             // every option that the score depends on
  double precision = 0, recall = 0, f1 = 0;  // 0 to 1
  std::vector<Sentence> sentences;           // the scored sentences
  std::int64_t left_out = 0;                 // because of their length
  std::map<std::string, Found> labels;       // phrases of the original gold trees, by label
};

// Returns the options of score_trees: preset, root, punctuation, punctuation_tags, average,
// binarized, min_length, max_length.
const std::vector<OptionSpec>& score_options();
// `options` must be accepted by resolve_options() with score_options(); a preset sets the options
// that are not given. Words are dropped by the parts of speech of the gold trees, then lengths are
// counted, then the gold trees are binarised. Throws std::invalid_argument if the lists have
// different sizes; if the words of a pair differ (except in the case of ASCII letters), with the
// sentence and the first differing word; if words are to be dropped and a gold word has no part of
// speech; and if no sentence is left.
TreeScore score_trees(const std::vector<const PhraseTree*>& induced,
                      const std::vector<const PhraseTree*>& gold, const Json& options);

// Returns one line: "F1 17.93 % (precision ..., preset = htut, root = true, ...)".
std::string score_text(const TreeScore& score);

}  // namespace pushdown
