#include "grammar/conditioned_removal.h"

#include <functional>
#include <map>

#include "base/check.h"
#include "base/stopping.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "grammar.conditioned_removal";
constexpr std::size_t kMaxRules = 20000;
constexpr int kMaxRemovals = 1000;

using Names = std::vector<NamedSymbol>;

// Calls visit(right side, probability) for every way to replace occurrences of the removed rule's
// left side in right[at ...]; `done` is the part before `at`.
void replace_occurrences(const Names& right, const NamedRule& removed,
                         const std::function<void(const Names&, double)>& visit, std::size_t at = 0,
                         Names done = {}, double probability = 1) {
  StopCheck()();
  if (at == right.size()) return visit(done, probability);
  const bool occurrence = !right[at].terminal && right[at].name == removed.left;
  Names kept = done;
  kept.push_back(right[at]);
  replace_occurrences(right, removed, visit, at + 1, std::move(kept),
                      occurrence ? probability * (1 - removed.weight) : probability);
  if (!occurrence) return;
  done.insert(done.end(), removed.right.begin(), removed.right.end());
  replace_occurrences(right, removed, visit, at + 1, std::move(done), probability * removed.weight);
}

std::vector<NamedRule> remove_rule(const std::vector<NamedRule>& rules, std::size_t index) {
  const NamedRule& removed = rules[index];
  check(removed.weight < 1, kWhere, "the rule to remove is the only rule of {}", removed.left);
  std::vector<NamedRule> result;
  // Identical results are merged and their weights added.
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (i == index) continue;
    const auto& rule = rules[i];
    const double scale = rule.left == removed.left ? 1 / (1 - removed.weight) : 1.0;
    replace_occurrences(rule.right, removed, [&](const Names& right, double probability) {
      std::string key = rule.left;
      for (const auto& symbol : right) key += (symbol.terminal ? "\t'" : "\t") + symbol.name;
      const auto [entry, is_new] = known.try_emplace(key, result.size());
      const double weight = rule.weight * scale * probability;
      if (is_new)
        result.push_back({rule.left, right, weight, rule.origin});
      else
        result[entry->second].weight += weight;
    });
    check(result.size() <= kMaxRules, kWhere, "the removal produced more than {} rules", kMaxRules);
  }
  return result;
}

}  // namespace

GrammarSource remove_rules_conditioned(const GrammarSource& source) {
  // Normalises the weights; the constructor also rejects an invalid grammar.
  auto result = Grammar(source).source();
  result.unambiguous = source.unambiguous;
  const auto is_epsilon = [](const NamedRule& rule) { return rule.right.empty(); };
  const auto is_unary = [](const NamedRule& rule) {
    return rule.right.size() == 1 && !rule.right[0].terminal;
  };
  int removals = 0;
  const auto remove_all = [&](auto predicate) {
    for (std::size_t i = 0; i < result.rules.size();) {
      if (!predicate(result.rules[i])) {
        ++i;
        continue;
      }
      check(++removals <= kMaxRemovals, kWhere,
            "the removal does not end: it keeps producing rules of {}", result.rules[i].left);
      result.rules = remove_rule(result.rules, i);
      i = 0;
    }
  };
  remove_all(is_epsilon);
  remove_all(is_unary);
  return result;
}

}  // namespace pushdown
