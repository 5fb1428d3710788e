#include "grammar/inside.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "base/parallel.h"
#include "base/stopping.h"
#include "grammar/chart.h"
#include "grammar/fixed_point.h"

namespace pushdown {
namespace {

// d log G / d U[A,B], d log G / d (weight of A -> a) and the direct counts of binary rules.
struct Derivatives {
  explicit Derivatives(int size, int symbols)
      : size(size),
        symbols(symbols),
        unary(static_cast<std::size_t>(size) * size),
        lexical(static_cast<std::size_t>(size) * symbols) {}
  double& unary_at(int a, int b) { return unary[static_cast<std::size_t>(a) * size + b]; }
  double& lexical_at(int a, int s) { return lexical[static_cast<std::size_t>(a) * symbols + s]; }
  int size, symbols;
  std::vector<double> unary, lexical;
};

class Counter {
 public:
  Counter(const Grammar& grammar, const Word& word)
      : grammar_(grammar),
        form_(grammar.normal_form()),
        word_(word),
        counts_(grammar.rules().size()),
        by_epsilon_(form_.size),
        derivatives_(form_.size, grammar.alphabet().size()) {}

  std::vector<double> run() {
    if (word_.empty()) {
      by_epsilon_[form_.start] = 1 / form_.empty_mass;
    } else {
      RangeWatch watch;
      binary_counts_ = std::vector<double>(form_.short_rules.size());
      walk<Real>(chart_scale(grammar_.alphabet()));
      if (watch.left_range()) {
        derivatives_ = Derivatives(form_.size, grammar_.alphabet().size());
        std::fill(binary_counts_.begin(), binary_counts_.end(), 0.0);
        walk<Log>(0);
      }
      for (std::size_t r = 0; r < form_.short_rules.size(); ++r)
        count(form_.short_rules[r], binary_counts_[r]);
    }
    count_epsilon_derivations();
    return counts_;
  }

 private:
  template <class S>
  __attribute__((noinline)) void walk(int scale) {
    const ChartRules<S> rules(form_, grammar_.alphabet().size(), scale);
    const auto inside = inside_chart(rules, word_);
    const auto outside = outside_charts(rules, word_, inside);
    const int n = static_cast<int>(word_.size());
    const double whole = inside.at(form_.start, 0, n);
    const double factor = S::from_weight(std::ldexp(1.0, scale));
    const StopCheck stop;
    for (int i = 0; i < n; ++i)
      for (int a = 0; a < form_.size; ++a)
        derivatives_.lexical_at(a, word_[i]) +=
            S::ratio(S::times(factor, outside.before.at(a, i, i + 1)), whole);
    for (const auto& [a, b] : unary_edges())
      for (int i = 0; i < n; ++i) {
        stop();
        for (int j = i + 1; j <= n; ++j)
          derivatives_.unary_at(a, b) +=
              S::ratio(S::times(outside.before.at(a, i, j), inside.at(b, i, j)), whole);
      }
    for (std::size_t r = 0; r < form_.short_rules.size(); ++r) {
      const auto& rule = form_.short_rules[r];
      if (rule.right.size() != 2) continue;
      const double weight = S::from_weight(rule.weight);
      for (int i = 0; i < n; ++i)
        for (int j = i + 2; j <= n; ++j) {
          stop();
          const double above = S::times(outside.before.at(rule.left, i, j), weight);
          if (above == S::zero()) continue;
          double below = S::zero();
          for (int k = i + 1; k < j; ++k)
            below = S::plus(below, S::times(child(inside, rule.right[0], i, k, factor),
                                            child(inside, rule.right[1], k, j, factor)));
          binary_counts_[r] += S::ratio(S::times(above, below), whole);
        }
    }
  }

  template <class S>
  double child(const Chart<S>& inside, Symbol symbol, int i, int j, double factor) const {
    if (!symbol.terminal) return inside.at(symbol.id, i, j);
    return j == i + 1 && word_[i] == symbol.id ? factor : S::zero();
  }

  std::vector<std::pair<int, int>> unary_edges() const {
    std::vector<std::pair<int, int>> edges;
    for (const auto& rule : form_.short_rules)
      for (std::size_t k = 0; k < rule.right.size(); ++k)
        if (!rule.right[k].terminal && leaves_alone(rule, k))
          edges.emplace_back(rule.left, rule.right[k].id);
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    return edges;
  }

  // Returns whether child k can be the only non-empty child.
  bool leaves_alone(const ShortRule& rule, std::size_t k) const {
    if (rule.right.size() == 1) return true;
    const auto other = rule.right[1 - k];
    return !other.terminal && form_.nullable[other.id] > 0;
  }

  void count(const ShortRule& rule, double uses) {
    for (std::size_t k = 0; k < rule.right.size(); ++k) {
      if (!leaves_alone(rule, k)) continue;
      const auto symbol = rule.right[k];
      const double slope =
          rule.weight * (symbol.terminal ? derivatives_.lexical_at(rule.left, symbol.id)
                                         : derivatives_.unary_at(rule.left, symbol.id));
      if (rule.right.size() == 1) {
        uses += slope;
      } else {
        const int other = rule.right[1 - k].id;
        uses += slope * form_.nullable[other];
        by_epsilon_[other] += slope;
      }
    }
    if (rule.rule >= 0) counts_[rule.rule] += uses;
  }

  // With E = f(E, weights), a change of E[C] by 1 counts by_epsilon_[C]. The adjoint of the fixed
  // point distributes it over the rules that derive epsilon.
  void count_epsilon_derivations() {
    SparseMatrix matrix = identity_matrix(form_.size);
    for (const auto& rule : form_.short_rules) {
      if (!derives_epsilon(rule)) continue;
      for (std::size_t k = 0; k < rule.right.size(); ++k) {
        const double other = rule.right.size() == 2 ? form_.nullable[rule.right[1 - k].id] : 1.0;
        matrix[rule.right[k].id].emplace_back(rule.left, -(rule.weight * other));
      }
    }
    add_up(matrix);
    auto adjoint = by_epsilon_;
    check(solve_m_matrix(std::move(matrix), adjoint, 1) > 0, "grammar.expected_rule_counts",
          "the expected length of the derivations of the empty string is infinite");
    for (const auto& rule : form_.short_rules) {
      if (!derives_epsilon(rule) || rule.rule < 0) continue;
      double mass = rule.weight;
      for (const auto symbol : rule.right) mass *= form_.nullable[symbol.id];
      counts_[rule.rule] += adjoint[rule.left] * mass;
    }
  }

  bool derives_epsilon(const ShortRule& rule) const {
    return std::all_of(rule.right.begin(), rule.right.end(), [&](Symbol symbol) {
      return !symbol.terminal && form_.nullable[symbol.id] > 0;
    });
  }

  const Grammar& grammar_;
  const NormalForm& form_;
  const Word& word_;
  std::vector<double> counts_, by_epsilon_, binary_counts_;
  Derivatives derivatives_;
};

template <class S>
__attribute__((noinline)) double start_weight(const Grammar& grammar, const Word& word, int scale) {
  const auto& form = grammar.normal_form();
  const auto chart = inside_chart(ChartRules<S>(form, grammar.alphabet().size(), scale), word);
  return chart.at(form.start, 0, static_cast<int>(word.size()));
}

}  // namespace

void check_word(std::string_view where, const Alphabet& alphabet, const Word& word) {
  for (const int id : word)
    check(id >= 0 && id < alphabet.size(), where, "symbol ids are 0 to {}, got {}",
          alphabet.size() - 1, id);
}

int chart_scale(const Alphabet& alphabet) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(alphabet.size()))) - 1;
}

double log_probability(const Grammar& grammar, const Word& word) {
  check_word("grammar.log_probability", grammar.alphabet(), word);
  if (word.empty()) return std::log(grammar.normal_form().empty_mass);
  RangeWatch watch;
  const int scale = chart_scale(grammar.alphabet());
  const double weight = start_weight<Real>(grammar, word, scale);
  if (watch.left_range()) return start_weight<Log>(grammar, word, 0);
  return std::log(weight) - static_cast<double>(word.size()) * scale * std::numbers::ln2;
}

std::vector<double> log_probabilities(const Grammar& grammar, const std::vector<Word>& words) {
  std::vector<double> all(words.size());
  parallel_for(static_cast<std::int64_t>(words.size()), [&](std::int64_t k) {
    const auto place = static_cast<std::size_t>(k);
    all[place] = log_probability(grammar, words[place]);
  });
  return all;
}

std::vector<double> expected_rule_counts(const Grammar& grammar, const Word& word) {
  double log_weight = 0;
  auto counts = expected_rule_counts(grammar, word, log_weight);
  check(log_weight > kMinusInfinity, "grammar.expected_rule_counts", "'{}' is not in the language",
        grammar.alphabet().text(word));
  return counts;
}

std::vector<double> expected_rule_counts(const Grammar& grammar, const Word& word,
                                         double& log_probability) {
  log_probability = pushdown::log_probability(grammar, word);
  if (log_probability == kMinusInfinity) return {};
  return Counter(grammar, word).run();
}

}  // namespace pushdown
