// Finds the gates of LSTM and GRU cells in a recorded step.
#pragma once
#include <vector>

#include "kernel/step/step_program.h"

namespace pushdown {

// Replaces the operations of each such cell by one or two for all gates (StepOp::lstm_cell,
// lstm_hidden, gru), which keep their numbers in registers and give the same results. `alive`, by
// node: whether the output depends on it; `after`: see StepProgram. Nodes that are then unneeded
// remain.
void fuse_gates(std::vector<StepNode>& nodes, const std::vector<StepTerm>& terms,
                const std::vector<int>& operands, const std::vector<char>& alive, int output,
                int after);

}  // namespace pushdown
