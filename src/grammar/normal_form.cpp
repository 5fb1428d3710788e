#include "grammar/normal_form.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "base/stopping.h"
#include "grammar/fixed_point.h"
#include "grammar/text.h"

namespace pushdown {
namespace {

class Binariser {
 public:
  explicit Binariser(const Grammar& grammar) : grammar_(grammar), names_(grammar.nonterminals()) {}

  void run(NormalForm& form) {
    const StopCheck stop;
    const auto& rules = grammar_.rules();
    for (std::size_t i = 0; i < rules.size(); ++i)
      if (stop(); rules[i].weight > 0)
        add(rules[i].left, rules[i].right, rules[i].weight, static_cast<int>(i));
    form.names = std::move(names_);
    form.short_rules = std::move(short_rules_);
    form.size = static_cast<int>(form.names.size());
  }

 private:
  using Side = std::vector<Symbol>;

  void add(int left, const Side& right, double weight, int rule) {
    if (right.size() <= 2) {
      short_rules_.push_back({left, right, weight, rule});
    } else if (!right.front().terminal && right.back().terminal) {
      // Cutting the terminal off the end leaves a remainder that other rules may share.
      const Side rest(right.begin(), right.end() - 1);
      short_rules_.push_back({left, {{false, shared(rest)}, right.back()}, weight, rule});
    } else {
      const Side rest(right.begin() + 1, right.end());
      short_rules_.push_back({left, {right.front(), {false, shared(rest)}}, weight, rule});
    }
  }

  int shared(const Side& side) {
    const auto [entry, is_new] = shared_.try_emplace(side, static_cast<int>(names_.size()));
    const int id = entry->second;
    if (!is_new) return id;
    StopCheck()();
    std::string name;
    for (const auto symbol : side)
      name += (name.empty() ? "<" : " ") + grammar_.symbol_name(symbol);
    names_.push_back(name + ">");
    add(id, side, 1.0, -1);
    return id;
  }

  const Grammar& grammar_;
  std::vector<std::string> names_;
  std::vector<ShortRule> short_rules_;
  std::map<Side, int> shared_;
};

Monomial monomial_of(const ShortRule& rule) {
  Monomial term{rule.left, rule.weight, {-1, -1}};
  int count = 0;
  for (const auto symbol : rule.right)
    if (!symbol.terminal) term.variables[count++] = symbol.id;
  return term;
}

std::vector<double> epsilon_masses(const NormalForm& form) {
  std::vector<Monomial> system;
  for (const auto& rule : form.short_rules)
    if (std::none_of(rule.right.begin(), rule.right.end(), [](Symbol s) { return s.terminal; }))
      system.push_back(monomial_of(rule));
  return least_fixed_point(form.size, system);
}

std::vector<double> total_masses(const NormalForm& form) {
  std::vector<Monomial> system;
  for (const auto& rule : form.short_rules) system.push_back(monomial_of(rule));
  return least_fixed_point(form.size, system);
}

// Nonterminals that derive some non-empty string.
std::vector<char> visible_nonterminals(const NormalForm& form) {
  std::vector<char> visible(form.size, 0);
  const StopCheck stop;
  for (bool changed = true; changed;) {
    stop();
    changed = false;
    for (const auto& rule : form.short_rules) {
      if (visible[rule.left]) continue;
      for (const auto symbol : rule.right)
        if (symbol.terminal || visible[symbol.id]) visible[rule.left] = changed = true;
    }
  }
  return visible;
}

class Splitter {
 public:
  explicit Splitter(NormalForm& form) : form_(form), visible_(visible_nonterminals(form)) {}

  void run() {
    for (const auto& rule : form_.short_rules) {
      if (rule.right.size() == 1) {
        single(rule.left, rule.right[0], rule.weight);
      } else if (rule.right.size() == 2) {
        const auto [first, second] = std::pair(rule.right[0], rule.right[1]);
        if (shows(first) && shows(second)) pair(rule.left, first, second, rule.weight);
        if (!second.terminal) single(rule.left, first, rule.weight * form_.nullable[second.id]);
        if (!first.terminal) single(rule.left, second, rule.weight * form_.nullable[first.id]);
      }
    }
    close_unary_rules();
  }

 private:
  bool shows(Symbol symbol) const { return symbol.terminal || visible_[symbol.id]; }

  void single(int left, Symbol right, double weight) {
    if (weight == 0 || !shows(right)) return;
    if (right.terminal)
      form_.lexical.push_back({left, right.id, weight});
    else
      unary_[{left, right.id}] += weight;
  }

  void pair(int left, Symbol first, Symbol second, double weight) {
    if (first.terminal && second.terminal) {
      form_.terminal_pairs.push_back({left, first.id, second.id, weight});
    } else if (first.terminal) {
      form_.terminal_left.push_back({left, first.id, second.id, weight});
    } else if (second.terminal) {
      form_.terminal_right.push_back({left, first.id, second.id, weight});
    } else {
      const auto [entry, is_new] =
          pair_index_.try_emplace({first.id, second.id}, form_.pairs.size());
      if (is_new) form_.pairs.push_back({first.id, second.id, {}});
      form_.pairs[entry->second].lefts.emplace_back(left, weight);
    }
  }

  void close_unary_rules() {
    form_.closure.resize(form_.size);
    for (int a = 0; a < form_.size; ++a) form_.closure[a] = {{a, 1.0}};
    // Only nonterminals that take part in unary rules need the inverse.
    std::vector<int> members, position(form_.size, -1);
    for (const auto& [edge, weight] : unary_)
      for (const int node : {edge.first, edge.second})
        if (position[node] < 0) {
          position[node] = static_cast<int>(members.size());
          members.push_back(node);
        }
    const int count = static_cast<int>(members.size());
    if (count == 0) return;
    std::vector<double> matrix(static_cast<std::size_t>(count) * count), inverse(matrix.size());
    for (int i = 0; i < count; ++i) matrix[i * count + i] = inverse[i * count + i] = 1;
    for (const auto& [edge, weight] : unary_)
      matrix[position[edge.first] * count + position[edge.second]] -= weight;
    const double pivot = solve_m_matrix(count, matrix, inverse, count);
    check(pivot > 0, "grammar", "the unary rules among {} have infinite total weight",
          form_.names[members[0]]);
    for (int i = 0; i < count; ++i) {
      auto& row = form_.closure[members[i]];
      row = {{members[i], inverse[i * count + i]}};
      for (int j = 0; j < count; ++j)
        if (j != i && inverse[i * count + j] > 0)
          row.push_back({members[j], inverse[i * count + j]});
      if (row.size() > 1 || row[0].weight != 1) form_.closed.push_back(members[i]);
    }
    std::sort(form_.closed.begin(), form_.closed.end());
  }

  NormalForm& form_;
  std::vector<char> visible_;
  std::map<std::pair<int, int>, double> unary_;
  std::map<std::pair<int, int>, std::size_t> pair_index_;
};

}  // namespace

NormalForm make_normal_form(const Grammar& grammar) {
  NormalForm form;
  form.start = grammar.start();
  Binariser(grammar).run(form);
  form.nullable = epsilon_masses(form);
  form.mass = total_masses(form);
  form.empty_mass = form.nullable[form.start];
  Splitter(form).run();
  return form;
}

std::vector<ClosedRule> closed_rules(const NormalForm& form) {
  std::vector<std::vector<ClosedRule>> own(form.size);
  for (const auto& r : form.lexical) own[r.left].push_back({r.left, {{true, r.symbol}}, r.weight});
  for (const auto& r : form.terminal_pairs)
    own[r.left].push_back({r.left, {{true, r.first}, {true, r.second}}, r.weight});
  for (const auto& r : form.terminal_left)
    own[r.left].push_back({r.left, {{true, r.terminal}, {false, r.nonterminal}}, r.weight});
  for (const auto& r : form.terminal_right)
    own[r.left].push_back({r.left, {{false, r.nonterminal}, {true, r.terminal}}, r.weight});
  for (const auto& pair : form.pairs)
    for (const auto& [left, weight] : pair.lefts)
      own[left].push_back({left, {{false, pair.first}, {false, pair.second}}, weight});

  std::vector<ClosedRule> rules;
  for (int left = 0; left < form.size; ++left) {
    std::map<std::vector<Symbol>, double> weights;
    for (const auto& entry : form.closure[left])
      for (const auto& rule : own[entry.from]) weights[rule.right] += entry.weight * rule.weight;
    for (const auto& [right, weight] : weights) rules.push_back({left, right, weight});
  }
  return rules;
}

std::string closed_rules_text(const Grammar& grammar) {
  const auto& form = grammar.normal_form();
  std::string text;
  for (const auto& rule : closed_rules(form)) {
    text += form.names[rule.left] + " ->";
    for (const auto symbol : rule.right)
      text += " " + (symbol.terminal ? quoted_terminal(grammar.alphabet().symbol(symbol.id))
                                     : form.names[symbol.id]);
    text += fmt::format(" [{}]\n", rule.weight);
  }
  return text;
}

}  // namespace pushdown
