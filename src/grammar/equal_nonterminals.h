// Nonterminals of a grammar in Greibach normal form that have the same rules, and so give every
// string the same weight: the coarsest partition in which the rules of two nonterminals of a class
// agree in their terminals, the classes of their right sides and their weights (bisimulation).
#pragma once
#include "grammar/greibach.h"

namespace pushdown {

// Replaces all nonterminals of a class by one, and its equal rules by one of their total weight.
// Weights count as equal up to 12 digits. A start symbol that also derives the empty string stays
// apart.
void merge_equal_nonterminals(GreibachForm& form);

}  // namespace pushdown
