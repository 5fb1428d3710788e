// pd.tree: trees from syntactic distances, baselines, and scores.
#include <sstream>

#include "analysis/parse_induction.h"
#include "analysis/parse_score.h"
#include "base/check.h"
#include "bindings/bind.h"
#include "bindings/options.h"
#include "bindings/session.h"
#include "bindings/tree.h"

namespace pushdown {

template <>
struct ClassName<TreeScore> {
  static constexpr const char* value = "TreeScore";
  static std::size_t bytes(const TreeScore& score) {
    return score.sentences.size() * sizeof(TreeScore::Sentence);
  }
};

namespace {

std::vector<std::string> parse_words_of(const Sentence& sentence) {
  if (const auto* tree = std::get_if<std::shared_ptr<PhraseTree>>(&sentence))
    return (*tree)->words();
  if (const auto* words = std::get_if<std::vector<std::string>>(&sentence)) return *words;
  std::istringstream text(std::get<std::string>(sentence));
  return {std::istream_iterator<std::string>(text), {}};
}

// The same tree with the parts of speech of the sentence, where that is a tree.
PhraseTree tagged(const PhraseTree& tree, const Sentence& sentence) {
  const auto* given = std::get_if<std::shared_ptr<PhraseTree>>(&sentence);
  return given ? PhraseTree(tree.words(), (*given)->tags(), tree.phrases()) : tree;
}

PhraseTree from_distances(const Sentence& sentence, const std::vector<double>& distances,
                          OptionTable options) {
  const auto to = options.take<std::string>("to").value_or("previous");
  options.finish("tree.from_distances", {"to"});
  check(to == "previous" || to == "next", "tree.from_distances",
        "to must be 'previous' or 'next', got '{}'", to);
  return tagged(tree_from_distances(parse_words_of(sentence), distances,
                                    to == "previous" ? DistanceTo::previous : DistanceTo::next),
                sentence);
}

PhraseTree right(const Sentence& sentence) {
  return tagged(right_branching(parse_words_of(sentence)), sentence);
}

PhraseTree left(const Sentence& sentence) {
  return tagged(left_branching(parse_words_of(sentence)), sentence);
}

Balance take_balance(OptionTable& options) {
  const auto shape = options.take<std::string>("shape").value_or("halves");
  check(shape == "halves" || shape == "full_right", "tree.balanced",
        "shape must be 'halves' or 'full_right', got '{}'", shape);
  return shape == "halves" ? Balance::halves : Balance::full_right;
}

PhraseTree balanced_tree(const Sentence& sentence, OptionTable options) {
  const auto shape = take_balance(options);
  options.finish("tree.balanced", {"shape"});
  return tagged(balanced(parse_words_of(sentence), shape), sentence);
}

PhraseTree random(lua_State* L, const Sentence& sentence, OptionTable options) {
  const auto seed = options.take<std::uint64_t>("seed");
  options.finish("tree.random", {"seed"});
  Random numbers(seed_or_next(L, seed), "random trees");
  return tagged(random_tree(parse_words_of(sentence), numbers), sentence);
}

std::vector<PhraseTree> baseline(lua_State* L, const std::vector<Sentence>& sentences,
                                 const std::string& kind, OptionTable options) {
  constexpr auto kParsePlace = "tree.baseline";
  std::function<PhraseTree(const std::vector<std::string>&)> make;
  if (kind == "right") {
    options.finish(kParsePlace, {});
    make = right_branching;
  } else if (kind == "left") {
    options.finish(kParsePlace, {});
    make = left_branching;
  } else if (kind == "balanced") {
    const auto shape = take_balance(options);
    options.finish(kParsePlace, {"shape"});
    make = [shape](const auto& words) { return balanced(words, shape); };
  } else {
    check(kind == "random", kParsePlace,
          "the baseline must be 'right', 'left', 'balanced' or 'random', got '{}'", kind);
    const auto seed = options.take<std::uint64_t>("seed");
    options.finish(kParsePlace, {"seed"});
    make = [numbers = Random(seed_or_next(L, seed), "random trees")](const auto& words) mutable {
      return random_tree(words, numbers);
    };
  }
  std::vector<PhraseTree> trees;
  for (const auto& sentence : sentences)
    trees.push_back(tagged(make(parse_words_of(sentence)), sentence));
  return trees;
}

TreeScore score(const TreeList& induced, const TreeList& gold, const OptionTable& options) {
  std::vector<const PhraseTree*> ours, theirs;
  for (const auto& tree : induced) ours.push_back(tree.get());
  for (const auto& tree : gold) theirs.push_back(tree.get());
  return score_trees(ours, theirs, options.rest());
}

Json labels_of(const TreeScore& score) {
  Json labels = Json::object();
  for (const auto& [label, found] : score.labels)
    labels[label] = {
        {"gold", found.gold},
        {"found", found.found},
        {"recall", 100.0 * static_cast<double>(found.found) / static_cast<double>(found.gold)}};
  return labels;
}

Json sentences_of(const TreeScore& score) {
  Json list = Json::array();
  for (const auto& row : score.sentences)
    list.push_back({{"sentence", row.number + 1},
                    {"words", row.words},
                    {"common", row.common},
                    {"induced", row.induced},
                    {"gold", row.gold},
                    {"precision", 100 * row.precision},
                    {"recall", 100 * row.recall},
                    {"f1", 100 * row.f1}});
  return list;
}

Json score_table(const TreeScore& score) {
  return {{"f1", 100 * score.f1},         {"precision", 100 * score.precision},
          {"recall", 100 * score.recall}, {"sentences", score.sentences.size()},
          {"left_out", score.left_out},   {"settings", score.settings}};
}

}  // namespace

void bind_parses(Module& module) {
  module
      .def<&from_distances>(
          "from_distances",
          "from_distances(words, distances, {to=}) -> Tree  The binary tree that splits at the "
          "greatest distance, the first of equal ones; a word's distance is the one to the "
          "'previous' word, or with to = 'next' to the next one. Words are a Tree, a list or a "
          "text.")
      .def<&right>("right_branching",
                   "right_branching(words) -> Tree  The tree of a sentence in which every left "
                   "daughter is a word.")
      .def<&left>("left_branching",
                  "left_branching(words) -> Tree  The tree of a sentence in which every right "
                  "daughter is a word.")
      .def<&balanced_tree>(
          "balanced",
          "balanced(words, {shape=}) -> Tree  The tree whose daughters are 'halves' "
          "of it, or with 'full_right' whose right daughters are full.")
      .def<&random>("random",
                    "random(words, {seed=}) -> Tree  A random binary tree: a uniform split, then "
                    "the same in both parts.")
      .def<&baseline>("baseline",
                      "baseline(sentences, kind, {shape=, seed=}) -> table  A tree for each "
                      "sentence: 'right', 'left', 'balanced' or 'random'.")
      .def<&score>("score",
                   "score(induced, gold, {preset=, root=, punctuation=, punctuation_tags=, "
                   "average=, binarized=, min_length=, max_length=}) -> TreeScore  Unlabelled "
                   "precision, recall and F1 of a list of trees against another.");
  Class<TreeScore>(module, "Unlabelled F1 with the settings it was measured with.")
      .def<[](const TreeScore& score) { return 100 * score.f1; }>(
          "f1", "score:f1() -> number  F1 in percent.")
      .def<[](const TreeScore& score) { return 100 * score.precision; }>(
          "precision", "score:precision() -> number  Precision in percent.")
      .def<[](const TreeScore& score) { return 100 * score.recall; }>(
          "recall", "score:recall() -> number  Recall in percent.")
      .def<[](const TreeScore& score) { return score.settings; }>(
          "settings", "score:settings() -> table  Every option of the measurement.")
      .def<&sentences_of>("sentences",
                          "score:sentences() -> table  Of each scored sentence its number, words, "
                          "spans (common, induced, gold), precision, recall and f1.")
      .def<&labels_of>(
          "labels",
          "score:labels() -> table  Of each label of the gold trees how many phrases "
          "it has (gold), how many of them are spans of the induced trees (found), and "
          "recall in percent.")
      .def<&score_table>(
          "to_table",
          "score:to_table() -> table  f1, precision, recall, the numbers of sentences "
          "scored and left_out, and settings.")
      .def<&score_text>("__tostring",
                        "tostring(score) -> string  One line with the numbers and the settings.");
}

}  // namespace pushdown
