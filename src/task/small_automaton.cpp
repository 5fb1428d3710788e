#include "task/small_automaton.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>

#include "base/check.h"
#include "base/random.h"
#include "base/stopping.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "task.automaton";
constexpr std::size_t kMostNodes = 30000;
// Limit on the nodes visited by all automata that are tried; bounds the time.
constexpr std::int64_t kMostVisits = 250'000'000;
constexpr int kRandomStarts = 200;
constexpr std::size_t kRandomKept = 10;
constexpr int kNone = -1;

struct LabelCounts {
  double valid = 0, invalid = 0;
};

double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0; }

// Returns the entropy of the labels of one state times the number of strings.
double entropy(const LabelCounts& c) {
  return x_log_x(c.valid + c.invalid) - x_log_x(c.valid) - x_log_x(c.invalid);
}

// Returns the log-probability of the labels under a rate with the prior Beta(1/2, 1/2).
double evidence(double valid, double invalid) {
  return std::lgamma(valid + 0.5) + std::lgamma(invalid + 0.5) - std::lgamma(valid + invalid + 1) -
         std::log(std::numbers::pi);
}

// Nodes are in breadth-first order, so a parent comes before its children.
struct PrefixTree {
  int symbols;
  std::vector<int> parent, symbol;
  std::vector<int> children;  // [node * symbols + symbol] or kNone
  std::vector<LabelCounts> counts;
  double strings = 0;

  int size() const { return static_cast<int>(counts.size()); }
};

PrefixTree prefix_tree(const std::vector<Word>& words, const std::vector<bool>& labels, int symbols,
                       std::uint64_t seed) {
  std::vector<std::size_t> order(words.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(seed, "automaton strings");
  random.shuffle(order);
  const auto n = static_cast<std::size_t>(symbols);
  std::vector<int> children(n, kNone);
  std::vector<LabelCounts> counts(1);
  double strings = 0;
  for (const auto w : order) {
    if (strings > 0 && counts.size() + words[w].size() > kMostNodes) continue;
    int node = 0;
    for (const int s : words[w]) {
      const auto at = node * n + s;
      if (children[at] == kNone) {
        children[at] = static_cast<int>(counts.size());
        counts.emplace_back();
        children.resize(children.size() + n, kNone);
      }
      node = children[at];
    }
    (labels[w] ? counts[node].valid : counts[node].invalid) += 1;
    strings += 1;
  }
  PrefixTree tree{symbols, {kNone}, {kNone}, {}, {}, strings};
  std::vector<int> queue{0};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    tree.counts.push_back(counts[queue[i]]);
    for (int s = 0; s < symbols; ++s) {
      const int child = children[queue[i] * n + s];
      tree.children.push_back(child == kNone ? kNone : static_cast<int>(queue.size()));
      if (child == kNone) continue;
      queue.push_back(child);
      tree.parent.push_back(static_cast<int>(i));
      tree.symbol.push_back(s);
    }
  }
  return tree;
}

// Blue-fringe merging. Works on a copy of the tree because merging changes it.
class Merging {
 public:
  Merging(PrefixTree tree, int most_states)
      : tree_(std::move(tree)), most_states_(most_states), red_{0} {}

  // Returns the transitions of the red states. A transition that no string takes stays in its
  // state.
  std::vector<int> run() {
    while (const auto edge = first_blue()) {
      const int blue = child(edge->first, edge->second);
      int best = 0;
      double highest = -INFINITY;
      StopCheck()();
      for (const int red : red_)
        if (const double s = score(red, blue); s > highest) highest = s, best = red;
      if (highest < 0 && std::ssize(red_) < most_states_) {
        red_.push_back(blue);
        continue;
      }
      child(edge->first, edge->second) = best;
      fold(best, blue);
    }
    std::vector<int> next;
    for (const int red : red_)
      for (int s = 0; s < tree_.symbols; ++s) next.push_back(place(child(red, s), red));
    return next;
  }

 private:
  using Edge = std::pair<int, int>;

  int& child(int node, int symbol) {
    return tree_.children[static_cast<std::size_t>(node) * tree_.symbols + symbol];
  }
  bool is_red(int node) const { return std::find(red_.begin(), red_.end(), node) != red_.end(); }
  int place(int node, int otherwise) const {
    const int wanted = node == kNone ? otherwise : node;
    return static_cast<int>(std::find(red_.begin(), red_.end(), wanted) - red_.begin());
  }

  // Returns the edge from a red state to the first non-red node in the order of the tree.
  std::optional<Edge> first_blue() {
    std::optional<Edge> first;
    for (const int red : red_)
      for (int s = 0; s < tree_.symbols; ++s) {
        const int node = child(red, s);
        if (node == kNone || is_red(node)) continue;
        if (!first || node < child(first->first, first->second)) first = Edge(red, s);
      }
    return first;
  }

  double score(int red, int blue) {
    const auto &a = tree_.counts[red], &b = tree_.counts[blue];
    double sum = 0;
    if (a.valid + a.invalid > 0 && b.valid + b.invalid > 0)
      sum = evidence(a.valid + b.valid, a.invalid + b.invalid) - evidence(a.valid, a.invalid) -
            evidence(b.valid, b.invalid);
    for (int s = 0; s < tree_.symbols; ++s)
      if (child(red, s) != kNone && child(blue, s) != kNone)
        sum += score(child(red, s), child(blue, s));
    return sum;
  }

  void fold(int red, int blue) {
    tree_.counts[red].valid += tree_.counts[blue].valid;
    tree_.counts[red].invalid += tree_.counts[blue].invalid;
    for (int s = 0; s < tree_.symbols; ++s) {
      if (child(blue, s) == kNone) continue;
      if (child(red, s) == kNone)
        child(red, s) = child(blue, s);
      else
        fold(child(red, s), child(blue, s));
    }
  }

  PrefixTree tree_;
  int most_states_;
  std::vector<int> red_;
};

// Searches for transitions with a small loss, starting from given ones.
class Search {
 public:
  Search(const PrefixTree& tree, int most_states)
      : tree_(tree), most_states_(most_states), states_of_(tree.counts.size()) {}

  // Improves the automaton and keeps it if it is the best one so far.
  void add(std::vector<int> next) {
    next_ = std::move(next);
    loss_ = loss(next_);
    redirect();
    while (states(next_) < most_states_ && add_state()) {
    }
    if (loss_ >= lowest_) return;
    lowest_ = loss_;
    best_ = next_;
  }
  const std::vector<int>& best() const { return best_; }

  // Returns the kRandomKept ones with the smallest loss.
  std::vector<std::vector<int>> best_of(std::vector<std::vector<int>> all) {
    std::vector<std::pair<double, std::vector<int>>> losses;
    for (auto& next : all) losses.emplace_back(loss(next), std::move(next));
    std::sort(losses.begin(), losses.end());
    std::vector<std::vector<int>> kept;
    for (std::size_t i = 0; i < losses.size() && i < kRandomKept; ++i)
      kept.push_back(std::move(losses[i].second));
    return kept;
  }

  std::vector<LabelCounts> counts(const std::vector<int>& next) {
    StopCheck()();
    std::vector<LabelCounts> counts(states(next));
    states_of_[0] = 0;
    const int symbols = tree_.symbols;
    for (int i = 1; i < tree_.size(); ++i)
      states_of_[i] = next[states_of_[tree_.parent[i]] * symbols + tree_.symbol[i]];
    for (int i = 0; i < tree_.size(); ++i) {
      counts[states_of_[i]].valid += tree_.counts[i].valid;
      counts[states_of_[i]].invalid += tree_.counts[i].invalid;
    }
    visits_ += tree_.size();
    return counts;
  }

 private:
  int states(const std::vector<int>& next) const {
    return static_cast<int>(next.size()) / tree_.symbols;
  }
  bool exhausted() const { return visits_ > kMostVisits; }

  double loss(const std::vector<int>& next) {
    const double k = states(next);
    double sum = k * (tree_.symbols * std::log(k) + 0.5 * std::log(tree_.strings));
    for (const auto& c : counts(next)) sum += entropy(c);
    return sum;
  }

  void redirect() {
    const int edges = static_cast<int>(next_.size());
    for (int edge = 0, unchanged = 0; unchanged < edges && !exhausted();
         edge = (edge + 1) % edges) {
      auto tried = next_;
      bool better = false;
      for (int target = 0; target < states(next_); ++target) {
        if (target == next_[edge]) continue;
        tried[edge] = target;
        if (const double l = loss(tried); l < loss_ - 1e-9) {
          loss_ = l;
          next_ = tried;
          better = true;
        }
      }
      unchanged = better ? 0 : unchanged + 1;
    }
  }

  // Copies the target of one transition; returns false if that does not lower the loss.
  bool add_state() {
    const auto old = next_;
    const double old_loss = loss_;
    const int state = states(old);
    loss_ = INFINITY;
    for (std::size_t edge = 0; edge < old.size() && !exhausted(); ++edge) {
      auto tried = old;
      const auto row = old.begin() + static_cast<std::ptrdiff_t>(old[edge]) * tree_.symbols;
      tried.insert(tried.end(), row, row + tree_.symbols);
      tried[edge] = state;
      if (const double l = loss(tried); l < loss_) {
        loss_ = l;
        next_ = tried;
      }
    }
    if (loss_ < INFINITY) redirect();
    if (loss_ < old_loss) return true;
    next_ = old;
    loss_ = old_loss;
    return false;
  }

  const PrefixTree& tree_;
  int most_states_;
  std::vector<int> states_of_, next_, best_;
  double loss_ = INFINITY, lowest_ = INFINITY;
  std::int64_t visits_ = 0;
};

// Every other start is a counter in which each symbol adds its own number, modulo the number of
// states.
std::vector<std::vector<int>> random_starts(int symbols, int most_states, std::uint64_t seed) {
  Random random(seed, "automaton starts");
  std::vector<std::vector<int>> starts;
  for (int i = 0; most_states > 1 && i < kRandomStarts; ++i) {
    const int states = 2 + static_cast<int>(random.below(most_states - 1));
    std::vector<int> next(static_cast<std::size_t>(states) * symbols);
    for (int s = 0; s < symbols; ++s) {
      const int step = static_cast<int>(random.below(states));
      for (int q = 0; q < states; ++q)
        next[q * symbols + s] =
            i % 2 == 0 ? (q + step) % states : static_cast<int>(random.below(states));
    }
    starts.push_back(std::move(next));
  }
  return starts;
}

}  // namespace

int SmallAutomaton::end_state(const Word& word) const {
  int state = 0;
  for (const int s : word) state = next[state * symbols + s];
  return state;
}

SmallAutomaton learn_automaton(const std::vector<Word>& words, const std::vector<bool>& labels,
                               int symbols, std::uint64_t seed, int most_states) {
  check(!words.empty() && words.size() == labels.size(), kWhere,
        "the numbers of strings and labels must be equal and at least 1, got {} and {}",
        words.size(), labels.size());
  check(most_states >= 1, kWhere, "the number of states must be at least 1, got {}", most_states);
  const auto tree = prefix_tree(words, labels, symbols, seed);
  Search search(tree, most_states);
  search.add(std::vector<int>(symbols, 0));
  search.add(Merging(tree, most_states).run());
  for (const auto& start : search.best_of(random_starts(symbols, most_states, seed)))
    search.add(start);
  SmallAutomaton automaton{symbols, search.best(), {}};
  for (const auto& c : search.counts(search.best())) automaton.valid.push_back(c.valid > c.invalid);
  return automaton;
}

}  // namespace pushdown
