#include "grammar/prefix_probability.h"

#include <cmath>
#include <type_traits>

#include "base/check.h"
#include "base/memory.h"
#include "base/stopping.h"
#include "grammar/chart.h"
#include "grammar/inside.h"

namespace pushdown {
namespace {

// Computes M and the outside weights of a string. Every known symbol has the factor 2^scale, which
// cancels in q_t.
template <class S>
class NextSymbols {
 public:
  NextSymbols(const LengthTable& table, const std::vector<int>& lengths, const Word& word,
              int scale)
      : form_(table.grammar().normal_form()),
        word_(word),
        n_(static_cast<int>(word.size())),
        longest_(lengths.back()),
        symbols_(table.grammar().alphabet().size()),
        columns_(longest_ + 1),
        mass_columns_(table.max_length() + 1),
        known_(S::from_weight(std::ldexp(1.0, scale))),
        inside_(inside_chart(ChartRules<S>(form_, symbols_, scale), word)),
        masses_(table.masses()) {
    if constexpr (std::is_same_v<S, Log>)
      if (!table.logarithms())
        for (double& mass : masses_) mass = std::log(mass);
    const auto entries = static_cast<std::size_t>(n_) * form_.size;
    check_memory("grammar.prefixes", fmt::format("the prefixes of a string of {} symbols", n_),
                 8.0 * static_cast<double>(entries) * static_cast<double>(columns_));
    contexts_.assign(entries * columns_, S::zero());
    above_.assign(form_.pairs.size() * columns_, S::zero());
    before_.resize(form_.size);
    next_.assign(static_cast<std::size_t>(n_) * symbols_, S::zero());
    const double one_length = S::from_weight(1 / static_cast<double>(lengths.size()));
    for (const int l : lengths)
      if (l > 0) {
        const double mass = mass_of(form_.start)[l];
        if constexpr (std::is_same_v<S, Log>)
          context(form_.start, 0)[l] = one_length - mass;
        else
          context(form_.start, 0)[l] = one_length / mass;
      }
  }

  std::vector<double> run() {
    const StopCheck stop;
    for (int i = 0; i < n_; ++i) {
      std::fill(above_.begin(), above_.end(), S::zero());
      for (int end = longest_; end > i; --end) {
        stop();
        expand(i, end);
      }
      // The first part of a pair ends within the known symbols, the second goes on after them.
      for (std::size_t p = 0; p < form_.pairs.size(); ++p) {
        stop();
        for (int j = i + 1; j < n_; ++j) {
          const double first = inside_.at(form_.pairs[p].first, i, j);
          if (first == S::zero()) continue;
          double* to = context(form_.pairs[p].second, j);
          const double* above = above_.data() + p * columns_;
          for (int end = j + 1; end <= longest_; ++end)
            to[end] = S::plus(to[end], S::times(first, above[end]));
        }
      }
    }
    std::vector<double> result;
    for (int t = 0; t < n_; ++t) {
      double all = S::zero();
      for (int a = 0; a < symbols_; ++a) all = S::plus(all, next(t, a));
      const double one = next(t, word_[t]);
      result.push_back(one == S::zero() ? kMinusInfinity : S::log_of(one) - S::log_of(all));
    }
    return result;
  }

 private:
  // R[A,i,end] at index `end`, for A as it appears on a right side.
  double* context(int nonterminal, int i) {
    return contexts_.data() + (static_cast<std::size_t>(i) * form_.size + nonterminal) * columns_;
  }
  const double* mass_of(int nonterminal) const {
    return masses_.data() + nonterminal * mass_columns_;
  }
  double& next(int t, int symbol) { return next_[static_cast<std::size_t>(t) * symbols_ + symbol]; }
  static void add(double& to, double value) { to = S::plus(to, value); }

  // Adds what the contexts of the span i .. end give to M and to smaller spans.
  void expand(int i, int end) {
    // The second part of a pair lies behind the known symbols.
    for (std::size_t p = 0; p < form_.pairs.size() && end < longest_; ++p)
      add(context(form_.pairs[p].first, i)[end],
          S::dot(above_.data() + p * columns_ + end + 1, mass_of(form_.pairs[p].second) + 1,
                 longest_ - end));
    std::fill(before_.begin(), before_.end(), S::zero());
    bool any = false;
    for (int a = 0; a < form_.size; ++a) {
      const double value = context(a, i)[end];
      if (value == S::zero()) continue;
      any = true;
      for (const auto& entry : form_.closure[a])
        add(before_[entry.from], S::times(S::from_weight(entry.weight), value));
    }
    if (!any) return;
    const auto used = [&](const auto& rule) {
      return S::times(S::from_weight(rule.weight), before_[rule.left]);
    };
    const bool is_known = i + 1 < n_;  // symbol i, on a path to a later one
    const int symbol = word_[i];
    if (end == i + 1)
      for (const auto& r : form_.lexical) add(next(i, r.symbol), used(r));
    if (end == i + 2)
      for (const auto& r : form_.terminal_pairs) {
        add(next(i, r.first), used(r));
        if (is_known && r.first == symbol) add(next(i + 1, r.second), S::times(known_, used(r)));
      }
    if (end < i + 2) return;
    for (const auto& r : form_.terminal_left) {
      add(next(i, r.terminal), S::times(used(r), mass_of(r.nonterminal)[end - i - 1]));
      if (is_known && r.terminal == symbol)
        add(context(r.nonterminal, i + 1)[end], S::times(known_, used(r)));
    }
    for (const auto& r : form_.terminal_right) {
      add(context(r.nonterminal, i)[end - 1], used(r));
      if (end - 1 < n_)
        add(next(end - 1, r.terminal), S::times(used(r), inside_.at(r.nonterminal, i, end - 1)));
    }
    for (std::size_t p = 0; p < form_.pairs.size(); ++p)
      for (const auto& [left, weight] : form_.pairs[p].lefts)
        add(above_[p * columns_ + end], S::times(S::from_weight(weight), before_[left]));
  }

  const NormalForm& form_;
  const Word& word_;
  int n_, longest_, symbols_;
  std::size_t columns_, mass_columns_;
  double known_;
  Chart<S> inside_;
  std::vector<double> masses_;  // T
  // above_: for each pair, the weights of the contexts of its left sides over i .. end
  std::vector<double> contexts_, above_, before_, next_;
};

template <class S>
__attribute__((noinline)) std::vector<double> next_symbols(const LengthTable& table,
                                                           const std::vector<int>& lengths,
                                                           const Word& word, int scale) {
  return NextSymbols<S>(table, lengths, word, scale).run();
}

}  // namespace

std::vector<double> next_symbol_log_probabilities(const LengthTable& table,
                                                  const std::vector<int>& lengths,
                                                  const Word& word) {
  check_word("grammar.prefixes", table.grammar().alphabet(), word);
  if (word.empty() || static_cast<int>(word.size()) > lengths.back())
    return std::vector<double>(word.size(), kMinusInfinity);
  if (!table.logarithms()) {
    RangeWatch watch;
    auto result = next_symbols<Real>(table, lengths, word, chart_scale(table.grammar().alphabet()));
    if (!watch.left_range()) return result;
  }
  return next_symbols<Log>(table, lengths, word, 0);
}

}  // namespace pushdown
