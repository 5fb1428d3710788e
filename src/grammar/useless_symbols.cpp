#include "grammar/useless_symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/stopping.h"

namespace pushdown {
namespace {

using Names = std::unordered_set<std::string>;

std::string start_of(const GrammarSource& source) {
  return source.start.empty() ? source.rules.front().left : source.start;
}

// Returns the left sides and the origins of their first rules, in order.
std::vector<UselessSymbol> left_sides_of(const GrammarSource& source, Names& names) {
  std::vector<UselessSymbol> sides;
  for (const auto& rule : source.rules)
    if (names.insert(rule.left).second) sides.push_back({rule.left, rule.origin});
  return sides;
}

// Each rule waits for the nonterminals on its right side that are not known to be productive.
Names productive_symbols(const GrammarSource& source) {
  std::unordered_map<std::string, std::vector<std::size_t>> uses;
  std::vector<std::size_t> waiting(source.rules.size());
  std::vector<std::string> open;
  Names productive;
  const auto add = [&](const std::string& name) {
    if (productive.insert(name).second) open.push_back(name);
  };
  for (std::size_t r = 0; r < source.rules.size(); ++r) {
    const auto& rule = source.rules[r];
    if (rule.weight == 0) continue;
    for (const auto& symbol : rule.right) {
      if (symbol.terminal) continue;
      uses[symbol.name].push_back(r);
      ++waiting[r];
    }
    if (waiting[r] == 0) add(rule.left);
  }
  const StopCheck stop;
  while (!open.empty()) {
    stop();
    const auto name = std::move(open.back());
    open.pop_back();
    for (const auto r : uses[name])
      if (--waiting[r] == 0) add(source.rules[r].left);
  }
  return productive;
}

Names reachable_symbols(const GrammarSource& source) {
  std::unordered_map<std::string, std::vector<const NamedRule*>> by_left;
  for (const auto& rule : source.rules) by_left[rule.left].push_back(&rule);
  Names reached{start_of(source)};
  std::vector<std::string> open{start_of(source)};
  const StopCheck stop;
  while (!open.empty()) {
    stop();
    const auto name = std::move(open.back());
    open.pop_back();
    for (const auto* rule : by_left[name])
      for (const auto& symbol : rule->right)
        if (!symbol.terminal && reached.insert(symbol.name).second) open.push_back(symbol.name);
  }
  return reached;
}

// Removes the rules that have one of these nonterminals on either side.
void remove_rules(GrammarSource& source, const std::vector<UselessSymbol>& symbols,
                  const char* reason, std::vector<std::string>& removed) {
  Names names;
  for (const auto& [name, origin] : symbols) {
    names.insert(name);
    removed.push_back(
        fmt::format("{}{} {}", name, origin.empty() ? "" : " (" + origin + ")", reason));
  }
  std::erase_if(source.rules, [&](const NamedRule& rule) {
    return names.contains(rule.left) ||
           std::any_of(rule.right.begin(), rule.right.end(), [&](const NamedSymbol& symbol) {
             return !symbol.terminal && names.contains(symbol.name);
           });
  });
}

}  // namespace

UselessSymbols find_useless_symbols(const GrammarSource& source) {
  UselessSymbols useless;
  if (source.rules.empty()) return useless;
  Names defined;
  const auto sides = left_sides_of(source, defined);
  Names undefined;
  for (const auto& rule : source.rules)
    for (const auto& symbol : rule.right)
      if (!symbol.terminal && !defined.contains(symbol.name) &&
          undefined.insert(symbol.name).second)
        useless.undefined.push_back({symbol.name, rule.origin});
  const auto productive = productive_symbols(source);
  for (const auto& side : sides)
    if (!productive.contains(side.name)) useless.unproductive.push_back(side);
  if (!defined.contains(start_of(source))) return useless;
  const auto reached = reachable_symbols(source);
  for (const auto& side : sides)
    if (!reached.contains(side.name)) useless.unreachable.push_back(side);
  return useless;
}

GrammarSource without_useless_symbols(GrammarSource source, std::vector<std::string>& removed) {
  if (source.rules.empty()) return source;
  const auto start = start_of(source);
  const auto useless = find_useless_symbols(source);
  const auto is_start = [&](const UselessSymbol& symbol) { return symbol.name == start; };
  if (std::any_of(useless.unproductive.begin(), useless.unproductive.end(), is_start) ||
      std::any_of(useless.undefined.begin(), useless.undefined.end(), is_start))
    return source;
  source.start = start;
  remove_rules(source, useless.undefined, "has no rules", removed);
  remove_rules(source, useless.unproductive, "derives no terminal string", removed);
  remove_rules(source, find_useless_symbols(source).unreachable,
               "is not reached from the start symbol", removed);
  Names used;
  for (const auto& rule : source.rules)
    for (const auto& symbol : rule.right)
      if (symbol.terminal) used.insert(symbol.name);
  std::erase_if(source.symbols, [&](const std::string& symbol) { return !used.contains(symbol); });
  return source;
}

std::string listed(const std::vector<UselessSymbol>& symbols) {
  std::string text;
  for (const auto& [name, origin] : symbols) {
    text += (text.empty() ? "'" : ", '") + name + "'";
    if (symbols.size() > 1 && !origin.empty()) text += " (" + origin + ")";
  }
  return text;
}

}  // namespace pushdown
