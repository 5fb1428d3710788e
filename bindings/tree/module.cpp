// pd.tree: phrase structure trees and treebanks. analysis_parse.cpp induces and scores trees.
#include "bindings/session/drawing.h"
#include "bindings/session/inputs.h"
#include "bindings/tree/classes.h"

#include "analysis/tree_drawing.h"
#include "base/atomic_file.h"
#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/options.h"
#include "bindings/binder/path.h"
#include "bindings/binder/text.h"
#include "task/bracketed_text.h"
#include "task/file_set.h"

namespace pushdown {
namespace tree_module {

struct ParseOptions : BracketOptions {
  bool labels = true;
  using Self = ParseOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"functions",
          &Self::keep_functions,
          "what to do with functions and indices of labels, as in NP-SBJ-1",
          {{"strip", false}, {"keep", true}}},
         {"empty_elements",
          &Self::keep_empty_elements,
          "what to do with words of part of speech -NONE-",
          {{"remove", false}, {"keep", true}}},
         {"escapes",
          &Self::keep_escapes,
          "what to do with escapes such as -LRB- in words",
          {{"decode", false}, {"keep", true}}},
         {"empty_sentences",
          &Self::skip_empty_sentences,
          "what to do with trees without words",
          {{"refuse", false}, {"skip", true}}},
         {"labels", &Self::labels, "brackets have labels; false for ((The cat) sat)"}});
  }
};
struct ReadOptions : ParseOptions {
  std::string ending = ".mrg";
  static OptionRows rows() {
    return declare<ReadOptions>(
               {{"ending", &ReadOptions::ending, "file name extension of the files of a folder"}})
        .with<ReadOptions, ParseOptions>();
  }
};

std::vector<PhraseTree> parse_trees(const std::string& text, ParseOptions options) {
  options.unlabelled = !options.labels;
  return parse_brackets(text, "text", options);
}

std::vector<PhraseTree> read_trees(lua_State* L, const PathText& path, ReadOptions options) {
  options.unlabelled = !options.labels;
  std::vector<PhraseTree> trees;
  for (const auto& file : files_named("tree.read", path, options.ending)) {
    auto more = parse_brackets(read_input(L, "data", file), file.string(), options);
    std::move(more.begin(), more.end(), std::back_inserter(trees));
  }
  return trees;
}

std::string brackets(const PhraseTree& tree) { return bracketed(tree); }

void save(const TreeList& trees, const PathText& path) {
  std::string text;
  for (const auto& tree : trees) text += bracketed(*tree) + "\n";
  write_file(path, text);
}

struct OwnTree {
  std::vector<std::string> words, tags;
  std::vector<Json> phrases;
  using Self = OwnTree;
  static OptionRows rows() {
    return declare<Self>({{"words", &Self::words, "the words", required},
                          {"tags", &Self::tags, "their parts of speech"},
                          {"phrases", &Self::phrases,
                           "each {first, last, label} or {first, last}, words counted from 1",
                           TypeText{"list of lists"}}});
  }
};

PhraseTree own_tree(const OwnTree& own) {
  std::vector<Phrase> phrases;
  for (const auto& entry : own.phrases) {
    check(entry.is_array() && entry.size() >= 2 && entry.size() <= 3 &&
              entry[0].is_number_integer() && entry[1].is_number_integer() &&
              (entry.size() == 2 || entry[2].is_string()),
          "tree.tree", "a phrase must be {{first, last}} or {{first, last, label}}, got {}",
          entry.dump());
    phrases.push_back({entry[0].get<int>() - 1, entry[1].get<int>(),
                       entry.size() == 3 ? entry[2].get<std::string>() : ""});
  }
  return PhraseTree(own.words, own.tags, std::move(phrases));
}

// The first and last word of each phrase, from 1.
std::vector<std::vector<int>> spans_of(const PhraseTree& tree) {
  std::vector<std::vector<int>> list;
  for (const auto& [begin, end] : spans(tree)) list.push_back({begin + 1, end});
  return list;
}

Json phrases_of(const PhraseTree& tree) {
  Json list = Json::array();
  for (const auto& phrase : tree.phrases())
    list.push_back({{"first", phrase.begin + 1}, {"last", phrase.end}, {"label", phrase.label}});
  return list;
}

struct DrawingOptions {
  std::shared_ptr<PhraseTree> gold;
  std::optional<bool> ascii;
  using Self = DrawingOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"gold", &Self::gold, "tree to draw beside it, with ● for spans that both have"},
         {"ascii", &Self::ascii,
          "uses only ASCII characters; if absent, only if the locale is not UTF-8"}});
  }
};

std::string text_of(const PhraseTree& tree, const DrawingOptions& options) {
  const bool ascii = options.ascii.value_or(!utf8_locale());
  return options.gold ? drawing_beside(tree, *options.gold, ascii) : drawing(tree, ascii);
}

std::string show(const PhraseTree& tree) {
  auto text = drawing(tree, !utf8_locale());
  text.pop_back();
  return text;
}

PhraseTree binarized_tree(const PhraseTree& tree, const std::optional<std::string>& branching) {
  const auto name = branching.value_or("right");
  check(name == "right" || name == "left", "tree.binarized",
        "the branching must be 'right' or 'left', got '{}'", name);
  return binarized(tree, name == "right" ? Branching::right : Branching::left);
}

std::optional<PhraseTree> without_punctuation(const PhraseTree& tree,
                                              const std::optional<std::vector<std::string>>& tags) {
  const auto& dropped = tags ? *tags : punctuation_tags();
  return restricted(tree, [&](int i) {
    return std::find(dropped.begin(), dropped.end(), tree.tags()[i]) == dropped.end();
  });
}

}  // namespace tree_module

void bind_tree(lua_State* L) {
  using namespace tree_module;
  Module module(L, "tree", "Phrase structure trees: treebanks, trees without supervision, F1.");
  module
      .def<&read_trees>(
          "read(path, {options}) -> table  Returns the trees in bracket notation, as in the Penn "
          "Treebank, of a file, of the files of a folder, or of the files that match a pattern.")
      .def<&parse_trees>(
          "parse(text, {options}) -> table  Returns the trees in a text in bracket notation.")
      .def<&save>("save(trees, path)  Writes trees in brackets, one per line.")
      .def<&own_tree>("tree{options} -> Tree  Returns a tree of given words and phrases.");
  Class<PhraseTree>(module, "Words and the phrases over them.")
      .def<&PhraseTree::size>("tree:size() -> integer  Returns the number of words.")
      .def<&PhraseTree::words>("tree:words() -> table  Returns the words.")
      .def<&PhraseTree::tags>(
          "tree:tags() -> table  Returns the parts of speech of the words. Unknown ones are empty.")
      .def<&phrases_of>(
          "tree:phrases() -> table  Returns the phrases as {first=, last=, label=}, outer before "
          "inner, left before right.")
      .def<&spans_of>(
          "tree:spans() -> table  Returns the spans {first, last} of the phrases of more than one "
          "word, each once.")
      .def<&binarized_tree>(
          "tree:binarized(branching='right') -> Tree  Returns the tree with at most two daughters "
          "per phrase, branching to the 'right' or 'left'. Chains of phrases over the same words "
          "become one phrase.")
      .def<&without_punctuation>(
          "tree:without_punctuation(tags=) -> Tree  Returns the tree without the words of these "
          "parts of speech, or nil if no word is left.")
      .def<&brackets>("tree:brackets() -> string  Returns the tree in brackets, in one line.")
      .def<&drawn_as<PhraseTree, "tree", "tree">>(
          "tree:svg(path) -> string  Returns a picture of the tree as SVG; pd.plot.tree has "
          "options. Also writes it to the path, if one is given.")
      .def<&drawn_as<PhraseTree, "tree_latex", "tree">>(
          "tree:latex(path) -> string  Returns the tree as a picture of the LaTeX package forest. "
          "Also writes it to the path, if one is given.")
      .def<&text_of>(
          "tree:text{options} -> string  Returns a drawing for the terminal, one word per line.")
      .def<&show>("__show", "show(tree) -> string  Returns a drawing of the tree.")
      .def<&brackets>("tostring(tree) -> string  Returns the tree in brackets.");
  bind_parses(module);
}

}  // namespace pushdown
