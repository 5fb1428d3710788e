// Makes the nodes of a step program from a graph of arrays: products with parameters, functions of
// whole vectors, parts and joined vectors become operations of the step program, and everything
// else array programs.
#pragma once
#include <variant>

#include "array/array_graph.h"
#include "recurrence/step_trace.h"

namespace pushdown {

// An input of a graph: a vector of the step, or a parameter, contiguous.
using ArrayInput = std::variant<Traced, Tensor>;

// The numbers of a parameter as a vector.
Tensor flat_parameter(const Tensor& parameter);

// The vectors that the nodes `results` stand for.
std::vector<Traced> lower_arrays(StepTrace& trace, const ArrayGraph& graph,
                                 const std::vector<int>& results,
                                 const std::vector<ArrayInput>& inputs,
                                 const std::vector<std::string>& names);

}  // namespace pushdown
