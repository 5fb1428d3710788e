// Derivations as Lua values.
#include "bindings/binder/bind.h"
#include "bindings/grammar/classes.h"
#include "bindings/session/drawing.h"
#include "bindings/tree/classes.h"

namespace pushdown {
namespace grammar_derivation {

Json tree_table(const Grammar& grammar, const ParseTree& tree) {
  const Json symbol = grammar.symbol_name(tree.symbol);
  if (tree.symbol.terminal) return symbol;
  Json children = Json::array();
  for (const auto& child : tree.children) children.push_back(tree_table(grammar, child));
  return {{"symbol", symbol},
          {"rule", grammar.rule_text(grammar.rules()[tree.rule])},
          {"children", children}};
}

// Appends the phrases and words of a derivation; an empty right side is a word of its own.
void append_tree(const Grammar& grammar, const ParseTree& tree, std::vector<std::string>& words,
                 std::vector<Phrase>& phrases) {
  const auto& name = grammar.symbol_name(tree.symbol);
  if (tree.symbol.terminal) return words.push_back(name);
  const auto place = phrases.size();
  const auto begin = static_cast<int>(words.size());
  phrases.push_back({begin, begin, name});
  for (const auto& child : tree.children) append_tree(grammar, child, words, phrases);
  if (tree.children.empty()) words.push_back("ε");
  phrases[place].end = static_cast<int>(words.size());
}

PhraseTree phrase_tree(const Derivation& d) {
  std::vector<std::string> words;
  std::vector<Phrase> phrases;
  append_tree(d.grammar, d.parse.tree, words, phrases);
  return {std::move(words), {}, std::move(phrases)};
}

template <Literal kind>
Results drawn_derivation(lua_State* L, const Derivation& d, const std::optional<PathText>& path) {
  Value<PhraseTree>::push(L, phrase_tree(d));
  return draw(L, kind.text, "tree", {L, lua_gettop(L)}, path);
}

std::string derivation_brackets(const Derivation& d) { return bracketed(d.grammar, d.parse.tree); }
std::string derivation_text(const Derivation& d) { return indented(d.grammar, d.parse.tree); }
std::string show_derivation(const Derivation& d) {
  auto text = derivation_text(d);
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace grammar_derivation

void bind_derivation(Module& module) {
  using namespace grammar_derivation;
  Class<Derivation>(module, "A derivation of a string, in terms of the grammar's own rules.")
      .def<[](const Derivation& d) { return d.parse.log_probability; }>(
          "derivation:log_probability() -> number  Returns the natural logarithm of the "
          "probability of the derivation.")
      .def<&derivation_text>(
          "derivation:text() -> string  Returns the tree as indented lines, one per node.")
      .def<[](const Derivation& d) { return tree_table(d.grammar, d.parse.tree); }>(
          "derivation:to_table() -> table  Returns the tree as nested tables {symbol, rule, "
          "children}. Leaves are texts.")
      .def<&derivation_brackets>(
          "derivation:brackets() -> string  Returns the tree in brackets, in one line.")
      .def<&phrase_tree>(
          "derivation:tree() -> Tree  Returns the derivation as a tree of pd.tree. An empty right "
          "side is a word ε.")
      .def<&drawn_derivation<"tree">>(
          "derivation:svg(path) -> string  Returns a picture of the tree as SVG. Also writes it to "
          "the path, if one is given.")
      .def<&drawn_derivation<"tree_latex">>(
          "derivation:latex(path) -> string  Returns the tree as a picture of the LaTeX package "
          "forest. Also writes it to the path, if one is given.")
      .def<&show_derivation>("__show",
                             "show(derivation) -> string  Returns the tree as indented lines.")
      .def<&derivation_brackets>("tostring(derivation) -> string  Returns the tree in brackets.");
}

}  // namespace pushdown
