// The rules of array_rules.h by the names of LibTorch's operators, and the code that their files
// share.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "array/array_rules.h"

namespace pushdown {

using ArrayRule = std::function<std::vector<ArrayRules::Value>(ArrayRules&)>;
using ArrayRuleTable = std::map<std::string, ArrayRule>;

// Elementwise functions, reductions along dimensions, and matrix products.
ArrayRuleTable array_function_rules();
// Operators that only move numbers.
ArrayRuleTable array_shape_rules();

inline std::size_t as_place(int dimension) { return static_cast<std::size_t>(dimension); }
[[noreturn]] inline void no_array_rule(std::string reason) {
  throw ArrayRules::Unknown{std::move(reason)};
}

}  // namespace pushdown
