// The table of what each kernel takes, tests/gpu/instructions.txt.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace pushdown::gpu_simulate {

// Numbers of a kernel, those of a run for each step and sequence.
struct KernelCosts {
  int registers = 0, spilled_bytes = 0;
  double generic_shared = 0;  // generic loads and stores of shared memory, by warps
  double instructions = 0;    // of warps
};

struct CostTable {
  std::string compiler;                      // version of nvcc
  std::map<std::string, KernelCosts> costs;  // by "CASE KERNEL"
};

CostTable read_table(const std::string& path);
std::string text_of(const CostTable& table);
// Returns what is worse than in the table, and kernels that are only in one of them, as lines.
std::vector<std::string> growth(const CostTable& recorded, const CostTable& now);

}  // namespace pushdown::gpu_simulate
