#include "task/treebank_grammar.h"

#include <map>
#include <set>
#include <tuple>

#include "base/check.h"
#include "base/stopping.h"
#include "grammar/symbol_text.h"

namespace pushdown {
namespace {

constexpr auto kWhere = "grammar.from_trees";

// Counts equal rules in order of first use.
class RuleCounts {
 public:
  void add(const std::string& left, std::vector<NamedSymbol> right) {
    std::vector<std::pair<bool, std::string>> key;
    for (const auto& symbol : right) key.emplace_back(symbol.terminal, symbol.name);
    const auto [place, is_new] = places_.try_emplace({left, std::move(key)}, source.rules.size());
    if (is_new) source.rules.push_back({left, std::move(right), 0});
    ++source.rules[place->second].weight;
  }

  GrammarSource source;

 private:
  std::map<std::pair<std::string, std::vector<std::pair<bool, std::string>>>, std::size_t> places_;
};

// Adds the rules of one tree.
class TreeReader {
 public:
  TreeReader(const PhraseTree& tree, std::size_t number, RuleCounts& counts,
             std::set<std::string>& labels)
      : tree_(tree), number_(number), counts_(counts), labels_(labels) {}

  // Returns what is at the top of the tree.
  std::vector<NamedSymbol> run() {
    const auto daughters = tree_.daughters();
    for (std::size_t p = 0; p < daughters.size(); ++p) {
      std::vector<NamedSymbol> right;
      for (const auto& daughter : daughters[p]) right.push_back(symbol_of(daughter));
      counts_.add(label(tree_.phrases()[p].label, "a phrase"), std::move(right));
    }
    std::vector<NamedSymbol> top;
    int end = 0;
    for (std::size_t p = 0; p <= daughters.size(); ++p) {
      const bool last = p == daughters.size();
      const int begin = last ? tree_.size() : tree_.phrases()[p].begin;
      if (begin < end) continue;  // inside of the phrase before
      for (; end < begin; ++end) top.push_back(symbol_of({end, end + 1, -1}));
      if (last) break;
      top.push_back({false, tree_.phrases()[p].label});
      end = tree_.phrases()[p].end;
    }
    return top;
  }

 private:
  NamedSymbol symbol_of(const PhraseTree::Daughter& daughter) {
    if (daughter.phrase >= 0) return {false, tree_.phrases()[daughter.phrase].label};
    const auto& word = tree_.words()[daughter.begin];
    if (tree_.tags().empty() || tree_.tags()[daughter.begin].empty()) return {true, word};
    const auto& tag = label(tree_.tags()[daughter.begin], "a part of speech");
    counts_.add(tag, {{true, word}});
    return {false, tag};
  }

  const std::string& label(const std::string& name, const char* what) {
    check(!name.empty(), kWhere, "tree {}: {} has no label", number_, what);
    if (labels_.contains(name)) return name;
    if (const auto reason = nonterminal_name_error(name); !reason.empty())
      fail(kWhere, "tree {}: the label of {}: {}", number_, what, reason);
    labels_.insert(name);
    return name;
  }

  const PhraseTree& tree_;
  std::size_t number_;
  RuleCounts& counts_;
  std::set<std::string>& labels_;
};

}  // namespace

GrammarSource treebank_grammar(const std::vector<const PhraseTree*>& trees,
                               const std::string& start) {
  check(!trees.empty(), kWhere, "expected at least one tree, got none");
  RuleCounts counts;
  std::set<std::string> labels;
  std::vector<std::vector<NamedSymbol>> tops;
  const StopCheck stop;
  for (const auto* tree : trees) {
    stop();
    tops.push_back(TreeReader(*tree, tops.size() + 1, counts, labels).run());
  }
  const auto top_label = [](const std::vector<NamedSymbol>& top) {
    return top.size() == 1 && !top[0].terminal ? top[0].name : std::string();
  };
  auto common = top_label(tops.front());
  for (std::size_t k = 0; k < tops.size(); ++k) {
    if (top_label(tops[k]) != common) common.clear();
    check(top_label(tops[k]) == start || !labels.contains(start), kWhere,
          "tree {}: the start symbol {} is a label of the trees but not at the top of this one",
          k + 1, start);
  }
  if (!common.empty() && (start.empty() || start == common)) {
    counts.source.start = common;
    return counts.source;
  }
  counts.source.start = start.empty() ? "ROOT" : start;
  while (labels.contains(counts.source.start)) counts.source.start += "'";
  for (auto& top : tops) counts.add(counts.source.start, std::move(top));
  return counts.source;
}

}  // namespace pushdown
