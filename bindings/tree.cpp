// pd.tree: phrase structure trees and tree banks. Inducing trees and scoring them is in parse.cpp.
#include "bindings/tree.h"
#include "bindings/inputs.h"

#include "analysis/tree_drawing.h"
#include "base/atomic_file.h"
#include "base/check.h"
#include "bindings/bind.h"
#include "bindings/modules.h"
#include "bindings/options.h"
#include "bindings/text.h"
#include "task/bracketed_text.h"
#include "task/file_set.h"

namespace pushdown {
namespace {

bool take_choice(OptionTable& options, const char* where, const std::string& key,
                 const std::string& no, const std::string& yes) {
  const auto value = options.take<std::string>(key).value_or(no);
  check(value == no || value == yes, where, "{} must be '{}' or '{}', got '{}'", key, no, yes,
        value);
  return value == yes;
}

BracketOptions take_bracket_options(OptionTable& options) {
  constexpr auto kTreePlace = "tree.read";
  BracketOptions all;
  all.keep_functions = take_choice(options, kTreePlace, "functions", "strip", "keep");
  all.keep_empty_elements = take_choice(options, kTreePlace, "empty_elements", "remove", "keep");
  all.keep_escapes = take_choice(options, kTreePlace, "escapes", "decode", "keep");
  all.skip_empty_sentences = take_choice(options, kTreePlace, "empty_sentences", "refuse", "skip");
  all.unlabelled = !options.take<bool>("labels").value_or(true);
  return all;
}

const std::vector<std::string> kBracketOptions{"functions", "empty_elements", "escapes",
                                               "empty_sentences", "labels"};

std::vector<PhraseTree> read_trees(lua_State* L, const std::string& path, OptionTable options) {
  const auto all = take_bracket_options(options);
  const auto ending = options.take<std::string>("ending").value_or(".mrg");
  auto valid = kBracketOptions;
  valid.push_back("ending");
  options.finish("tree.read", valid);
  std::vector<PhraseTree> trees;
  for (const auto& file : files_named("tree.read", path, ending)) {
    auto more = parse_brackets(read_input(L, "data", file), file.string(), all);
    std::move(more.begin(), more.end(), std::back_inserter(trees));
  }
  return trees;
}

std::vector<PhraseTree> parse_trees(const std::string& text, OptionTable options) {
  const auto all = take_bracket_options(options);
  options.finish("tree.parse", kBracketOptions);
  return parse_brackets(text, "text", all);
}

std::string brackets(const PhraseTree& tree) { return bracketed(tree); }

void save_trees(const TreeList& trees, const std::string& path) {
  std::string text;
  for (const auto& tree : trees) text += bracketed(*tree) + "\n";
  write_file(path, text);
}

PhraseTree own_tree(OptionTable options) {
  constexpr auto kTreePlace = "tree.tree";
  auto words = options.require<std::vector<std::string>>("words");
  auto tags = options.take<std::vector<std::string>>("tags").value_or(std::vector<std::string>());
  const Json rest = options.rest();
  for (const auto& [key, value] : rest.items())
    check(key == "phrases", kTreePlace,
          "unknown option '{}'; valid are 'words', 'tags' and 'phrases'", key);
  std::vector<Phrase> phrases;
  if (rest.contains("phrases"))
    for (const auto& entry : rest["phrases"]) {
      check(entry.is_array() && entry.size() >= 2 && entry.size() <= 3 &&
                entry[0].is_number_integer() && entry[1].is_number_integer() &&
                (entry.size() == 2 || entry[2].is_string()),
            kTreePlace, "a phrase must be {{first, last}} or {{first, last, label}}, got {}",
            entry.dump());
      phrases.push_back({entry[0].get<int>() - 1, entry[1].get<int>(),
                         entry.size() == 3 ? entry[2].get<std::string>() : ""});
    }
  return PhraseTree(std::move(words), std::move(tags), std::move(phrases));
}

// From 1, first and last word of each.
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

std::string tree_text_of(const PhraseTree& tree, OptionTable options) {
  const auto gold = options.take<std::shared_ptr<PhraseTree>>("gold");
  const bool ascii = options.take<bool>("ascii").value_or(!utf8_locale());
  options.finish("tree.text", {"gold", "ascii"});
  return gold ? drawing_beside(tree, **gold, ascii) : drawing(tree, ascii);
}

std::string show_tree(const PhraseTree& tree) {
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

}  // namespace

void bind_tree(lua_State* L) {
  Module module(L, "tree", "Phrase structure trees: tree banks, trees without supervision, F1.");
  module
      .def<&read_trees>(
          "read",
          "read(path, {functions=, empty_elements=, escapes=, empty_sentences=, labels=, ending=}) "
          "-> table  The trees of a file in brackets as the Penn Treebank writes them, of the "
          "files "
          "of a folder, or of those that match a pattern.")
      .def<&parse_trees>("parse",
                         "parse(text, {functions=, empty_elements=, escapes=, empty_sentences=, "
                         "labels=}) -> table  The trees of a text in brackets.")
      .def<&save_trees>("save", "save(trees, path)  Writes trees in brackets, one a line.")
      .def<&own_tree>("tree",
                      "tree{words=, tags=, phrases=} -> Tree  A tree of your own; a phrase is "
                      "{first, last, label} or {first, last}, its words counted from 1.");
  Class<PhraseTree>(module, "Words and the phrases over them.")
      .def<&PhraseTree::size>("size", "tree:size() -> integer  The number of words.")
      .def<&PhraseTree::words>("words", "tree:words() -> table  The words.")
      .def<&PhraseTree::tags>("tags",
                              "tree:tags() -> table  The words' parts of speech, empty where "
                              "unknown.")
      .def<&phrases_of>("phrases",
                        "tree:phrases() -> table  The phrases as {first=, last=, label=}, outer "
                        "before inner, left before right.")
      .def<&spans_of>("spans",
                      "tree:spans() -> table  The words {first, last} of the phrases of more than "
                      "one word, each once.")
      .def<&binarized_tree>("binarized",
                            "tree:binarized(branching='right') -> Tree  The tree with at most two "
                            "daughters a phrase, chains of phrases over the same words made one; "
                            "'right' or 'left' branching.")
      .def<&without_punctuation>("without_punctuation",
                                 "tree:without_punctuation(tags=) -> Tree  The tree without the "
                                 "words of these parts of speech, or nil when none is left.")
      .def<&brackets>("brackets", "tree:brackets() -> string  The tree in brackets, one line.")
      .def<&tree_text_of>(
          "text",
          "tree:text{gold=, ascii=} -> string  A drawing for the terminal, one word a "
          "line; with another tree as `gold` both side by side, ● for spans that both "
          "have; ASCII alone where the locale is not UTF-8, or told so.")
      .def<&show_tree>("__show", "show(tree) -> string  The drawing.")
      .def<&brackets>("__tostring", "tostring(tree) -> string  The tree in brackets.");
  bind_parses(module);
}

}  // namespace pushdown
