#include "grammar/fixed_point.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/stopping.h"

namespace pushdown {
namespace {

double product_of(const Monomial& term, const std::vector<double>& x) {
  double value = term.coefficient;
  for (const int variable : term.variables)
    if (variable >= 0) value *= x[variable];
  return value;
}

// Pivots below this one lose digits, as those of unary rules that almost form a loop.
constexpr double kSmallPivot = 1e-6;

// One component of the system, with its unknowns numbered 0 .. size-1.
struct Part {
  const std::vector<int>& members;
  const std::vector<int>& position;  // of a variable inside the component, -1 outside
  const std::vector<double>& rest;   // of all variables, or empty
  std::vector<const Monomial*> terms;

  bool is_complete() const { return !rest.empty(); }
  int size() const { return static_cast<int>(members.size()); }

  std::vector<double> residual(const std::vector<double>& x) const {
    std::vector<double> value(members.size());
    for (const auto* term : terms) value[position[term->left]] += product_of(*term, x);
    for (int i = 0; i < size(); ++i) value[i] -= x[members[i]];
    return value;
  }

  // The same as the sum of c (product - x) over all terms, which loses no digits if a term is
  // almost x itself. The rest is a term whose product is 0.
  std::vector<double> complete_residual(const std::vector<double>& x) const {
    std::vector<double> value(members.size());
    for (int i = 0; i < size(); ++i) value[i] = -rest[members[i]] * x[members[i]];
    for (const auto* term : terms)
      value[position[term->left]] +=
          term->coefficient *
          (product_of({0, 1.0, {term->variables[0], term->variables[1]}}, x) - x[term->left]);
    return value;
  }

  // The sums of the rows of I - f'(x), in the same way.
  std::vector<double> row_sums(const std::vector<double>& x) const {
    if (!is_complete()) return {};
    std::vector<double> sums(members.size());
    for (int i = 0; i < size(); ++i) sums[i] = rest[members[i]];
    for (const auto* term : terms) {
      double share = 1;
      for (int k = 0; k < 2; ++k) {
        const int variable = term->variables[k], other = term->variables[1 - k];
        if (variable >= 0 && position[variable] >= 0) share -= other >= 0 ? x[other] : 1.0;
      }
      sums[position[term->left]] += term->coefficient * share;
    }
    return sums;
  }

  // For each row, the coefficients of the terms that leave the component or branch, and the rest: 1
  // less the unary rules among the members.
  std::vector<double> scales() const {
    std::vector<double> values(members.size());
    for (int i = 0; i < size(); ++i) values[i] = rest[members[i]];
    for (const auto* term : terms) {
      const auto& [a, b] = term->variables;
      const bool unary = (a < 0) != (b < 0) && position[std::max(a, b)] >= 0;
      if (!unary) values[position[term->left]] += term->coefficient;
    }
    return values;
  }

  // I - f'(x), size x size.
  SparseMatrix negated_jacobian(const std::vector<double>& x) const {
    SparseMatrix matrix = identity_matrix(size());
    for (const auto* term : terms) {
      for (int k = 0; k < 2; ++k) {
        const int variable = term->variables[k];
        if (variable < 0 || position[variable] < 0) continue;
        const int other = term->variables[1 - k];
        matrix[position[term->left]].emplace_back(
            position[variable], -(term->coefficient * (other >= 0 ? x[other] : 1.0)));
      }
    }
    add_up(matrix);
    return matrix;
  }

  // Returns whether the component receives any input from outside or a constant; if not, zero is a
  // solution.
  bool is_fed(const std::vector<double>& x) const {
    return std::any_of(terms.begin(), terms.end(), [&](const Monomial* term) {
      double value = term->coefficient;
      for (const int variable : term->variables)
        if (variable >= 0) value *= position[variable] >= 0 ? 0.0 : x[variable];
      return value > 0;
    });
  }

  void assign(std::vector<double>& x, double value) const {
    for (const int member : members) x[member] = value;
  }
};

bool solved_by_one(const Part& part, std::vector<double>& x) {
  part.assign(x, 1.0);
  const bool complete = part.is_complete();
  const auto scales = complete ? part.scales() : std::vector<double>(part.members.size(), 1.0);
  const auto residual = complete ? part.complete_residual(x) : part.residual(x);
  const double tolerance = complete ? 1e-15 : 1e-13;
  for (int i = 0; i < part.size(); ++i)
    if (std::fabs(residual[i]) > tolerance * scales[i]) return false;
  std::vector<double> nothing;
  return solve_m_matrix(part.negated_jacobian(x), nothing, 0, part.row_sums(x)) >
         -1e-12 * *std::max_element(scales.begin(), scales.end());
}

void newton(const Part& part, std::vector<double>& x) {
  part.assign(x, 0.0);
  for (int step = 0; step < 200; ++step) {
    auto change = part.residual(x);
    double pivot = solve_m_matrix(part.negated_jacobian(x), change, 1, part.row_sums(x));
    if (pivot < kSmallPivot && part.is_complete()) {
      change = part.complete_residual(x);
      pivot = solve_m_matrix(part.negated_jacobian(x), change, 1, part.row_sums(x));
    }
    if (pivot <= 0) break;
    double largest = 0;
    for (int i = 0; i < part.size(); ++i) {
      auto& value = x[part.members[i]];
      check(std::isfinite(change[i]), "grammar", "the masses of the nonterminals diverge");
      value = std::max(0.0, value + change[i]);
      largest = std::max(largest, std::fabs(change[i]) / std::max(value, 1e-300));
    }
    if (largest < 1e-16) break;
  }
  // A few plain iterations remove the rounding error of the linear solver.
  for (int step = 0; step < 4; ++step) {
    const auto change = part.residual(x);
    for (int i = 0; i < part.size(); ++i) x[part.members[i]] += change[i];
  }
}

}  // namespace

SparseMatrix identity_matrix(int size) {
  SparseMatrix matrix(size);
  for (int i = 0; i < size; ++i) matrix[i].emplace_back(i, 1.0);
  return matrix;
}

void add_up(SparseMatrix& matrix) {
  for (auto& row : matrix) {
    if (row.empty()) continue;
    std::stable_sort(row.begin(), row.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    auto last = row.begin();
    for (auto entry = row.begin() + 1; entry != row.end(); ++entry)
      if (entry->first == last->first)
        last->second += entry->second;
      else
        *++last = *entry;
    row.erase(last + 1, row.end());
  }
}

double solve_m_matrix(SparseMatrix a, std::vector<double>& b, int columns,
                      std::vector<double> sums) {
  const int size = static_cast<int>(a.size());
  const auto row_of_b = [&](int i) { return b.data() + static_cast<std::size_t>(i) * columns; };
  double smallest = std::numeric_limits<double>::infinity();
  // For each column, the rows below the diagonal that have an entry there. Elimination adds rows.
  std::vector<std::vector<int>> below(a.size());
  for (int i = 0; i < size; ++i)
    for (const auto& [column, entry] : a[i])
      if (column < i) below[column].push_back(i);
  std::vector<double> pivots(a.size());
  std::vector<std::pair<int, double>> sum;
  const StopCheck stop;
  for (int p = 0; p < size; ++p) {
    // Earlier columns were eliminated, so the row begins with its diagonal.
    double pivot = a[p].empty() || a[p].front().first != p ? 0.0 : a[p].front().second;
    if (!sums.empty() && pivot < kSmallPivot) {
      pivot = sums[p];
      for (const auto& [column, entry] : a[p])
        if (column > p) pivot -= entry;
    }
    pivots[p] = pivot;
    smallest = std::min(smallest, pivot);
    if (std::fabs(pivot) < 1e-300) return std::min(smallest, 0.0);
    for (const int i : below[p]) {
      stop();
      const double factor = a[i].front().second / pivot;
      sum.clear();
      auto mine = a[i].begin() + 1;
      for (auto other = a[p].begin() + 1; other != a[p].end() && factor != 0; ++other) {
        for (; mine != a[i].end() && mine->first < other->first; ++mine) sum.push_back(*mine);
        if (mine != a[i].end() && mine->first == other->first) {
          sum.emplace_back(mine->first, mine->second - factor * other->second);
          ++mine;
        } else {
          sum.emplace_back(other->first, -(factor * other->second));
          if (other->first < i) below[other->first].push_back(i);
        }
      }
      sum.insert(sum.end(), mine, a[i].end());
      a[i].assign(sum.begin(), sum.end());
      if (!sums.empty()) sums[i] -= factor * sums[p];
      if (factor != 0)
        for (int j = 0; j < columns; ++j) row_of_b(i)[j] -= factor * row_of_b(p)[j];
    }
  }
  for (int p = size - 1; p >= 0; --p) {
    stop();
    double* row = row_of_b(p);
    for (const auto& [k, entry] : a[p])
      for (int j = 0; j < columns && k > p; ++j) row[j] -= entry * row_of_b(k)[j];
    for (int j = 0; j < columns; ++j) row[j] /= pivots[p];
  }
  return smallest;
}

std::vector<std::vector<int>> strong_components(const std::vector<std::vector<int>>& successors) {
  const int size = static_cast<int>(successors.size());
  std::vector<int> index(size, -1), low(size, 0), stack;
  std::vector<char> on_stack(size, 0);
  std::vector<std::vector<int>> parts;
  int next = 0;
  struct Frame {
    int node;
    std::size_t edge;
  };
  // Tarjan's algorithm with an explicit stack: a grammar may be deep.
  for (int root = 0; root < size; ++root) {
    if (index[root] >= 0) continue;
    std::vector<Frame> frames{{root, 0}};
    while (!frames.empty()) {
      const int node = frames.back().node;
      if (frames.back().edge == 0) {
        index[node] = low[node] = next++;
        stack.push_back(node);
        on_stack[node] = 1;
      }
      if (frames.back().edge < successors[node].size()) {
        const int to = successors[node][frames.back().edge++];
        if (index[to] < 0)
          frames.push_back({to, 0});
        else if (on_stack[to])
          low[node] = std::min(low[node], index[to]);
        continue;
      }
      if (low[node] == index[node]) {
        std::vector<int> part;
        for (int member = -1; member != node;) {
          member = stack.back();
          stack.pop_back();
          on_stack[member] = 0;
          part.push_back(member);
        }
        parts.push_back(std::move(part));
      }
      frames.pop_back();
      if (!frames.empty()) low[frames.back().node] = std::min(low[frames.back().node], low[node]);
    }
  }
  return parts;
}

std::vector<double> least_fixed_point(int size, const std::vector<Monomial>& system,
                                      const std::vector<double>& rest) {
  std::vector<std::vector<int>> successors(size);
  std::vector<std::vector<const Monomial*>> terms(size);
  for (const auto& term : system) {
    if (term.coefficient == 0) continue;
    terms[term.left].push_back(&term);
    for (const int variable : term.variables)
      if (variable >= 0) successors[term.left].push_back(variable);
  }
  std::vector<double> x(size, 0.0);
  std::vector<int> position(size, -1);
  const StopCheck stop;
  for (const auto& members : strong_components(successors)) {
    stop();
    Part part{members, position, rest, {}};
    for (std::size_t i = 0; i < members.size(); ++i) {
      position[members[i]] = static_cast<int>(i);
      part.terms.insert(part.terms.end(), terms[members[i]].begin(), terms[members[i]].end());
    }
    if (part.is_fed(x) && !solved_by_one(part, x)) newton(part, x);
    for (const int member : members) position[member] = -1;
  }
  return x;
}

}  // namespace pushdown
