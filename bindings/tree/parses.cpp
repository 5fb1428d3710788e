// pd.tree: trees from syntactic distances, baselines, and scores.
#include <sstream>

#include "analysis/parse_induction.h"
#include "analysis/parse_score.h"
#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/kinds.h"
#include "bindings/session/state.h"
#include "bindings/tree/classes.h"

namespace pushdown {

template <>
inline constexpr auto kClassName<TreeScore> = "TreeScore";
template <>
inline constexpr auto kHeldBytes<TreeScore> =
    [](const TreeScore& score) { return score.sentences.size() * sizeof(TreeScore::Sentence); };

namespace tree_parses {

std::vector<std::string> words_of(const Sentence& sentence) {
  if (const auto* tree = std::get_if<std::shared_ptr<PhraseTree>>(&sentence))
    return (*tree)->words();
  if (const auto* words = std::get_if<std::vector<std::string>>(&sentence)) return *words;
  std::istringstream text(std::get<std::string>(sentence));
  return {std::istream_iterator<std::string>(text), {}};
}

// Returns the same tree with the parts of speech and the escapes of the sentence, if the sentence
// is a tree.
PhraseTree tagged(const PhraseTree& tree, const Sentence& sentence) {
  const auto* given = std::get_if<std::shared_ptr<PhraseTree>>(&sentence);
  return given ? PhraseTree(tree.words(), (*given)->tags(), tree.phrases(), (*given)->escaped())
               : tree;
}

struct DistanceOptions {
  DistanceTo to = DistanceTo::previous;
  static OptionRows rows() {
    return declare<DistanceOptions>(
        {{"to",
          &DistanceOptions::to,
          "whether the distance of a word is to the previous or the next word",
          {{"previous", DistanceTo::previous}, {"next", DistanceTo::next}}}});
  }
};

PhraseTree from_distances(const Sentence& sentence, const std::vector<double>& distances,
                          const DistanceOptions& options) {
  return tagged(tree_from_distances(words_of(sentence), distances, options.to), sentence);
}

PhraseTree right(const Sentence& sentence) {
  return tagged(right_branching(words_of(sentence)), sentence);
}

PhraseTree left(const Sentence& sentence) {
  return tagged(left_branching(words_of(sentence)), sentence);
}

struct BalanceOptions {
  Balance shape = Balance::halves;
  static OptionRows rows() {
    return declare<BalanceOptions>(
        {{"shape",
          &BalanceOptions::shape,
          "how to split the words: into halves, or so that the right daughters are full",
          {{"halves", Balance::halves}, {"full_right", Balance::full_right}}}});
  }
};

PhraseTree balanced_tree(const Sentence& sentence, const BalanceOptions& options) {
  return tagged(balanced(words_of(sentence), options.shape), sentence);
}

PhraseTree random(lua_State* L, const Sentence& sentence, const SeedOption& options) {
  Random numbers(seed_or_next(L, options.seed), "random trees");
  return tagged(random_tree(words_of(sentence), numbers), sentence);
}

const SpecsByKind& baseline_options() {
  static const SpecsByKind specs{
      {"right", {}},
      {"left", {}},
      {"balanced",
       {text_option("shape", "halves",
                    "how to split the words: into halves, or so that the right daughters are full",
                    {"halves", "full_right"})}},
      {"random", {integer_option("seed", nullptr, "random seed", 0)}}};
  return specs;
}

struct BaselineOptions {
  Json given;
  static OptionRows rows() {
    return OptionRows().open(&BaselineOptions::given, "",
                             [](lua_State*) { return option_groups(baseline_options()); });
  }
};

std::vector<PhraseTree> baseline(lua_State* L, const std::vector<Sentence>& sentences,
                                 const std::string& kind, const BaselineOptions& options) {
  const Json own = resolve_by_kind("tree.baseline", baseline_options(), kind, options.given);
  std::function<PhraseTree(const std::vector<std::string>&)> make;
  if (kind == "right") {
    make = right_branching;
  } else if (kind == "left") {
    make = left_branching;
  } else if (kind == "balanced") {
    const auto shape = own["shape"] == "halves" ? Balance::halves : Balance::full_right;
    make = [shape](const auto& words) { return balanced(words, shape); };
  } else {
    check(kind == "random", "tree.baseline",
          "the baseline must be 'right', 'left', 'balanced' or 'random', got '{}'", kind);
    const auto seed =
        own["seed"].is_null() ? seed_or_next(L, std::nullopt) : own["seed"].get<std::uint64_t>();
    make = [numbers = Random(seed, "random trees")](const auto& words) mutable {
      return random_tree(words, numbers);
    };
  }
  std::vector<PhraseTree> trees;
  for (const auto& sentence : sentences)
    trees.push_back(tagged(make(words_of(sentence)), sentence));
  return trees;
}

TreeScore score(const TreeList& induced, const TreeList& gold,
                const CoreOptions<&score_options>& options) {
  std::vector<const PhraseTree*> ours, theirs;
  for (const auto& tree : induced) ours.push_back(tree.get());
  for (const auto& tree : gold) theirs.push_back(tree.get());
  return score_trees(ours, theirs, options.given);
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

}  // namespace tree_parses

void bind_parses(Module& module) {
  using namespace tree_parses;
  module
      .def<&from_distances>(
          "from_distances(words, distances, {options}) -> Tree  Returns the binary tree that "
          "splits at the greatest distance, at the first of several equal ones. `words` is a Tree, "
          "a list or a text.")
      .def<&right>(
          "right_branching(words) -> Tree  Returns the tree of a sentence in which every left "
          "daughter is a word.")
      .def<&left>(
          "left_branching(words) -> Tree  Returns the tree of a sentence in which every right "
          "daughter is a word.")
      .def<&balanced_tree>(
          "balanced(words, {options}) -> Tree  Returns the balanced binary tree of a sentence.")
      .def<&random>(
          "random(words, {options}) -> Tree  Returns a random binary tree: the place of each split "
          "is uniformly random.")
      .def<&baseline>(
          "baseline(sentences, kind, {options}) -> table  Returns a tree for each sentence: "
          "'right', 'left', 'balanced' (with shape) or 'random' (with seed).")
      .def<&score>(
          "score(induced, gold, {options}) -> TreeScore  Returns unlabelled precision, recall and "
          "F1 of a list of trees with respect to gold trees.");
  Class<TreeScore>(module, "Unlabelled F1, with the settings of its measurement.")
      .def<[](const TreeScore& score) { return 100 * score.f1; }>(
          "score:f1() -> number  Returns F1 in percent.")
      .def<[](const TreeScore& score) { return 100 * score.precision; }>(
          "score:precision() -> number  Returns precision in percent.")
      .def<[](const TreeScore& score) { return 100 * score.recall; }>(
          "score:recall() -> number  Returns recall in percent.")
      .def<&TreeScore::settings>(
          "score:settings() -> table  Returns every option of the measurement.")
      .def<&sentences_of>(
          "score:sentences() -> table  Returns for each scored sentence its number, words, spans "
          "(common, induced, gold), precision, recall and f1.")
      .def<&labels_of>(
          "score:labels() -> table  Returns for each label of the gold trees the number of its "
          "phrases (gold), the number of those that are spans of the induced trees (found), and "
          "the recall in percent.")
      .def<&score_table>(
          "score:to_table() -> table  Returns a table of f1, precision, recall, the numbers of "
          "sentences scored and left_out, and settings.")
      .def<&score_text>(
          "tostring(score) -> string  Returns one line with the numbers and the settings.");
}

}  // namespace pushdown
