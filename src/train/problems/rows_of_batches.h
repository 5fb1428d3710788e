// The rows of tables of parameters that batches use.
#pragma once
#include "train/optimizing/used_rows.h"
#include "train/problems/problem.h"

namespace pushdown {

// Returns the rows of the model's large tables (Network::symbol_tables) that these batches use.
// Leaves out tables that they use more than half of.
UsedRows rows_of_batches(const Problem& problem,
                         const std::vector<std::vector<std::int64_t>>& batches);

}  // namespace pushdown
