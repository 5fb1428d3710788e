// Least non-negative solution of x = f(x) for systems of polynomials of degree at most two with
// non-negative coefficients, as they arise from a binarised grammar: the probability that a
// nonterminal derives epsilon, or that a derivation from it ends.
//
// The strongly connected parts of the system are solved in order of dependence. Each part is
// solved by Newton's method from zero, which converges monotonically to the least solution
// (Etessami and Yannakakis, "Recursive Markov chains, stochastic grammars, and monotone systems of
// nonlinear equations", JACM 2009). Where f(1) = 1 and the part is critical or subcritical, the
// least solution is exactly 1; this is tested first because Newton's method is slow and inexact in
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

// Throws std::invalid_argument when a part has no finite solution.
std::vector<double> least_fixed_point(int size, const std::vector<Monomial>& system);

// Strongly connected parts of a graph given as lists of successors; a part comes after every part
// that it reaches.
std::vector<std::vector<int>> strong_components(const std::vector<std::vector<int>>& successors);

// A square matrix by its rows: (column, entry) in order of the columns, others being 0.
using SparseMatrix = std::vector<std::vector<std::pair<int, double>>>;

SparseMatrix identity_matrix(int size);
// Sorts the entries of each row and sums those of the same column, in their order.
void add_up(SparseMatrix& matrix);

// Solves a x = b in place of b (row-major, a.size() x columns); the elimination pivots along the
// diagonal, which is stable for the M-matrices I - U used here. Each row of `a` needs an entry on
// the diagonal. Returns the smallest pivot: positive if and only if the spectral radius of U is
// below 1.
double solve_m_matrix(SparseMatrix a, std::vector<double>& b, int columns);

}  // namespace pushdown
