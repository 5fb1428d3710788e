// Where a kernel's instructions and cycles are: by class of instruction, and by line of the source.
#pragma once
#include <string>

#include "gpu/simulator/simulator.h"

namespace pushdown::gpu_simulator {

// Numbers are divided by `per`, such as steps times blocks.
std::string report_classes(const Statistics& statistics, double per);
// Returns the lines with most instructions. A line is the innermost one in a file whose name ends
// with `file`, so that functions of other files count for their callers there; empty: of any file.
std::string report_lines(const Kernel& kernel, const Statistics& statistics, double per,
                         const std::string& file, std::size_t most = 40);

}  // namespace pushdown::gpu_simulator
