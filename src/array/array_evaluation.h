// Evaluates array programs alone, for one sequence, to compare them with the functions they were
// recorded from.
#pragma once
#include "array/array_program.h"

namespace pushdown {

struct ArrayEvaluation {
  std::vector<double> output;
  std::vector<std::vector<double>> slopes;  // of the inputs, if an output slope was given
};

// Runs step t with these inputs, which must have as many numbers as the step reads.
ArrayEvaluation evaluate_array(const ArrayProgram& program, std::int64_t t,
                               const std::vector<std::vector<double>>& inputs,
                               const std::vector<double>& output_slope = {});

}  // namespace pushdown
