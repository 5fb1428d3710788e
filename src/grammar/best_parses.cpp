#include "grammar/best_parses.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/check.h"
#include "base/stopping.h"
#include "grammar/chart.h"
#include "grammar/inside.h"
#include "grammar/normal_form.h"

namespace pushdown {
namespace {

constexpr std::string_view kParses = "grammar.parses";
constexpr int kDeepestTree = 10'000;
constexpr std::int64_t kMostNodes = 10'000'000;

// A nonterminal over the symbols begin .. end-1. All empty spans are 0 .. 0.
struct Place {
  int left, begin, end;
  auto operator<=>(const Place&) const = default;
};

// The reductions of normal_form.cpp with sums replaced by maxima.
class BestWeights {
 public:
  explicit BestWeights(const NormalForm& form) : form_(form), epsilon_(form.size) {
    find_epsilon();
    find_chains();
  }

  // The weight of the best derivation of the empty string.
  double epsilon(int nonterminal) const { return epsilon_[nonterminal]; }

  NormalForm reduced() const {
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
      for (const auto& [to, weight] : row) best.closure[from].push_back({to, weight});
      best.closed.push_back(from);
    }
    return best;
  }

 private:
  void find_epsilon() {
    const StopCheck stop;
    for (bool changed = true; changed;) {
      stop();
      changed = false;
      for (const auto& rule : form_.short_rules) {
        double weight = rule.weight;
        for (const auto symbol : rule.right) weight *= symbol.terminal ? 0.0 : epsilon_[symbol.id];
        if (weight <= epsilon_[rule.left]) continue;
        epsilon_[rule.left] = weight;
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

  // All-pairs best chains of unary rules (Floyd-Warshall); no cycle has a weight above one.
  void find_chains() {
    for (const auto& rule : form_.short_rules)
      for (std::size_t k = 0; k < rule.right.size(); ++k) {
        const double weight = alone(rule, k);
        if (rule.right[k].terminal || weight == 0 || rule.right[k].id == rule.left) continue;
        auto& best = chains_[rule.left][rule.right[k].id];
        best = std::max(best, weight);
      }
    const StopCheck stop;
    for (const auto& [middle, rests] : chains_)
      for (auto& [from, row] : chains_) {
        stop();
        const auto first = row.find(middle);
        if (first == row.end() || from == middle) continue;
        for (const auto& [to, rest] : rests) {
          if (to == from) continue;
          auto& best = row[to];
          best = std::max(best, first->second * rest);
        }
      }
  }

  const NormalForm& form_;
  std::vector<double> epsilon_;
  std::map<int, std::map<int, double>> chains_;
};

class DerivationLister {
 public:
  DerivationLister(const Grammar& grammar, const Word& word)
      : form_(grammar.normal_form()),
        word_(word),
        length_(static_cast<int>(word.size())),
        weights_(form_),
        by_left_(form_.size) {
    for (const auto& rule : form_.short_rules) {
      if (rule.weight <= 0) continue;
      by_left_[rule.left].push_back(static_cast<int>(rules_.size()));
      // Rounding must not make a cycle of unary rules profitable.
      rules_.push_back({&rule, std::min(0.0, std::log(rule.weight))});
    }
    if (length_ > 0)
      chart_.emplace(
          inside_chart(ChartRules<Best>(weights_.reduced(), grammar.alphabet().size(), 0), word));
  }

  std::vector<Parse> list(std::int64_t count) {
    std::vector<Parse> parses;
    const StopCheck stop;
    auto& root = node({form_.start, 0, length_});
    for (std::size_t k = 0; k < static_cast<std::size_t>(count) && ensure(root, k); ++k) {
      stop();
      parses.push_back({std::move(trees(root, k).front()), root.found[k].value});
    }
    return parses;
  }

 private:
  struct WeighedRule {
    const ShortRule* rule;
    double log_weight;
  };
  struct Node;
  struct Candidate {
    double value = kMinusInfinity;
    int rule = -1;
    Node* parts[2] = {nullptr, nullptr};  // null: a terminal, or no such part
    std::size_t ranks[2] = {0, 0};
  };
  struct Node {
    Place place;
    bool is_open = false, is_busy = false;
    std::size_t expanded = 0;           // derivations whose neighbours are candidates
    std::vector<Candidate> found = {};  // best first
    std::vector<Candidate> heap = {};
  };
  static bool worse(const Candidate& a, const Candidate& b) { return a.value < b.value; }

  double best(const Place& p) const {
    return p.begin == p.end ? std::log(weights_.epsilon(p.left))
                            : chart_->at(p.left, p.begin, p.end);
  }
  static Place place_of(int left, int begin, int end) {
    return begin == end ? Place{left, 0, 0} : Place{left, begin, end};
  }
  double best_of(Symbol symbol, int begin, int end) {
    if (!symbol.terminal) return best(place_of(symbol.id, begin, end));
    return end == begin + 1 && word_[begin] == symbol.id ? 0 : kMinusInfinity;
  }

  // Calls visit(split) for all ways to divide the span among the symbols of the rule.
  template <class Visit>
  static void for_splits(const ShortRule& rule, int begin, int end, Visit visit) {
    if (rule.right.empty() && begin == end) visit(end);
    if (rule.right.size() == 1) visit(end);
    if (rule.right.size() != 2) return;
    // A terminal takes one symbol.
    const bool first = rule.right[0].terminal, second = rule.right[1].terminal;
    const int lowest = second ? std::max(end - 1, begin) : first ? begin + 1 : begin;
    const int highest = first ? std::min(begin + 1, end) : second ? end - 1 : end;
    for (int k = lowest; k <= highest; ++k) visit(k);
  }
  double value_of(const WeighedRule& rule, int begin, int split, int end) {
    double value = rule.log_weight;
    const auto& right = rule.rule->right;
    if (!right.empty()) value += best_of(right[0], begin, split);
    if (right.size() == 2) value += best_of(right[1], split, end);
    return value;
  }

  Node& node(const Place& place) { return nodes_.try_emplace(place, Node{place}).first->second; }
  Node* part(Symbol symbol, int begin, int end) {
    return symbol.terminal ? nullptr : &node(place_of(symbol.id, begin, end));
  }

  void open(Node& at) {
    at.is_open = true;
    const auto [left, begin, end] = at.place;
    for (const int r : by_left_[left])
      for_splits(*rules_[r].rule, begin, end, [&](int split) {
        Candidate candidate{value_of(rules_[r], begin, split, end), r};
        if (candidate.value == kMinusInfinity) return;
        const auto& right = rules_[r].rule->right;
        if (!right.empty()) candidate.parts[0] = part(right[0], begin, split);
        if (right.size() == 2) candidate.parts[1] = part(right[1], split, end);
        at.heap.push_back(candidate);
      });
    std::make_heap(at.heap.begin(), at.heap.end(), worse);
  }

  // Returns whether the node has more than k derivations, and lists those up to k.
  bool ensure(Node& at, std::size_t k) {
    if (at.found.size() > k) return true;
    // A part of the best derivation left is listed already, unless rounding made a cycle free.
    if (at.is_busy) return false;
    at.is_busy = true;
    if (!at.is_open) open(at);
    const StopCheck stop;
    while (at.found.size() <= k) {
      stop();
      for (; at.expanded < at.found.size(); ++at.expanded) add_neighbours(at, at.expanded);
      if (at.heap.empty()) break;
      std::pop_heap(at.heap.begin(), at.heap.end(), worse);
      at.found.push_back(at.heap.back());
      at.heap.pop_back();
    }
    at.is_busy = false;
    return at.found.size() > k;
  }

  // Each pair of ranks is reached once: first the second rank grows, then the first.
  void add_neighbours(Node& at, std::size_t k) {
    for (const int which : {0, 1}) {
      auto next = at.found[k];
      auto* grown = next.parts[which];
      if (grown == nullptr || (which == 1 && next.ranks[0] > 0)) continue;
      if (!ensure(*grown, ++next.ranks[which])) continue;
      // Rounding must not make it more probable than the one that it follows.
      next.value = std::min(
          next.value, rules_[next.rule].log_weight + part_value(next, 0) + part_value(next, 1));
      at.heap.push_back(next);
      std::push_heap(at.heap.begin(), at.heap.end(), worse);
    }
  }
  double part_value(const Candidate& candidate, int which) {
    auto* part = candidate.parts[which];
    if (part == nullptr) return 0;
    const auto rank = candidate.ranks[which];
    return rank == 0 ? best(part->place) : part->found[rank].value;
  }

  // Returns the tree of the k-th derivation, or the trees below an added nonterminal.
  std::vector<ParseTree> trees(Node& at, std::size_t k, int depth = 0) {
    // Derivations through a cycle of unary rules become ever deeper.
    check(depth < kDeepestTree && ++nodes_made_ <= kMostNodes, kParses,
          "the derivations have more than {} rules in all or {} inside of each other: lower best",
          kMostNodes, kDeepestTree);
    ensure(at, k);
    const auto chosen = at.found[k];
    const auto& rule = *rules_[chosen.rule].rule;
    std::vector<ParseTree> children;
    for (std::size_t i = 0; i < rule.right.size(); ++i) {
      if (rule.right[i].terminal) {
        children.push_back({rule.right[i], -1, {}});
        continue;
      }
      auto below = trees(*chosen.parts[i], chosen.ranks[i], depth + 1);
      std::move(below.begin(), below.end(), std::back_inserter(children));
    }
    if (rule.rule < 0) return children;
    std::vector<ParseTree> tree(1);
    tree[0] = {{false, rule.left}, rule.rule, std::move(children)};
    return tree;
  }

  const NormalForm& form_;
  const Word& word_;
  int length_;
  BestWeights weights_;
  std::optional<Chart<Best>> chart_;
  std::vector<std::vector<int>> by_left_;
  std::vector<WeighedRule> rules_;
  std::map<Place, Node> nodes_;
  std::int64_t nodes_made_ = 0;
};

}  // namespace

std::vector<Parse> best_parses(const Grammar& grammar, const Word& word, std::int64_t count) {
  check_word(kParses, grammar.alphabet(), word);
  check(count >= 1, kParses, "best must be at least 1, got {}", count);
  return DerivationLister(grammar, word).list(count);
}

std::optional<Parse> best_parse(const Grammar& grammar, const Word& word) {
  auto parses = best_parses(grammar, word, 1);
  if (parses.empty()) return std::nullopt;
  return std::move(parses.front());
}

}  // namespace pushdown
