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

class DerivationLister {
 public:
  DerivationLister(const NormalForm& form, const Word& word)
      : form_(form),
        word_(word),
        length_(static_cast<int>(word.size())),
        best_(chart_entries(length_, form.size), kMinusInfinity),
        by_left_(form.size) {
    for (const auto& rule : form.short_rules) {
      if (rule.weight <= 0) continue;
      by_left_[rule.left].push_back(static_cast<int>(rules_.size()));
      // Rounding must not make a cycle of unary rules profitable.
      rules_.push_back({&rule, std::min(0.0, std::log(rule.weight))});
    }
    fill_chart();
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

  double& best(const Place& p) {
    return best_
        .data()[(static_cast<std::size_t>(p.left) * (length_ + 1) + p.begin) * (length_ + 1) +
                p.end];
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

  // A rule whose part has the same span as its left side uses a cell that may still grow, so the
  // rules of a span are repeated until nothing changes. Only cycles need more than a few rounds.
  void fill_chart() {
    fill_span(0, 0);
    for (int span = 1; span <= length_; ++span)
      for (int begin = 0; begin + span <= length_; ++begin) fill_span(begin, begin + span);
  }
  void fill_span(int begin, int end) {
    const StopCheck stop;
    const auto improve = [&](const WeighedRule& rule, int split) {
      const double value = value_of(rule, begin, split, end);
      auto& cell = best({rule.rule->left, begin, end});
      if (value <= cell) return false;
      cell = value;
      return true;
    };
    for (const auto& rule : rules_) {
      stop();
      for_splits(*rule.rule, begin, end, [&](int split) { improve(rule, split); });
    }
    for (bool changed = true; changed;) {
      stop();
      changed = false;
      for (const auto& rule : rules_) {
        if (rule.rule->right.empty()) continue;
        changed |= improve(rule, end);
        if (rule.rule->right.size() == 2) changed |= improve(rule, begin);
      }
    }
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
      next.value = rules_[next.rule].log_weight + part_value(next, 0) + part_value(next, 1);
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
  ChartCells best_;
  std::vector<std::vector<int>> by_left_;
  std::vector<WeighedRule> rules_;
  std::map<Place, Node> nodes_;
  std::int64_t nodes_made_ = 0;
};

}  // namespace

std::vector<Parse> best_parses(const Grammar& grammar, const Word& word, std::int64_t count) {
  check_word(kParses, grammar.alphabet(), word);
  check(count >= 1, kParses, "best must be at least 1, got {}", count);
  return DerivationLister(grammar.normal_form(), word).list(count);
}

}  // namespace pushdown
