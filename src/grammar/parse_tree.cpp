#include "grammar/parse_tree.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/check.h"
#include "base/stopping.h"
#include "grammar/chart.h"
#include "grammar/inside.h"
#include "grammar/symbol_text.h"

namespace pushdown {
namespace {

// Applies the reductions of normal_form.cpp with sums replaced by maxima. Each maximum remembers
// the short rule that it comes from.
class BestParser {
 public:
  BestParser(const Grammar& grammar, const Word& word)
      : form_(grammar.normal_form()), word_(word), by_left_(form_.size) {
    for (std::size_t r = 0; r < form_.short_rules.size(); ++r)
      by_left_[form_.short_rules[r].left].push_back(static_cast<int>(r));
    find_best_epsilon();
    find_best_chains();
  }

  std::optional<Parse> run(int symbols) {
    Parse parse;
    if (word_.empty()) {
      if (epsilon_[form_.start] == 0) return std::nullopt;
      parse.log_probability = std::log(epsilon_[form_.start]);
      parse.tree = epsilon_tree(form_.start).front();
      return parse;
    }
    const int n = static_cast<int>(word_.size());
    const auto chart = inside_chart(ChartRules<Best>(best_form(), symbols, 0), word_);
    chart_ = &chart;
    parse.log_probability = chart.at(form_.start, 0, n);
    if (parse.log_probability == kMinusInfinity) return std::nullopt;
    parse.tree = tree(form_.start, 0, n).front();
    return parse;
  }

 private:
  // The trees that replace one nonterminal: its own tree, or the children of an added nonterminal.
  using Trees = std::vector<ParseTree>;
  struct Edge {
    double weight = 0;
    int rule = -1;      // short rule
    std::size_t child;  // the non-empty one
  };
  struct Choice {
    double value = kMinusInfinity;
    int rule = -1;
    std::size_t child = 0;  // the only non-empty child, when split < 0
    int split = -1;
  };

  void find_best_epsilon() {
    epsilon_.assign(form_.size, 0.0);
    epsilon_rule_.assign(form_.size, -1);
    const StopCheck stop;
    for (bool changed = true; changed;) {
      stop();
      changed = false;
      for (std::size_t r = 0; r < form_.short_rules.size(); ++r) {
        const auto& rule = form_.short_rules[r];
        double mass = rule.weight;
        for (const auto symbol : rule.right) mass *= symbol.terminal ? 0.0 : epsilon_[symbol.id];
        if (mass <= epsilon_[rule.left]) continue;
        epsilon_[rule.left] = mass;
        epsilon_rule_[rule.left] = static_cast<int>(r);
        changed = true;
      }
    }
  }

  // Weight of the rule if only child k is non-empty.
  double alone(const ShortRule& rule, std::size_t k) const {
    if (rule.right.size() == 1) return rule.weight;
    const auto other = rule.right[1 - k];
    return other.terminal ? 0.0 : rule.weight * epsilon_[other.id];
  }

  void find_best_chains() {
    for (std::size_t r = 0; r < form_.short_rules.size(); ++r) {
      const auto& rule = form_.short_rules[r];
      for (std::size_t k = 0; k < rule.right.size(); ++k) {
        const double weight = alone(rule, k);
        if (rule.right[k].terminal || weight == 0 || rule.right[k].id == rule.left) continue;
        auto& edge = edges_[{rule.left, rule.right[k].id}];
        if (weight > edge.weight) edge = {weight, static_cast<int>(r), k};
      }
    }
    // All-pairs best chains (Floyd-Warshall); no cycle has a weight above one.
    for (const auto& [ends, edge] : edges_) {
      chains_[ends.first][ends.second] = {edge.weight, ends.second};
      members_.push_back(ends.first);
    }
    members_.erase(std::unique(members_.begin(), members_.end()), members_.end());
    const StopCheck stop;
    for (const int middle : members_)
      for (const int from : members_) {
        stop();
        const auto found = chains_[from].find(middle);
        if (found == chains_[from].end() || from == middle) continue;
        const auto first = found->second;
        for (const auto& [to, rest] : chains_[middle]) {
          if (to == from) continue;
          auto& best = chains_[from][to];
          if (first.weight * rest.weight > best.weight)
            best = {first.weight * rest.weight, first.next};
        }
      }
  }

  NormalForm best_form() const {
    NormalForm best;
    best.size = form_.size;
    best.start = form_.start;
    for (const auto& rule : form_.short_rules) {
      for (std::size_t k = 0; k < rule.right.size(); ++k)
        if (rule.right[k].terminal && alone(rule, k) > 0)
          best.lexical.push_back({rule.left, rule.right[k].id, alone(rule, k)});
      if (rule.right.size() < 2) continue;
      const auto [a, b] = std::pair(rule.right[0], rule.right[1]);
      if (a.terminal && b.terminal)
        best.terminal_pairs.push_back({rule.left, a.id, b.id, rule.weight});
      else if (a.terminal)
        best.terminal_left.push_back({rule.left, a.id, b.id, rule.weight});
      else if (b.terminal)
        best.terminal_right.push_back({rule.left, a.id, b.id, rule.weight});
      else
        best.pairs.push_back({a.id, b.id, {{rule.left, rule.weight}}});
    }
    best.closure.resize(best.size);
    for (int a = 0; a < best.size; ++a) best.closure[a] = {{a, 1.0}};
    for (const auto& [from, row] : chains_) {
      for (const auto& [to, chain] : row) best.closure[from].push_back({to, chain.weight});
      if (!row.empty()) best.closed.push_back(from);
    }
    return best;
  }

  Choice best_choice(int left, int i, int j) const {
    Choice best;
    for (const int r : by_left_[left]) {
      const auto& rule = form_.short_rules[r];
      for (std::size_t k = 0; k < rule.right.size(); ++k) {
        if (!rule.right[k].terminal || j != i + 1 || rule.right[k].id != word_[i]) continue;
        if (alone(rule, k) <= 0) continue;
        const double value = std::log(alone(rule, k));
        if (value > best.value) best = {value, r, k, -1};
      }
      if (rule.right.size() < 2) continue;
      for (int k = i + 1; k < j; ++k) {
        const double value =
            std::log(rule.weight) + child(rule.right[0], i, k) + child(rule.right[1], k, j);
        if (value > best.value) best = {value, r, 0, k};
      }
    }
    return best;
  }

  double child(Symbol symbol, int i, int j) const {
    if (!symbol.terminal) return chart_->at(symbol.id, i, j);
    return j == i + 1 && word_[i] == symbol.id ? 0.0 : kMinusInfinity;
  }

  Trees tree(int left, int i, int j) const {
    StopCheck()();
    int bottom = left;
    auto choice = best_choice(left, i, j);
    double best = choice.value;
    if (const auto row = chains_.find(left); row != chains_.end())
      for (const auto& [to, chain] : row->second) {
        const auto candidate = best_choice(to, i, j);
        if (std::log(chain.weight) + candidate.value <= best) continue;
        best = std::log(chain.weight) + candidate.value;
        choice = candidate;
        bottom = to;
      }
    const auto& rule = form_.short_rules[choice.rule];
    std::vector<Trees> parts(rule.right.size());
    for (std::size_t k = 0; k < rule.right.size(); ++k) {
      const auto symbol = rule.right[k];
      const int from = choice.split < 0 || k == 0 ? i : choice.split;
      const int to = choice.split < 0 || k == 1 ? j : choice.split;
      if (symbol.terminal)
        parts[k] = {{symbol, -1, {}}};
      else if (choice.split < 0 && k != choice.child)
        parts[k] = epsilon_tree(symbol.id);
      else
        parts[k] = tree(symbol.id, from, to);
    }
    return chain(left, bottom, assemble(choice.rule, std::move(parts)));
  }

  // Adds the unary rules from `top` down to `bottom` above the trees of `bottom`.
  Trees chain(int top, int bottom, Trees below) const {
    if (top == bottom) return below;
    const int next = chains_.at(top).at(bottom).next;
    const auto& edge = edges_.at({top, next});
    const auto& rule = form_.short_rules[edge.rule];
    std::vector<Trees> parts(rule.right.size());
    for (std::size_t k = 0; k < rule.right.size(); ++k)
      parts[k] = k == edge.child ? chain(next, bottom, below) : epsilon_tree(rule.right[k].id);
    return assemble(edge.rule, std::move(parts));
  }

  Trees epsilon_tree(int left) const {
    const auto& rule = form_.short_rules[epsilon_rule_[left]];
    std::vector<Trees> parts;
    for (const auto symbol : rule.right) parts.push_back(epsilon_tree(symbol.id));
    return assemble(epsilon_rule_[left], std::move(parts));
  }

  Trees assemble(int short_rule, std::vector<Trees> parts) const {
    const auto& rule = form_.short_rules[short_rule];
    Trees children;
    for (auto& part : parts) std::move(part.begin(), part.end(), std::back_inserter(children));
    if (rule.rule < 0) return children;
    Trees node(1);
    node[0].symbol = {false, rule.left};
    node[0].rule = rule.rule;
    node[0].children = std::move(children);
    return node;
  }

  struct Chain {
    double weight = 0;
    int next = -1;
  };
  const NormalForm& form_;
  const Word& word_;
  const Chart<Best>* chart_ = nullptr;
  std::vector<std::vector<int>> by_left_;
  std::vector<double> epsilon_;
  std::vector<int> epsilon_rule_;
  std::vector<int> members_;
  std::map<std::pair<int, int>, Edge> edges_;
  std::map<int, std::map<int, Chain>> chains_;
};

void append_indented(const Grammar& grammar, const ParseTree& tree, int level, std::string& text) {
  text.append(std::size_t{2} * level, ' ');
  const auto& name = grammar.symbol_name(tree.symbol);
  text += (tree.symbol.terminal ? quoted_terminal(name) : name) + "\n";
  for (const auto& child : tree.children) append_indented(grammar, child, level + 1, text);
}

}  // namespace

std::optional<Parse> best_parse(const Grammar& grammar, const Word& word) {
  check_word("grammar.parse", grammar.alphabet(), word);
  return BestParser(grammar, word).run(grammar.alphabet().size());
}

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
