#include "pda/difference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <unordered_set>

#include "base/check.h"
#include "base/stopping.h"
#include "pda/lang.h"
#include "pda/summaries.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "pda.difference";

// The stacks of one automaton, shared as lists from the top to the bottom.
class Stacks {
 public:
  explicit Stacks(const Pda& pda) : pda_(pda), summaries_(pda) { find(0, -1); }

  int bottom() const { return 0; }
  int top(int stack) const { return nodes_[stack].top; }
  int below(int stack) const { return nodes_[stack].below; }
  int find(int top, int below) {
    const auto [place, is_new] =
        numbers_.try_emplace({top, below}, static_cast<int>(nodes_.size()));
    if (!is_new) return place->second;
    nodes_.push_back({top, below, shortest_ends(top, below)});
    constexpr std::size_t kMost = 100'000'000;
    check(nodes_.size() * pda_.states().size() <= kMost, kWhere,
          "the search needs more than {} different stacks: lower up_to", nodes_.size());
    return place->second;
  }
  // Returns the length of the shortest string that is accepted from this configuration.
  int shortest_end(int state, int stack) const { return nodes_[stack].ends[state]; }
  double accepting(int state, int stack) const {
    const bool ends = !pda_.at_bottom() || stack == 0;
    return ends ? pda_.accepting()[state] : 0;
  }

 private:
  struct Node {
    int top, below;
    std::vector<int> ends;
  };

  std::vector<int> shortest_ends(int top, int below) const {
    std::vector<int> ends(pda_.states().size(), Summaries::kNone);
    for (int q = 0; q < static_cast<int>(ends.size()); ++q) {
      if (below < 0 || !pda_.at_bottom()) ends[q] = summaries_.end_length(q, top);
      if (below < 0) continue;
      for (const auto& [state, length] : summaries_.pops(q, top))
        ends[q] = std::min(ends[q], length + nodes_[below].ends[state]);
    }
    return ends;
  }

  const Pda& pda_;
  Summaries summaries_;
  std::vector<Node> nodes_;
  std::map<std::pair<int, int>, int> numbers_;
};

// Configurations (state, stack) and their weights.
using Configurations = std::map<std::pair<int, int>, double>;

class Runner {
 public:
  Runner(const Pda& pda, bool weights)
      : pda_(pda), stacks_(pda), weights_(weights), moves_(pda.alphabet().size()) {
    for (auto& by_state : moves_) by_state.resize(pda.states().size());
    for (const auto& t : pda.transitions())
      if (t.weight > 0) moves_[t.symbol][t.state].push_back(&t);
  }

  Configurations begin(int left) const {
    Configurations set;
    if (stacks_.shortest_end(0, stacks_.bottom()) <= left) set[{0, stacks_.bottom()}] = 1;
    return set;
  }

  // Returns the configurations after a symbol from which a string of at most `left` more symbols is
  // accepted, and adds the number of moves.
  Configurations step(const Configurations& set, const std::string& name, int left,
                      std::int64_t& moves) {
    Configurations next;
    const auto symbol = pda_.alphabet().find(name);
    if (!symbol) return next;
    for (const auto& [configuration, weight] : set) {
      const auto [state, stack] = configuration;
      for (const auto* t : moves_[*symbol][state]) {
        ++moves;
        if (t->top != stacks_.top(stack)) continue;
        const int below = stacks_.below(stack);
        if (t->action == StackAction::pop && below < 0) continue;
        const int after = t->action == StackAction::push      ? stacks_.find(t->pushed, stack)
                          : t->action == StackAction::replace ? stacks_.find(t->pushed, below)
                                                              : below;
        if (stacks_.shortest_end(t->next, after) > left) continue;
        auto& sum = next[{t->next, after}];
        sum = weights_ ? sum + weight * t->weight : 1;
      }
    }
    return next;
  }

  double accepted(const Configurations& set) const {
    double sum = 0;
    for (const auto& [configuration, weight] : set)
      sum += weight * stacks_.accepting(configuration.first, configuration.second);
    return sum;
  }

 private:
  const Pda& pda_;
  Stacks stacks_;
  bool weights_;
  std::vector<std::vector<std::vector<const Transition*>>> moves_;  // [symbol][state]
};

class DifferenceSearch {
 public:
  DifferenceSearch(const Pda& a, const Pda& b, const DifferenceOptions& options)
      : options_(options), first_(a, options.weights), second_(b, options.weights) {
    symbols_ = a.alphabet().symbols();
    for (const auto& symbol : b.alphabet().symbols())
      if (!a.alphabet().find(symbol)) symbols_.push_back(symbol);
  }

  std::optional<std::vector<std::string>> run() {
    std::vector<Prefix> level{{{}, first_.begin(options_.up_to), second_.begin(options_.up_to)}};
    if (differs(level[0])) return texts(level[0].word);
    const StopCheck stop;
    for (int length = 1; length <= options_.up_to && !level.empty(); ++length) {
      std::vector<Prefix> next;
      std::unordered_set<std::string> seen;
      for (const auto& prefix : level)
        for (int s = 0; s < static_cast<int>(symbols_.size()); ++s) {
          stop();
          const int left = options_.up_to - length;
          Prefix longer{prefix.word, first_.step(prefix.first, symbols_[s], left, moves_),
                        second_.step(prefix.second, symbols_[s], left, moves_)};
          check(moves_ <= options_.limit, kWhere,
                "the search for a string of up to {} symbols takes more than {} moves; up to "
                "length {}, the automata are equal: lower up_to or raise limit",
                options_.up_to, options_.limit, length - 1);
          if (longer.first.empty() && longer.second.empty()) continue;
          longer.word.push_back(s);
          if (differs(longer)) return texts(longer.word);
          if (options_.weights) scale(longer);
          if (seen.insert(key(longer)).second) next.push_back(std::move(longer));
        }
      level = std::move(next);
    }
    return std::nullopt;
  }

 private:
  struct Prefix {
    Word word;
    Configurations first, second;
  };

  bool differs(const Prefix& prefix) const {
    const double a = first_.accepted(prefix.first), b = second_.accepted(prefix.second);
    if (!options_.weights) return (a > 0) != (b > 0);
    return std::fabs(a - b) > options_.tolerance * std::max(a, b);
  }

  std::vector<std::string> texts(const Word& word) const {
    std::vector<std::string> list;
    for (const int s : word) list.push_back(symbols_[s]);
    return list;
  }

  // Only the ratios of weights matter. A power of two keeps all digits.
  static void scale(Prefix& prefix) {
    double largest = 0;
    for (const auto* set : {&prefix.first, &prefix.second})
      for (const auto& [configuration, weight] : *set) largest = std::max(largest, weight);
    if (!(largest > 0) || !std::isfinite(largest)) return;
    int exponent = 0;
    std::frexp(largest, &exponent);
    for (auto* set : {&prefix.first, &prefix.second})
      for (auto& [configuration, weight] : *set) weight = std::ldexp(weight, -exponent);
  }

  static std::string key(const Prefix& prefix) {
    std::string bytes;
    const auto put = [&](const auto& value) {
      char raw[sizeof value];
      std::memcpy(raw, &value, sizeof value);
      bytes.append(raw, sizeof value);
    };
    for (const auto* set : {&prefix.first, &prefix.second}) {
      put(set->size());
      for (const auto& [configuration, weight] : *set) {
        put(configuration.first);
        put(configuration.second);
        put(weight);
      }
    }
    return bytes;
  }

  DifferenceOptions options_;
  Runner first_, second_;
  std::vector<std::string> symbols_;
  std::int64_t moves_ = 0;
};

double log_weight_of(const Pda& pda, const std::vector<std::string>& string) {
  for (const auto& symbol : string)
    if (!pda.alphabet().find(symbol)) return kMinusInfinity;
  const auto automaton = on_string(pda, pda.alphabet().encode(string));
  return LangChart<Log>(automaton).accepted();
}

}  // namespace

std::optional<Difference> difference(const Pda& a, const Pda& b, const DifferenceOptions& options) {
  check(options.up_to >= 0, kWhere, "up_to must be at least 0, got {}", options.up_to);
  auto string = DifferenceSearch(a, b, options).run();
  if (!string) return std::nullopt;
  Difference found{*std::move(string), {}};
  found.log_weights[0] = log_weight_of(a, found.string);
  found.log_weights[1] = log_weight_of(b, found.string);
  return found;
}

}  // namespace pushdown
