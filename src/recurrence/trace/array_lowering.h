// Converts a graph of arrays to nodes of a step program. Products with parameters, functions of
// whole vectors, parts and joined vectors become operations of the step program; everything else
// becomes array programs.
#pragma once
#include <variant>

#include "array/array_graph.h"
#include "recurrence/trace/step_trace.h"

namespace pushdown {

// An input of a graph: a vector of the step, or a parameter, contiguous.
using ArrayInput = std::variant<Traced, Tensor>;

// Returns the numbers of a parameter as a vector.
Tensor flat_parameter(const Tensor& parameter);

// Returns the vectors of the nodes `results`.
std::vector<Traced> lower_arrays(StepTrace& trace, const ArrayGraph& graph,
                                 const std::vector<int>& results,
                                 const std::vector<ArrayInput>& inputs,
                                 const std::vector<std::string>& names);

}  // namespace pushdown
