// Least non-negative solution of x = f(x) for systems of polynomials of degree at most two with
// non-negative coefficients. Such systems arise from a binarised grammar: x is the probability that
// a nonterminal derives epsilon, or that a derivation from it terminates.
//
// The strongly connected components of the system are solved in order of dependence. Each component
// is solved by Newton's method from zero, which converges monotonically to the least solution
// (Etessami and Yannakakis, "Recursive Markov chains, stochastic grammars, and monotone systems of
// nonlinear equations", JACM 2009). If f(1) = 1 and the component is critical or subcritical, the
// least solution is exactly 1. This is tested first because Newton's method is slow and inexact in
// the critical case.
#pragma once
#include <utility>
#include <vector>

namespace pushdown {

// coefficient * product of x over `variables` (none, one or two), added to x[left].
struct Monomial {
  int left = 0;
  double coefficient = 0;
  int variables[2] = {-1, -1};  // -1: none
};

// Throws std::invalid_argument if a component has no finite solution. `rest`: for each variable, 1
// less the sum of its coefficients; it is known without rounding where the coefficients are the
// weights of rules. With it, loops of unary rules with a probability near 1 lose no digits.
std::vector<double> least_fixed_point(int size, const std::vector<Monomial>& system,
                                      const std::vector<double>& rest = {});

// Returns the strongly connected components of a graph given as lists of successors. A component
// comes after every component that it can reach.
std::vector<std::vector<int>> strong_components(const std::vector<std::vector<int>>& successors);

// A square matrix by rows: (column, entry) sorted by column; missing entries are 0.
using SparseMatrix = std::vector<std::vector<std::pair<int, double>>>;

SparseMatrix identity_matrix(int size);
// Sorts the entries of each row and sums those of the same column, in their order.
void add_up(SparseMatrix& matrix);

// Solves a x = b in place in b (row-major, a.size() x columns). The elimination pivots along the
// diagonal, which is stable for the M-matrices I - U used here. Each row of `a` needs an entry on
// the diagonal. Returns the smallest pivot, which is positive if and only if the spectral radius of
// U is below 1. `sums`: the sums of the rows of `a`, if they are known without cancellation. Small
// pivots are then computed from them instead of by subtraction, so that they are exact up to
// rounding (Grassmann, Taksar and Heyman 1985; Alfa, Xue and Ye 2002).
double solve_m_matrix(SparseMatrix a, std::vector<double>& b, int columns,
                      std::vector<double> sums = {});

}  // namespace pushdown
