// Inside and outside weights of the spans of one string, over the normal form of a grammar
// (normal_form.h), in any semiring of semiring.h.
//
//   inside [A,i,j] = sum over derivations of w_i .. w_{j-1} from A              0 <= i < j <= n
//   outside[A,i,j] = sum over derivations of w_0 .. w_{i-1} A w_j .. w_{n-1} from the start
//
// Time O(n^3 pairs + n^2 rules), memory O(n^2 nonterminals). A chart stores every weight twice, by
// rows (fixed i, along j) and by columns (fixed j, along i). The sum over split points is then a
// dot product of two contiguous ranges, bounded by the first and last non-zero entry of each.
#pragma once
#include <memory>
#include <vector>

#include "grammar/normal_form.h"
#include "grammar/semiring.h"

namespace pushdown {

// The rules of a normal form with weights in semiring S, indexed by their terminal.
template <class S>
struct ChartRules {
  // In the semiring of reals, the weight of every terminal is multiplied by 2^scale.
  ChartRules(const NormalForm& form, int symbols, int scale);

  struct Unit {
    int left, nonterminal;
    double weight;
  };
  struct Pair {
    int first, second;
    std::vector<std::pair<int, double>> lefts;
  };
  int size, start;
  std::vector<std::vector<Unit>> lexical;                     // [terminal]; nonterminal unused
  std::vector<std::vector<Unit>> terminal_left;               // [terminal]
  std::vector<std::vector<Unit>> terminal_right;              // [terminal]
  std::vector<std::vector<TerminalPairRule>> terminal_pairs;  // [first terminal]
  std::vector<Pair> pairs;
  std::vector<std::vector<ClosureEntry>> closure;  // rows of K
  std::vector<int> closed;
};

// Returns the number of entries of one of the two tables of a chart. Throws std::runtime_error if
// there is too little memory for both.
std::size_t chart_entries(int length, int size);
// An array filled with one value. Its memory is committed as it is used, and filling it can be
// stopped.
class ChartCells {
 public:
  ChartCells(std::size_t count, double value);
  double* data() { return cells_.get(); }
  const double* data() const { return cells_.get(); }

 private:
  struct Free {
    void operator()(double* cells) const;
  };
  std::unique_ptr<double[], Free> cells_;
};

template <class S>
class Chart {
 public:
  Chart(int length, int size)
      : length_(length),
        size_(size),
        rows_(chart_entries(length, size), S::zero()),
        columns_(chart_entries(length, size), S::zero()) {}

  int length() const { return length_; }
  // row(A, i)[j] and column(A, j)[i] are the weight of A over the span i .. j.
  double* row(int a, int i) { return rows_.data() + offset(a, i); }
  const double* row(int a, int i) const { return rows_.data() + offset(a, i); }
  double* column(int a, int j) { return columns_.data() + offset(a, j); }
  const double* column(int a, int j) const { return columns_.data() + offset(a, j); }
  double at(int a, int i, int j) const { return row(a, i)[j]; }
  void set(int a, int i, int j, double value) { row(a, i)[j] = column(a, j)[i] = value; }

 private:
  std::size_t offset(int a, int i) const {
    return (static_cast<std::size_t>(i) * size_ + a) * (length_ + 1);
  }

  int length_, size_;
  ChartCells rows_, columns_;
};

// `word` must not be empty.
template <class S>
Chart<S> inside_chart(const ChartRules<S>& rules, const Word& word);

// Outside weights after the unary closure (A as it appears on a right side) and before it (A as the
// left side of a lexical or binary rule).
template <class S>
struct OutsideCharts {
  Chart<S> after, before;
};
template <class S>
OutsideCharts<S> outside_charts(const ChartRules<S>& rules, const Word& word,
                                const Chart<S>& inside);

}  // namespace pushdown
