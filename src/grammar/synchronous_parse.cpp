#include "grammar/synchronous_parse.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "base/stopping.h"
#include "grammar/fixed_point.h"
#include "grammar/inside.h"
#include "grammar/semiring.h"
#include "grammar/source_forest.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "grammar.synchronous";
constexpr std::int64_t kMostSteps = 50'000'000;
constexpr std::size_t kMostTerms = 20'000'000;

using Span = std::array<int, 2>;  // target[k .. l)

// The target spans of every node of the source's forest.
class Bitext {
 public:
  Bitext(const SynchronousGrammar& grammar, const Pair& pair)
      : grammar_(grammar),
        source_(pair.source),
        target_(pair.target),
        forest_(grammar, pair.source) {
    check_word(kWhere, grammar.target_alphabet(), pair.target);
    occurrences_.resize(grammar.target_alphabet().size());
    for (int k = 0; k < whole()[1]; ++k) occurrences_[target_[k]].push_back(k);
    spans_.resize(forest_.nodes().size());
    for (const auto& group : forest_.groups())
      for (bool changed = true; changed;) {
        changed = false;
        for (const int node : group.nodes) changed = extend(node) || changed;
        changed = changed && group.repeat;
      }
  }

  bool contains() const { return !spans_.empty() && has(spans_[0], whole()); }

  double log_probability() const {
    if (!contains()) return kMinusInfinity;
    const int length = forest_.nodes()[0].end;
    System system;
    if (length > 0)
      system.log_scale = -pushdown::log_probability(grammar_.source_side(), source_) / length;
    fill(system);
    const double value = least_fixed_point(system.size, system.terms)[0];
    check(value > 0 && std::isfinite(value), kWhere,
          "the probability of a pair of {} and {} symbols is outside the floating-point range",
          length, target_.size());
    return std::log(value) - system.log_scale * length;
  }

 private:
  // Every source terminal has a factor e^log_scale, so that the probability of the whole is close
  // to that of the target given the source.
  struct System {
    double log_scale = 0;
    int size = 0;
    std::vector<Monomial> terms;
  };

  Span whole() const { return {0, static_cast<int>(target_.size())}; }
  static bool has(const std::vector<Span>& spans, Span span) {
    return std::binary_search(spans.begin(), spans.end(), span);
  }

  // Matches the target side of a way, from symbol s on, with target[at ..] and calls visit(end,
  // spans of the children in the order of the target side) for each match.
  template <class Visit>
  void cover(const SourceForest::Way& way, std::size_t s, int at, std::vector<Span>& chosen,
             const Visit& visit) const {
    const auto& rule = grammar_.rules()[way.rule];
    StopCheck()();
    check(++steps_ <= kMostSteps, kWhere,
          "a pair of {} and {} symbols has too many derivations: matching the target with the "
          "derivations of the source takes more than {} million steps",
          source_.size(), target_.size(), kMostSteps / 1'000'000);
    if (s == rule.target.size()) return visit(at, chosen);
    const auto symbol = rule.target[s];
    if (symbol.terminal) {
      if (at < static_cast<int>(target_.size()) && target_[at] == symbol.id)
        cover(way, s + 1, at + 1, chosen, visit);
      return;
    }
    const auto& below = spans_[way.children[rule.links[chosen.size()]]];
    for (auto span = std::lower_bound(below.begin(), below.end(), Span{at, at});
         span != below.end() && (*span)[0] == at; ++span) {
      chosen.push_back(*span);
      cover(way, s + 1, (*span)[1], chosen, visit);
      chosen.pop_back();
    }
  }

  // Returns the positions where the target side of a way may begin.
  std::vector<int> starts_of(const SourceForest::Way& way) const {
    const auto& rule = grammar_.rules()[way.rule];
    std::vector<int> starts;
    if (rule.target.empty()) {
      for (int k = 0; k <= whole()[1]; ++k) starts.push_back(k);
    } else if (rule.target[0].terminal) {
      starts = occurrences_[rule.target[0].id];
    } else {
      for (const auto& span : spans_[way.children[rule.links[0]]])
        if (starts.empty() || starts.back() != span[0]) starts.push_back(span[0]);
    }
    return starts;
  }

  // Adds the spans that the node's ways give now; returns true if any is new.
  bool extend(int node) {
    std::vector<Span> found;
    std::vector<Span> chosen;
    for (const auto& way : forest_.nodes()[node].ways)
      for (const int k : starts_of(way))
        cover(way, 0, k, chosen, [&](int end, const std::vector<Span>&) {
          found.push_back({k, end});
        });
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    if (found.size() == spans_[node].size()) return false;
    spans_[node] = std::move(found);
    return true;
  }

  // Creates one unknown for every span that takes part in a derivation of the pair, the whole pair
  // first.
  void fill(System& system) const {
    std::vector<std::vector<int>> numbers(spans_.size());
    std::vector<std::pair<int, Span>> open;
    const auto unknown = [&](int node, Span span) {
      auto& row = numbers[node];
      row.resize(spans_[node].size(), -1);
      const auto place = std::lower_bound(spans_[node].begin(), spans_[node].end(), span);
      int& number = row[place - spans_[node].begin()];
      if (number < 0) {
        number = system.size++;
        open.emplace_back(node, span);
      }
      return number;
    };
    unknown(0, whole());
    std::vector<Span> chosen;
    while (!open.empty()) {
      const auto [node, span] = open.back();
      open.pop_back();
      const int left = unknown(node, span);
      for (const auto& way : forest_.nodes()[node].ways) {
        const auto& rule = grammar_.rules()[way.rule];
        const auto terminals = std::count_if(rule.source.begin(), rule.source.end(),
                                             [](Symbol symbol) { return symbol.terminal; });
        const double weight =
            rule.weight * std::exp(system.log_scale * static_cast<double>(terminals));
        cover(way, 0, span[0], chosen, [&, end = span[1]](int at, const auto& spans) {
          if (at != end) return;
          std::vector<int> below;
          for (std::size_t c = 0; c < spans.size(); ++c)
            below.push_back(unknown(way.children[rule.links[c]], spans[c]));
          add(system, left, weight, below);
        });
      }
    }
  }

  // Adds left += weight * product of the unknowns `below`, as terms of degree two.
  static void add(System& system, int left, double weight, std::vector<int> below) {
    while (below.size() > 2) {
      const int product = system.size++;
      system.terms.push_back({product, 1.0, {below[below.size() - 2], below.back()}});
      below.pop_back();
      below.back() = product;
    }
    Monomial term{left, weight, {-1, -1}};
    std::copy(below.begin(), below.end(), term.variables);
    system.terms.push_back(term);
    check(system.terms.size() <= kMostTerms, kWhere,
          "the pair has more than {} million derivations", kMostTerms / 1'000'000);
  }

  const SynchronousGrammar& grammar_;
  const Word& source_;
  const Word& target_;
  SourceForest forest_;
  std::vector<std::vector<int>> occurrences_;  // of each target symbol
  std::vector<std::vector<Span>> spans_;       // of each node, sorted
  mutable std::int64_t steps_ = 0;
};

}  // namespace

bool contains(const SynchronousGrammar& grammar, const Pair& pair) {
  return Bitext(grammar, pair).contains();
}

double log_probability(const SynchronousGrammar& grammar, const Pair& pair) {
  return Bitext(grammar, pair).log_probability();
}

}  // namespace pushdown
