// The probabilities of the next symbol in strings whose length is restricted, for models that never
// predict the end of a string. Under the distribution of a sampler (sampler.h),
//     p(w) = c(|w|) G(w),    c(l) = 1 / (|L| G(l)) for the lengths l in L,
// let M[t,a] be the probability of all strings that begin with w_1 .. w_t a. Given the symbols
// before it, and that the string goes on, symbol t + 1 has the probability
//     q_t = M[t,w_{t+1}] / sum_a M[t,a].
// No model without an end symbol has a higher expected log-probability than log q_0 + .. +
// log q_{n-1}: its probabilities of the symbols after a prefix sum to one.
//
// M comes from outside weights whose right side is not known: R[A,i,e] is the weight of all
// contexts of an A over the span i .. e of a string, where w_1 .. w_i is on its left and the
// symbols on its right, and the length, are summed over. With the masses T[A,l] of a length table
// and the inside weights of w, for A -> B C,
//     R[B,i,e'] += R[A,i,e] w T[C,e-e'],    R[C,j,e] += R[A,i,e] w inside[B,i,j],
// and A -> a over the span i .. i+1 gives M[i,a]. Time O(pairs n L (n + L)) for strings of length n
// and a longest length L.
#pragma once
#include <vector>

#include "grammar/length_table.h"

namespace pushdown {

// Returns log q_0 .. log q_{n-1}. `lengths`: L, ascending, at most the table's longest. -infinity
// if the sampler cannot draw a string with these first symbols.
std::vector<double> next_symbol_log_probabilities(const LengthTable& table,
                                                  const std::vector<int>& lengths,
                                                  const Word& word);

}  // namespace pushdown
