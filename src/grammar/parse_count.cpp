#include "grammar/parse_count.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/memory.h"
#include "base/stopping.h"
#include "grammar/inside.h"
#include "grammar/normal_form.h"
#include "grammar/semiring.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "grammar.parse_count";
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Numbers of derivations, which may be infinite. If one part has 0 derivations, so does the whole,
// even if the other part has infinitely many.
struct PlainCount {
  static constexpr double zero = 0, one = 1;
  static double plus(double a, double b) { return a + b; }
  static double times(double a, double b) { return a == zero || b == zero ? zero : a * b; }
};
// The same as natural logarithms, which no count exceeds.
struct LogCount {
  static constexpr double zero = kMinusInfinity, one = 0;
  static double plus(double a, double b) {
    return a == kInfinity || b == kInfinity ? kInfinity : Log::plus(a, b);
  }
  static double times(double a, double b) { return a == zero || b == zero ? zero : a + b; }
};

// Counts over the short rules of a grammar (normal_form.h), whose derivations correspond one to one
// to the grammar's.
template <class Count>
class ParseCounter {
 public:
  explicit ParseCounter(const NormalForm& form)
      : form_(form), size_(static_cast<std::size_t>(form.size)) {
    count_empty();
    link_unary();
    close_unary();
  }

  double count(const Word& word) {
    if (word.empty()) return empty_[form_.start];
    length_ = word.size();
    check_memory(kWhere, "the chart", 8.0 * static_cast<double>(length_ * length_ * size_));
    cells_.assign(length_ * length_ * size_, Count::zero);
    const StopCheck stop;
    for (std::size_t span = 1; span <= length_; ++span)
      for (std::size_t i = 0; i + span <= length_; ++i) {
        stop();
        fill(word, i, i + span);
      }
    return cell(0, length_)[form_.start];
  }

 private:
  struct Link {
    std::size_t to;
    double ways;
  };

  static void add(double& total, double ways) { total = Count::plus(total, ways); }
  static std::size_t index(int id) { return static_cast<std::size_t>(id); }
  double* cell(std::size_t i, std::size_t j) {
    return cells_.data() + (i * length_ + j - 1) * size_;
  }
  bool nullable(Symbol symbol) const {
    return !symbol.terminal && form_.nullable[index(symbol.id)] > 0;
  }

  // empty_[A]: the number of derivations of the empty string from A. A nonterminal that derives the
  // empty string through itself has infinitely many.
  void count_empty() {
    empty_.assign(size_, Count::zero);
    std::vector<char> state(size_, 0);  // 1: being counted, 2: done
    for (std::size_t a = 0; a < size_; ++a) empty_of(a, state);
  }
  double empty_of(std::size_t a, std::vector<char>& state) {
    if (form_.nullable[a] <= 0) return Count::zero;
    if (state[a] == 1) return kInfinity;
    if (state[a] == 2) return empty_[a];
    state[a] = 1;
    double total = Count::zero;
    for (const ShortRule& rule : form_.short_rules) {
      if (index(rule.left) != a || rule.weight <= 0) continue;
      if (!std::all_of(rule.right.begin(), rule.right.end(),
                       [&](Symbol symbol) { return nullable(symbol); }))
        continue;
      double ways = Count::one;
      for (const Symbol symbol : rule.right)
        ways = Count::times(ways, empty_of(index(symbol.id), state));
      add(total, ways);
    }
    state[a] = 2;
    return empty_[a] = total;
  }

  // links_[A]: the number of ways in which one rule of A yields the strings of B, with the rest
  // empty.
  void link_unary() {
    links_.resize(size_);
    const auto link = [&](int from, Symbol to, double ways) {
      if (!to.terminal && ways > Count::zero) links_[index(from)].push_back({index(to.id), ways});
    };
    for (const ShortRule& rule : form_.short_rules) {
      if (rule.weight <= 0) continue;
      if (rule.right.size() == 1) link(rule.left, rule.right[0], Count::one);
      if (rule.right.size() != 2) continue;
      for (const int other : {1, 0})
        if (nullable(rule.right[index(other)]))
          link(rule.left, rule.right[index(1 - other)], empty_[index(rule.right[index(other)].id)]);
    }
  }

  // chains_[A]: all B that A reaches by links, with the number of chains; infinite if a chain can
  // pass through a cycle. A itself is included once.
  void close_unary() {
    chains_.resize(size_);
    for (std::size_t a = 0; a < size_; ++a) {
      if (links_[a].empty()) {
        chains_[a].push_back({a, Count::one});
        continue;
      }
      std::vector<double> ways(size_, Count::zero);
      std::vector<std::size_t> order;
      std::vector<char> state(size_, 0), round(size_, 0);
      visit(a, state, round, order);
      ways[a] = Count::one;
      for (auto b = order.rbegin(); b != order.rend(); ++b) {
        if (round[*b]) ways[*b] = kInfinity;
        for (const Link& link : links_[*b]) add(ways[link.to], Count::times(ways[*b], link.ways));
      }
      for (const std::size_t b : order) chains_[a].push_back({b, ways[b]});
    }
  }
  // Depth-first search; `order` is in reverse post-order. Marks the nodes on a cycle.
  void visit(std::size_t a, std::vector<char>& state, std::vector<char>& round,
             std::vector<std::size_t>& order) {
    state[a] = 1;
    for (const Link& link : links_[a]) {
      if (state[link.to] == 1) round[link.to] = 1;
      if (state[link.to] == 0) visit(link.to, state, round, order);
    }
    state[a] = 2;
    order.push_back(a);
  }

  // Returns the number of derivations of word[i, j) from the symbol.
  double ways(Symbol symbol, const Word& word, std::size_t i, std::size_t j) {
    if (symbol.terminal) return j == i + 1 && word[i] == symbol.id ? Count::one : Count::zero;
    return cell(i, j)[index(symbol.id)];
  }

  void fill(const Word& word, std::size_t i, std::size_t j) {
    std::vector<double> own(size_, Count::zero);  // by rules whose parts are all non-empty
    for (const ShortRule& rule : form_.short_rules) {
      if (rule.weight <= 0 || rule.right.empty()) continue;
      double& total = own[index(rule.left)];
      const Symbol first = rule.right[0];
      if (rule.right.size() == 1) {
        if (first.terminal) add(total, ways(first, word, i, j));
        continue;
      }
      const Symbol second = rule.right[1];
      if (first.terminal && nullable(second))
        add(total, Count::times(ways(first, word, i, j), empty_[index(second.id)]));
      if (second.terminal && nullable(first))
        add(total, Count::times(ways(second, word, i, j), empty_[index(first.id)]));
      for (std::size_t k = i + 1; k < j; ++k)
        add(total, Count::times(ways(first, word, i, k), ways(second, word, k, j)));
    }
    double* result = cell(i, j);
    for (std::size_t a = 0; a < size_; ++a)
      for (const Link& chain : chains_[a]) add(result[a], Count::times(chain.ways, own[chain.to]));
  }

  const NormalForm& form_;
  std::size_t size_, length_ = 0;
  std::vector<double> empty_;
  std::vector<std::vector<Link>> links_, chains_;
  std::vector<double> cells_;
};

}  // namespace

double parse_count(const Grammar& grammar, const Word& word) {
  check_word(kWhere, grammar.alphabet(), word);
  const double count = ParseCounter<PlainCount>(grammar.normal_form()).count(word);
  if (count < kInfinity) return count;
  const double log = ParseCounter<LogCount>(grammar.normal_form()).count(word);
  check(log == kInfinity, kWhere,
        "the string has about 10^{:.2f} derivations, and a number is at most 1.8e308; "
        "log_parse_count returns the logarithm",
        log / std::log(10.0));
  return count;
}

double log_parse_count(const Grammar& grammar, const Word& word) {
  check_word("grammar.log_parse_count", grammar.alphabet(), word);
  const double count = ParseCounter<PlainCount>(grammar.normal_form()).count(word);
  return count < kInfinity ? std::log(count)
                           : ParseCounter<LogCount>(grammar.normal_form()).count(word);
}

}  // namespace pushdown
