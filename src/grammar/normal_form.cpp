#include "grammar/normal_form.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "base/check.h"
#include "base/memory.h"
#include "base/stopping.h"
#include "grammar/fixed_point.h"

namespace pushdown {
namespace {

class Binariser {
 public:
  Binariser(const Alphabet& alphabet, const std::vector<std::string>& nonterminals,
            const std::vector<Rule>& rules)
      : alphabet_(alphabet), rules_(rules), names_(nonterminals) {}

  void run(NormalForm& form) {
    const StopCheck stop;
    for (std::size_t i = 0; i < rules_.size(); ++i)
      if (stop(); rules_[i].weight > 0)
        add(rules_[i].left, rules_[i].right, rules_[i].weight, static_cast<int>(i));
    form.names = std::move(names_);
    form.short_rules = std::move(short_rules_);
    form.size = static_cast<int>(form.names.size());
  }

 private:
  // Positions `begin` up to but excluding `end` of a right side.
  struct Range {
    std::size_t begin, end;
    std::size_t size() const { return end - begin; }
  };
  // Identifies a remainder by the symbol that is cut off next and the number of the remainder after
  // it; for two symbols, by both.
  using Key = std::tuple<bool, int, int, int, int>;

  static bool cuts_the_end(const std::vector<Symbol>& right, Range range) {
    // Cutting a terminal off the end leaves a remainder that other rules may share.
    return !right[range.begin].terminal && right[range.end - 1].terminal;
  }

  static Range rest_of(const std::vector<Symbol>& right, Range range) {
    return cuts_the_end(right, range) ? Range{range.begin, range.end - 1}
                                      : Range{range.begin + 1, range.end};
  }

  // Returns a rule for `left` with the symbols in `range`, where `rest` replaces all but one of
  // them.
  ShortRule short_rule(int left, const std::vector<Symbol>& right, Range range, int rest,
                       double weight, int rule) const {
    const Symbol symbol{false, rest};
    if (cuts_the_end(right, range)) return {left, {symbol, right[range.end - 1]}, weight, rule};
    return {left, {right[range.begin], symbol}, weight, rule};
  }

  void add(int left, const std::vector<Symbol>& right, double weight, int rule) {
    if (right.size() <= 2) {
      short_rules_.push_back({left, right, weight, rule});
      return;
    }
    // The remainders, each one symbol shorter than the previous, down to two symbols.
    std::vector<Range> rests;
    for (Range range{0, right.size()}; range.size() > 2; rests.push_back(range))
      range = rest_of(right, range);
    // Equal remainders get equal numbers, starting with the shortest.
    std::vector<int> numbers(rests.size());
    for (std::size_t k = rests.size(); k-- > 0;) {
      const Range range = rests[k];
      const Symbol first = right[range.begin], last = right[range.end - 1];
      Key key{false, first.terminal, first.id, last.terminal, last.id};
      if (range.size() > 2) {
        const bool end = cuts_the_end(right, range);
        const Symbol cut = end ? last : first;
        key = {true, end, cut.terminal, cut.id, numbers[k + 1]};
      }
      numbers[k] = numbers_.try_emplace(key, static_cast<int>(numbers_.size())).first->second;
    }
    ids_.resize(numbers_.size(), -1);
    // Once a remainder has a nonterminal, all remainders inside it have rules.
    std::size_t added = 0;
    for (; added < rests.size() && ids_[numbers[added]] < 0; ++added) {
      ids_[numbers[added]] = static_cast<int>(names_.size());
      names_.push_back(name_of(right, rests[added]));
    }
    const auto rest_id = [&](std::size_t k) { return ids_[numbers[k]]; };
    const StopCheck stop;
    for (std::size_t k = added; k-- > 0;) {
      stop();
      const Range range = rests[k];
      if (range.size() == 2)
        short_rules_.push_back({rest_id(k), {right[range.begin], right[range.begin + 1]}, 1.0, -1});
      else
        short_rules_.push_back(short_rule(rest_id(k), right, range, rest_id(k + 1), 1.0, -1));
    }
    short_rules_.push_back(
        short_rule(left, right, Range{0, right.size()}, rest_id(0), weight, rule));
  }

  // "<a B c>"; long remainders show their ends, length and number.
  std::string name_of(const std::vector<Symbol>& right, Range range) const {
    constexpr std::size_t kLongest = 64, kShown = 8;
    std::string name;
    const auto show = [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        name += (name.empty() ? "<" : " ") +
                (right[i].terminal ? alphabet_.symbol(right[i].id) : names_[right[i].id]);
    };
    if (range.size() <= kLongest) {
      show(range.begin, range.end);
    } else {
      show(range.begin, range.begin + kShown);
      name += " ...";
      show(range.end - kShown, range.end);
      name += fmt::format(" of {} symbols, {}", range.size(), names_.size());
    }
    return name + ">";
  }

  const Alphabet& alphabet_;
  const std::vector<Rule>& rules_;
  std::vector<std::string> names_;  // the grammar's nonterminals, then the added ones
  std::vector<ShortRule> short_rules_;
  std::map<Key, int> numbers_;  // of the remainders
  std::vector<int> ids_;        // nonterminals of the remainders, -1: not created yet
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
  std::vector<double> rest(form.size);
  for (const auto& rule : form.short_rules) {
    if (std::none_of(rule.right.begin(), rule.right.end(), [](Symbol s) { return s.terminal; }))
      system.push_back(monomial_of(rule));
    else
      rest[rule.left] += rule.weight;
  }
  return least_fixed_point(form.size, system, rest);
}

std::vector<double> total_masses(const NormalForm& form) {
  std::vector<Monomial> system;
  for (const auto& rule : form.short_rules) system.push_back(monomial_of(rule));
  return least_fixed_point(form.size, system, std::vector<double>(form.size));
}

// Returns the nonterminals that derive some non-empty string.
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
  explicit Splitter(NormalForm& form)
      : form_(form),
        visible_(visible_nonterminals(form)),
        other_(form.size),
        rounding_(form.size) {}

  void run() {
    for (const auto& rule : form_.short_rules) {
      other_[rule.left] += rule.weight * (1 - unary_share(rule));
      rounding_[rule.left] += rounding_of(rule);
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

  // Returns the part of a rule that becomes rules with one nonterminal.
  double unary_share(const ShortRule& rule) const {
    double share = 0;
    for (std::size_t k = 0; k < rule.right.size(); ++k) {
      if (rule.right[k].terminal || !shows(rule.right[k])) continue;
      const Symbol other = rule.right[rule.right.size() - 1 - k];
      if (rule.right.size() == 1)
        share += 1;
      else if (!other.terminal)
        share += form_.nullable[other.id];
    }
    return share;
  }

  // Returns the rounding error of that part: masses of the empty string other than 0 and 1 are
  // rounded.
  double rounding_of(const ShortRule& rule) const {
    double mass = 0;
    for (const Symbol symbol : rule.right)
      if (rule.right.size() == 2 && !symbol.terminal && form_.nullable[symbol.id] != 1)
        mass += form_.nullable[symbol.id];
    return std::numeric_limits<double>::epsilon() * rule.weight * mass;
  }

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
    // Only nonterminals with unary rules need the inverse.
    std::vector<int> members, position(form_.size, -1);
    for (const auto& [edge, weight] : unary_)
      for (const int node : {edge.first, edge.second})
        if (position[node] < 0) {
          position[node] = static_cast<int>(members.size());
          members.push_back(node);
        }
    const int count = static_cast<int>(members.size());
    if (count == 0) return;
    SparseMatrix matrix = identity_matrix(count);
    for (const auto& [edge, weight] : unary_)
      matrix[position[edge.first]].emplace_back(position[edge.second], -weight);
    add_up(matrix);
    check_memory("grammar", "the chains of unary rules", 8.0 * count * count);
    std::vector<double> inverse(static_cast<std::size_t>(count) * count);
    for (int i = 0; i < count; ++i) inverse[static_cast<std::size_t>(i) * count + i] = 1;
    std::vector<double> sums;
    for (const int member : members) sums.push_back(other_[member]);
    const double pivot = solve_m_matrix(std::move(matrix), inverse, count, sums);
    check(pivot > 0, "grammar", "the unary rules among {} have infinite total weight",
          form_.names[members[0]]);
    for (const int member : members)
      form_.rounding = std::max(form_.rounding, rounding_[member] / pivot);
    for (int i = 0; i < count; ++i) {
      auto& row = form_.closure[members[i]];
      row = {{members[i], inverse[static_cast<std::size_t>(i) * count + i]}};
      for (int j = 0; j < count; ++j)
        if (const double weight = inverse[static_cast<std::size_t>(i) * count + j];
            j != i && weight > 0)
          row.push_back({members[j], weight});
      if (row.size() > 1 || row[0].weight != 1) form_.closed.push_back(members[i]);
    }
    std::sort(form_.closed.begin(), form_.closed.end());
  }

  NormalForm& form_;
  std::vector<char> visible_;
  // 1 less the weights of unary rules, per nonterminal. The weights of its rules sum to 1.
  std::vector<double> other_;
  std::vector<double> rounding_;  // its error
  std::map<std::pair<int, int>, double> unary_;
  std::map<std::pair<int, int>, std::size_t> pair_index_;
};

}  // namespace

NormalForm make_normal_form(const Alphabet& alphabet, const std::vector<std::string>& nonterminals,
                            const std::vector<Rule>& rules, int start) {
  NormalForm form;
  form.start = start;
  Binariser(alphabet, nonterminals, rules).run(form);
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

  double count = 0;  // before equal rules become one
  for (const auto& row : form.closure)
    for (const auto& entry : row) count += static_cast<double>(own[entry.from].size());
  constexpr double kBytes = sizeof(ClosedRule) + 2 * sizeof(Symbol);
  check_memory("grammar", fmt::format("a normal form of {:.0f} rules", count), kBytes * count);
  std::vector<ClosedRule> rules;
  const StopCheck stop;
  for (int left = 0; left < form.size; ++left) {
    std::map<std::vector<Symbol>, double> weights;
    for (const auto& entry : form.closure[left]) {
      stop();
      for (const auto& rule : own[entry.from]) weights[rule.right] += entry.weight * rule.weight;
    }
    for (const auto& [right, weight] : weights) rules.push_back({left, right, weight});
  }
  return rules;
}

}  // namespace pushdown
