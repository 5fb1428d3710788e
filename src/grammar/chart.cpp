#include "grammar/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>

#include "base/memory.h"
#include "base/stopping.h"

namespace pushdown {
namespace {

// Bounds of the non-zero entries of a row or column.
struct Stretch {
  int first = 1 << 30, last = -1;
  void add(int k) {
    first = std::min(first, k);
    last = std::max(last, k);
  }
};

}  // namespace

std::size_t chart_entries(int length, int size) {
  const double places = static_cast<double>(length) + 1;
  check_memory("grammar.chart", fmt::format("the chart of a string of {} symbols", length),
               2 * sizeof(double) * places * places * size);
  const auto columns = static_cast<std::size_t>(length) + 1;
  return columns * columns * static_cast<std::size_t>(size);
}

ChartCells::ChartCells(std::size_t count, double value)
    : cells_(static_cast<double*>(std::calloc(count, sizeof(double)))) {
  if (cells_ == nullptr) throw std::bad_alloc();
  if (value == 0) return;
  constexpr std::size_t kBlock = 1 << 20;
  const StopCheck stop;
  for (std::size_t first = 0; first < count; first += kBlock) {
    stop();
    std::fill_n(cells_.get() + first, std::min(kBlock, count - first), value);
  }
}

void ChartCells::Free::operator()(double* cells) const { std::free(cells); }

template <class S>
ChartRules<S>::ChartRules(const NormalForm& form, int symbols, int scale)
    : size(form.size),
      start(form.start),
      lexical(symbols),
      terminal_left(symbols),
      terminal_right(symbols),
      terminal_pairs(symbols),
      closed(form.closed) {
  const double factor = std::ldexp(1.0, scale);
  const auto scaled = [&](double weight) { return S::from_weight(weight * factor); };
  for (const auto& r : form.lexical) lexical[r.symbol].push_back({r.left, -1, scaled(r.weight)});
  for (const auto& r : form.terminal_left)
    terminal_left[r.terminal].push_back({r.left, r.nonterminal, scaled(r.weight)});
  for (const auto& r : form.terminal_right)
    terminal_right[r.terminal].push_back({r.left, r.nonterminal, scaled(r.weight)});
  for (const auto& r : form.terminal_pairs)
    terminal_pairs[r.first].push_back({r.left, r.first, r.second, scaled(r.weight * factor)});
  for (const auto& pair : form.pairs) {
    pairs.push_back({pair.first, pair.second, {}});
    for (const auto& [left, weight] : pair.lefts)
      pairs.back().lefts.emplace_back(left, S::from_weight(weight));
  }
  closure = form.closure;
  for (auto& row : closure)
    for (auto& entry : row) entry.weight = S::from_weight(entry.weight);
}

template <class S>
__attribute__((noinline)) Chart<S> inside_chart(const ChartRules<S>& rules, const Word& word) {
  const int n = static_cast<int>(word.size());
  Chart<S> chart(n, rules.size);
  std::vector<Stretch> row_bounds(static_cast<std::size_t>(n) * rules.size);
  std::vector<double> sum(rules.size), closed(rules.size);
  const StopCheck stop;
  for (int j = 1; j <= n; ++j) {
    std::vector<Stretch> column_bounds(rules.size);
    for (int i = j - 1; i >= 0; --i) {
      stop();
      std::fill(sum.begin(), sum.end(), S::zero());
      const auto add = [&](int left, double value) { sum[left] = S::plus(sum[left], value); };
      auto* bounds = row_bounds.data() + static_cast<std::size_t>(i) * rules.size;
      if (j == i + 1) {
        for (const auto& r : rules.lexical[word[i]]) add(r.left, r.weight);
      } else {
        if (j == i + 2)
          for (const auto& r : rules.terminal_pairs[word[i]])
            if (r.second == word[i + 1]) add(r.left, r.weight);
        for (const auto& r : rules.terminal_left[word[i]])
          add(r.left, S::times(r.weight, chart.at(r.nonterminal, i + 1, j)));
        for (const auto& r : rules.terminal_right[word[j - 1]])
          add(r.left, S::times(r.weight, chart.at(r.nonterminal, i, j - 1)));
        for (const auto& pair : rules.pairs) {
          const int first = std::max(bounds[pair.first].first, column_bounds[pair.second].first);
          const int last = std::min(bounds[pair.first].last, column_bounds[pair.second].last);
          if (first > last) continue;
          const double total = S::dot(chart.row(pair.first, i) + first,
                                      chart.column(pair.second, j) + first, last - first + 1);
          if (total == S::zero()) continue;
          for (const auto& [left, weight] : pair.lefts) add(left, S::times(weight, total));
        }
      }
      for (const int a : rules.closed) {
        double value = S::zero();
        for (const auto& entry : rules.closure[a])
          value = S::plus(value, S::times(entry.weight, sum[entry.from]));
        closed[a] = value;
      }
      for (const int a : rules.closed) sum[a] = closed[a];
      for (int a = 0; a < rules.size; ++a) {
        if (sum[a] == S::zero()) continue;
        chart.set(a, i, j, sum[a]);
        bounds[a].add(j);
        column_bounds[a].add(i);
      }
    }
  }
  return chart;
}

template <class S>
__attribute__((noinline)) OutsideCharts<S> outside_charts(const ChartRules<S>& rules,
                                                          const Word& word,
                                                          const Chart<S>& inside) {
  const int n = static_cast<int>(word.size());
  // `after` accumulates contributions to left children by rows and contributions to right children
  // by columns. The weight of a cell is the sum of the two once all larger spans are done.
  OutsideCharts<S> outside{Chart<S>(n, rules.size), Chart<S>(n, rules.size)};
  auto& after = outside.after;
  after.row(rules.start, 0)[n] = S::from_weight(1.0);
  std::vector<double> before(rules.size);
  const auto add = [](double& to, double value) { to = S::plus(to, value); };
  const StopCheck stop;
  for (int length = n; length >= 1; --length) {
    for (int i = 0; i + length <= n; ++i) {
      stop();
      const int j = i + length;
      std::fill(before.begin(), before.end(), S::zero());
      bool any = false;
      for (int a = 0; a < rules.size; ++a) {
        const double value = S::plus(after.row(a, i)[j], after.column(a, j)[i]);
        after.set(a, i, j, value);
        if (value == S::zero()) continue;
        any = true;
        for (const auto& entry : rules.closure[a])
          add(before[entry.from], S::times(entry.weight, value));
      }
      if (!any) continue;
      for (int a = 0; a < rules.size; ++a) outside.before.set(a, i, j, before[a]);
      if (length == 1) continue;
      for (const auto& r : rules.terminal_left[word[i]])
        add(after.column(r.nonterminal, j)[i + 1], S::times(r.weight, before[r.left]));
      for (const auto& r : rules.terminal_right[word[j - 1]])
        add(after.row(r.nonterminal, i)[j - 1], S::times(r.weight, before[r.left]));
      for (const auto& pair : rules.pairs) {
        double above = S::zero();
        for (const auto& [left, weight] : pair.lefts) add(above, S::times(weight, before[left]));
        if (above == S::zero()) continue;
        for (int k = i + 1; k < j; ++k) {
          add(after.row(pair.first, i)[k], S::times(above, inside.column(pair.second, j)[k]));
          add(after.column(pair.second, j)[k], S::times(above, inside.row(pair.first, i)[k]));
        }
      }
    }
  }
  return outside;
}

template struct ChartRules<Real>;
template struct ChartRules<Log>;
template struct ChartRules<Best>;
template Chart<Real> inside_chart(const ChartRules<Real>&, const Word&);
template Chart<Log> inside_chart(const ChartRules<Log>&, const Word&);
template Chart<Best> inside_chart(const ChartRules<Best>&, const Word&);
template OutsideCharts<Real> outside_charts(const ChartRules<Real>&, const Word&,
                                            const Chart<Real>&);
template OutsideCharts<Log> outside_charts(const ChartRules<Log>&, const Word&, const Chart<Log>&);

}  // namespace pushdown
