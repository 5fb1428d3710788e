// The tasks of Delétang et al. (2023), "Neural networks and the Chomsky hierarchy", as sources of
// pairs: a string and the result to be computed from it. The paper trains on sources of lengths 1
// to 40 and measures the accuracy per symbol on lengths 41 to 500.
//
//   regular        even_pairs, parity_check, cycle_navigation, modular_arithmetic
//   context-free   modular_arithmetic_brackets, solve_equation, compare_occurrence, reverse_string,
//                  stack_manipulation
//   context-sensitive
//                  duplicate_string, missing_duplicate_string, odds_first, binary_addition,
//                  binary_multiplication, compute_sqrt, bucket_sort
//
// The length of a source is uniform over the interval; given the length, sources follow the
// distribution of the paper's program. With `one_length`, all pairs of one draw have the same
// length, as in every update of the paper. modular_arithmetic has only odd lengths: an even one is
// reduced by one. The targets of stack_manipulation, binary_addition and binary_multiplication have
// no fixed length; the paper's program pads them and marks their end, here they simply end.
#pragma once
#include "task/transduction.h"

namespace pushdown {

struct ChomskyTask {
  std::string name;
  std::string level;  // "regular", "context-free" or "context-sensitive"
  bool ends = false;  // the model must determine where the target ends
};
const std::vector<ChomskyTask>& chomsky_tasks();

// Returns one row per task.
std::vector<PairKind> chomsky_pairs();

}  // namespace pushdown
