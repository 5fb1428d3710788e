// The homomorphism into the hardest context-free language (Greibach 1973; DuSell and Chiang 2020,
// appendix A).
//
// L0, over the symbols ( ) [ ] , ; $, is the set of strings alpha_1 ; ... alpha_n ; where each
// piece is alpha_i = x_i , y_i , z_i, x_i and z_i are any strings of symbols except ;, and y_1 ...
// y_n is $ followed by balanced brackets (possibly none).
//
// Let A_1, A_2, ... be the nonterminals, except for the start symbol S, of a grammar in Greibach
// normal form. With
//   push(A_i) = ( [^i (        pop(A_i) = ) ]^i )        pop(S) = $
// a rule is encoded as its operations on a stack of nonterminals that are still to be derived:
//   code(A -> b B_1 ... B_m) = pop(A) push(B_m) ... push(B_1)
// (B_1 is pushed last because a leftmost derivation continues with it), and
//   h(b) = , code(r_1) , ... , code(r_k) , ;      over all rules r with the terminal b.
// Because of the commas at both ends, the possible y_i are exactly the codes. The brackets of a pop
// match those of a push only if both belong to the same nonterminal, so the y_i of h(w) that are in
// $ D_2 are the leftmost derivations of w. For every non-empty w,
//   w in L(G)  if and only if  h(w) in L0.
// A homomorphism maps the empty string to itself, which is not in L0.
#pragma once
#include <string>
#include <vector>

#include "grammar/grammar.h"

namespace pushdown {

// Returns h of every symbol of the grammar's alphabet, as symbols of L0. A symbol that no
// derivation uses becomes ; alone, which cannot be a piece of a string of L0.
std::vector<std::vector<std::string>> hardest_homomorphism(const Grammar& grammar);

}  // namespace pushdown
