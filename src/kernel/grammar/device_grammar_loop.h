// Inside weights of a string, computed by a team of threads (device_team.h). Definitions:
// device_grammar.h.
#pragma once
#include "kernel/device_team.h"
#include "kernel/grammar/device_grammar.h"

namespace pushdown::device {

// The semirings of grammar/semiring.h.
struct RealWeights {
  static constexpr bool kSums = true;  // addition is that of numbers
  PUSHDOWN_DEVICE static double zero() { return 0; }
  PUSHDOWN_DEVICE static double of(double weight) { return weight; }
  PUSHDOWN_DEVICE static double plus(double a, double b) { return a + b; }
  PUSHDOWN_DEVICE static double times(double a, double b) { return a * b; }
  PUSHDOWN_DEVICE static double log_of(double value) { return std::log(value); }
  // The products of numbers that are not lost are neither 0 nor infinite.
  PUSHDOWN_DEVICE static bool lost(double value) {
    return value != 0 && !(value >= 0x1p-500 && value <= 0x1p500);
  }
  // sum_k term(k), k = first, first + apart, .. below end
  template <class Term>
  PUSHDOWN_DEVICE static double sum(Count first, Count end, Count apart, const Term& term) {
    double total = 0;
    for (Count k = first; k < end; k += apart) total += term(k);
    return total;
  }
};

struct LogWeights {
  static constexpr bool kSums = false;
  PUSHDOWN_DEVICE static double zero() { return -HUGE_VAL; }
  PUSHDOWN_DEVICE static double of(double weight) { return std::log(weight); }
  PUSHDOWN_DEVICE static double plus(double a, double b) {
    const double high = a < b ? b : a, low = a < b ? a : b;
    return low == -HUGE_VAL ? high : high + std::log1p(std::exp(low - high));
  }
  PUSHDOWN_DEVICE static double times(double a, double b) { return a + b; }
  PUSHDOWN_DEVICE static double log_of(double value) { return value; }
  PUSHDOWN_DEVICE static bool lost(double) { return false; }
  template <class Term>
  PUSHDOWN_DEVICE static double sum(Count first, Count end, Count apart, const Term& term) {
    double largest = -HUGE_VAL;
    for (Count k = first; k < end; k += apart) {
      const double value = term(k);
      if (value > largest) largest = value;
    }
    if (largest == -HUGE_VAL) return largest;
    double total = 0;
    for (Count k = first; k < end; k += apart) total += std::exp(term(k) - largest);
    return largest + std::log(total);
  }
};

// Calls store(row, sum_{k < length} term(row, k)) for each row: by a thread or, if there are few
// rows, by a group, which cannot add logarithms.
template <class S, class Team, class Term, class Store>
PUSHDOWN_DEVICE void weight_sums(const Team& team, Count rows, Count length, const Term& term,
                                 const Store& store) {
  if (!S::kSums || rows >= team.size() || length < team.lanes()) {
    each(team, rows, [&](Count row) {
      store(row, S::sum(0, length, 1, [&](Count k) { return term(row, k); }));
    });
    return;
  }
  sums<double, Count>(
      team, rows, [&](Count) { return length; },
      [&](Count row) { return [&, row](Count k) { return term(row, k); }; }, store);
}

// sum_B K[A,B] before(B)
template <class S, class Before>
PUSHDOWN_DEVICE double closed(const DeviceGrammar& grammar, Count a, const Before& before) {
  double value = S::zero();
  for (Count k = grammar.closure_begin[a]; k < grammar.closure_begin[a + 1]; ++k) {
    const DeviceClosure& entry = grammar.closure[k];
    value = S::plus(value, S::times(S::of(entry.weight), before(entry.from)));
  }
  return value;
}

// Returns whether any thread of the team counted something; `marks`: one number per group.
template <class Team>
PUSHDOWN_DEVICE bool any_of(const Team& team, double counted, double* marks) {
  const double sum = team.group_sum(counted);
  if (team.lane() == 0) marks[team.group()] = sum;
  team.sync();
  double total = 0;
  for (Count group = 0; group < team.groups(); ++group) total += marks[group];
  team.sync();
  return total > 0;
}
inline constexpr Count kMostGroups = 128;

struct InsideLoop {
  const DeviceGrammar& grammar;
  const std::int32_t* word;
  Count n;
  double *chart, *pair_sums, *before, *marks;

  PUSHDOWN_HOST_DEVICE static Count size(const DeviceGrammar& grammar, Count n) {
    return grammar.size * (n * (n + 1) / 2) + (grammar.pair_count + grammar.size) * n + kMostGroups;
  }
  PUSHDOWN_DEVICE InsideLoop(const DeviceInside& work, Count string)
      : grammar(*work.grammar),
        word(work.symbols + work.begin[string]),
        n(work.begin[string + 1] - work.begin[string]),
        chart(work.memory + work.place[string]),
        pair_sums(chart + grammar.size * (n * (n + 1) / 2)),
        before(pair_sums + grammar.pair_count * n),
        marks(before + grammar.size * n) {}

  // W[A,i,l]; numbers of the same length and nonterminal are contiguous.
  PUSHDOWN_DEVICE double& at(Count a, Count l, Count i) const {
    return chart[a * (n * (n + 1) / 2) + (l - 1) * n - (l - 1) * (l - 2) / 2 + i];
  }

  template <class Team>
  PUSHDOWN_DEVICE double log_weight(const Team& team) const {
    if (n == 0) return std::log(grammar.empty_mass);
    if (!grammar.logarithms && !fill<RealWeights>(team, grammar.scale)) {
      const double scaled = at(grammar.start, n, 0);
      return std::log(scaled) - static_cast<double>(n * grammar.scale) * 0.6931471805599453094;
    }
    fill<LogWeights>(team, 0);
    return at(grammar.start, n, 0);
  }

  // Returns whether a number was lost.
  template <class S, class Team>
  PUSHDOWN_DEVICE bool fill(const Team& team, int scale) const {
    const double unit = S::of(std::ldexp(1.0, scale));
    double lost = 0;
    for (Count l = 1; l <= n; ++l) {
      const Count spans = n - l + 1;
      weight_sums<S>(
          team, l == 1 ? 0 : grammar.pair_count * spans, l - 1,
          [&](Count item, Count k) {
            const Count p = item / spans, i = item - p * spans;
            return S::times(at(grammar.pairs[2 * p], k + 1, i),
                            at(grammar.pairs[2 * p + 1], l - k - 1, i + k + 1));
          },
          [&](Count item, double sum) {
            if (S::lost(sum)) lost += 1;
            pair_sums[item] = sum;
          });
      team.sync();
      each(team, grammar.size * spans, [&](Count item) {
        const Count a = item / spans, i = item - a * spans;
        double sum = S::zero();
        for (Count r = grammar.rule_begin[a]; r < grammar.rule_begin[a + 1]; ++r)
          sum = S::plus(sum, of_rule<S>(grammar.rules[r], l, i, spans, unit));
        if (S::lost(sum)) lost += 1;
        before[item] = sum;
      });
      team.sync();
      each(team, grammar.size * spans, [&](Count item) {
        const Count a = item / spans, i = item - a * spans;
        const double value =
            closed<S>(grammar, a, [&](Count from) { return before[from * spans + i]; });
        if (S::lost(value)) lost += 1;
        at(a, l, i) = value;
      });
      team.sync();
    }
    return any_of(team, lost, marks);
  }

  // Returns the contribution of a rule to the span of l symbols from i on.
  template <class S>
  PUSHDOWN_DEVICE double of_rule(const DeviceRule& rule, Count l, Count i, Count spans,
                                 double unit) const {
    double value = S::zero();
    switch (rule.kind) {
      case DeviceRuleKind::lexical:
        if (l == 1 && word[i] == rule.first) value = unit;
        break;
      case DeviceRuleKind::terminal_pair:
        if (l == 2 && word[i] == rule.first && word[i + 1] == rule.second)
          value = S::times(unit, unit);
        break;
      case DeviceRuleKind::terminal_left:
        if (l > 1 && word[i] == rule.first) value = S::times(unit, at(rule.second, l - 1, i + 1));
        break;
      case DeviceRuleKind::terminal_right:
        if (l > 1 && word[i + l - 1] == rule.first)
          value = S::times(unit, at(rule.second, l - 1, i));
        break;
      case DeviceRuleKind::pair:
        if (l > 1) value = pair_sums[rule.first * spans + i];
        break;
    }
    return S::times(S::of(rule.weight), value);
  }
};

}  // namespace pushdown::device
