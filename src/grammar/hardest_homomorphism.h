// The homomorphism into the hardest context-free language (Greibach 1973; Dusell and Chiang 2020,
// appendix A).
//
// L0, over the symbols ( ) [ ] , ; $, holds the strings alpha_1 ; ... alpha_n ; whose pieces are
// alpha_i = x_i , y_i , z_i with x_i, z_i any strings of the symbols but ; such that
// y_1 ... y_n is $ followed by balanced brackets (possibly none).
//
// Let A_1, A_2, ... be the nonterminals, but for the start symbol S, of a grammar in Greibach
// normal form. With
//   push(A_i) = ( [^i (        pop(A_i) = ) ]^i )        pop(S) = $
// a rule is encoded as the work that it does on a stack of nonterminals still to be derived:
//   code(A -> b B_1 ... B_m) = pop(A) push(B_m) ... push(B_1)
// (B_1 is pushed last, since a leftmost derivation goes on with it), and
//   h(b) = , code(r_1) , ... , code(r_k) , ;      over all rules r with the terminal b.
// The commas at both ends make every code, and nothing else, a possible y_i. The brackets of a pop
// match those of a push only where both are of the same nonterminal, so the y_i of h(w) that are
// in $ D_2 are the leftmost derivations of w: for every w that is not empty,
//   w in L(G)  if and only if  h(w) in L0.
// A homomorphism takes the empty string to itself, which is not in L0.
#pragma once
#include <string>
#include <vector>

#include "grammar/grammar.h"

namespace pushdown {

// h of every symbol of the grammar's alphabet, as symbols of L0. A symbol that no derivation uses
// becomes ; alone, which is in no string of L0 where a piece is expected.
std::vector<std::vector<std::string>> hardest_homomorphism(const Grammar& grammar);

}  // namespace pushdown
