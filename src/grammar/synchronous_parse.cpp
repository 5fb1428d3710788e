#include "grammar/synchronous_parse.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "grammar/fixed_point.h"
#include "grammar/inside.h"
#include "grammar/semiring.h"
#include "grammar/source_forest.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "grammar.synchronous";
constexpr std::size_t kMostTerms = 20'000'000;

using Span = std::array<int, 2>;  // target[k .. l)

// The target spans of every node of the source's forest.
class Bitext {
 public:
  Bitext(const SynchronousGrammar& grammar, const Pair& pair)
      : grammar_(grammar), target_(pair.target), forest_(grammar, pair.source) {
    check_word(kWhere, grammar.target_alphabet(), pair.target);
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
    System system;
    system.scale = chart_scale(grammar_.source_alphabet());
    fill(system);
    const double value = least_fixed_point(system.size, system.terms)[0];
    check(value > 0 && std::isfinite(value), kWhere,
          "the probability of a pair of {} and {} symbols leaves the range of numbers",
          length_of_source(), target_.size());
    return std::log(value) - system.scale * std::log(2.0) * length_of_source();
  }

 private:
  // Every source terminal carries a factor 2^scale.
  struct System {
    int scale = 0, size = 0;
    std::vector<Monomial> terms;
  };

  int length_of_source() const { return forest_.nodes()[0].end; }
  Span whole() const { return {0, static_cast<int>(target_.size())}; }
  static bool has(const std::vector<Span>& spans, Span span) {
    return std::binary_search(spans.begin(), spans.end(), span);
  }

  // Covers target[at ..] with the target side of a way from symbol s on; visit(end, spans of the
  // children in the order of the target side).
  template <class Visit>
  void cover(const SourceForest::Way& way, std::size_t s, int at, std::vector<Span>& chosen,
             const Visit& visit) const {
    const auto& rule = grammar_.rules()[way.rule];
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

  // Adds what the node's ways give now; true when that was new.
  bool extend(int node) {
    std::vector<Span> found;
    std::vector<Span> chosen;
    for (const auto& way : forest_.nodes()[node].ways)
      for (int k = 0; k <= static_cast<int>(target_.size()); ++k)
        cover(way, 0, k, chosen, [&](int end, const std::vector<Span>&) {
          found.push_back({k, end});
        });
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    if (found.size() == spans_[node].size()) return false;
    spans_[node] = std::move(found);
    return true;
  }

  // One unknown for every span that takes part in a derivation of the pair, the whole first.
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
        const double weight = std::ldexp(rule.weight, system.scale * static_cast<int>(terminals));
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

  // left += weight * product of the unknowns below, in terms of degree two.
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
          "the pair has more than {} million ways to be derived", kMostTerms / 1'000'000);
  }

  const SynchronousGrammar& grammar_;
  const Word& target_;
  SourceForest forest_;
  std::vector<std::vector<Span>> spans_;  // of each node, sorted
};

}  // namespace

bool contains(const SynchronousGrammar& grammar, const Pair& pair) {
  return Bitext(grammar, pair).contains();
}

double log_probability(const SynchronousGrammar& grammar, const Pair& pair) {
  return Bitext(grammar, pair).log_probability();
}

}  // namespace pushdown
