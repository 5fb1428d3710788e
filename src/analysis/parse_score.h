// Unlabelled F1 of trees against a treebank. Of every sentence both trees give a set of spans of
// more than one word, so that phrases over the same words count once and single words never do;
// precision, recall and F1 compare the sets. Published numbers differ in what is done before that:
//
//   htut     Htut, Cho and Bowman (2018): punctuation stays, the whole sentence counts as a span,
//            the gold trees are binarised, the mean over sentences.
//   merrill  Merrill et al. (2019): the same without the span of the whole sentence. (Their models
//            read the first word in lower case; that is no matter of the score.)
//
// Of the programs behind these numbers the second one is PRPN's. A sentence in which neither tree
// has a span scores 1, one in which a single tree has some scores 0. How the gold trees were
// binarised is not published; right branching (see binarized) gives the published baselines best.
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
    std::int64_t number;                 // in the list, from 0
    int words;                           // that are scored
    std::int64_t common, induced, gold;  // spans
    double precision, recall, f1;        // 0 to 1
  };
  struct Found {
    std::int64_t gold = 0, found = 0;
  };
  Json settings;                             // every option that the number depends on
  double precision = 0, recall = 0, f1 = 0;  // 0 to 1
  std::vector<Sentence> sentences;           // those that are scored
  std::int64_t left_out = 0;                 // by their length
  std::map<std::string, Found> labels;       // phrases of the gold trees as they were, by label
};

// The options of score_trees: preset, root, punctuation, punctuation_tags, average, binarized,
// min_length, max_length.
const std::vector<OptionSpec>& score_options();
// `options` as resolve_options of score_options() takes them; a preset sets what is not given
// itself. Words are dropped by the parts of speech of the gold trees, then lengths are counted,
// then the gold trees are binarised. std::invalid_argument when the lists have different sizes, or
// the words of a pair differ (beyond the case of ASCII letters): the message names the sentence and
// the first differing word; when words are to be dropped and a gold word has no part of speech;
// when no sentence is left.
TreeScore score_trees(const std::vector<const PhraseTree*>& induced,
                      const std::vector<const PhraseTree*>& gold, const Json& options);

// "F1 17.93 % (precision ..., preset = htut, root = true, ...)": one line.
std::string score_text(const TreeScore& score);

}  // namespace pushdown
