#include "grammar/parse_tree.h"

#include <cmath>

#include "grammar/symbol_text.h"

namespace pushdown {
namespace {

void append_indented(const Grammar& grammar, const ParseTree& tree, int level, std::string& text) {
  text.append(std::size_t{2} * level, ' ');
  const auto& name = grammar.symbol_name(tree.symbol);
  text += (tree.symbol.terminal ? quoted_terminal(name) : name) + "\n";
  for (const auto& child : tree.children) append_indented(grammar, child, level + 1, text);
}

}  // namespace

double derivation_log_probability(const Grammar& grammar, const ParseTree& tree) {
  double sum = tree.rule < 0 ? 0.0 : std::log(grammar.rules()[tree.rule].weight);
  for (const auto& child : tree.children) sum += derivation_log_probability(grammar, child);
  return sum;
}

Word leaves(const ParseTree& tree) {
  if (tree.symbol.terminal) return {tree.symbol.id};
  Word word;
  for (const auto& child : tree.children) {
    const auto part = leaves(child);
    word.insert(word.end(), part.begin(), part.end());
  }
  return word;
}

std::string bracketed(const Grammar& grammar, const ParseTree& tree) {
  const auto& name = grammar.symbol_name(tree.symbol);
  if (tree.symbol.terminal) return quoted_terminal(name);
  std::string text = "(" + name;
  for (const auto& child : tree.children) text.append(1, ' ').append(bracketed(grammar, child));
  return text + ")";
}

std::string indented(const Grammar& grammar, const ParseTree& tree) {
  std::string text;
  append_indented(grammar, tree, 0, text);
  return text;
}

}  // namespace pushdown
