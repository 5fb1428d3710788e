// The tasks of Delétang et al. (2023), "Neural networks and the Chomsky hierarchy", as sources of
// pairs: a string and what is to be computed from it. The paper trains on sources of lengths 1 to
// 40 and measures the accuracy of symbols on lengths 41 to 500.
//
//   regular        even_pairs, parity_check, cycle_navigation, modular_arithmetic
//   context-free   modular_arithmetic_brackets, solve_equation, compare_occurrence, reverse_string,
//                  stack_manipulation
//   context-sensitive
//                  duplicate_string, missing_duplicate_string, odds_first, binary_addition,
//                  binary_multiplication, compute_sqrt, bucket_sort
//
// Each source has a length that is uniform over the interval, and the distribution that the paper's
// program gives for this length. modular_arithmetic has odd lengths alone: an even one is made one
// shorter. The targets of stack_manipulation, binary_addition and binary_multiplication have no
// fixed length; where the program pads them and marks their end, ours just end.
#pragma once
#include "task/transduction.h"

namespace pushdown {

struct ChomskyTask {
  std::string name;
  std::string level;  // "regular", "context-free" or "context-sensitive"
  bool ends = false;  // the model has to find out where the target ends
};
const std::vector<ChomskyTask>& chomsky_tasks();

// A row for each.
std::vector<PairKind> chomsky_pairs();

}  // namespace pushdown
