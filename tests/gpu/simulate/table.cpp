#include "gpu/simulate/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace pushdown::gpu_simulate {
namespace {

constexpr const char* kHead =
    "# What the kernels of a step take, for each step and sequence: 12 symbols, 2 sequences, an "
    "LSTM of\n"
    "# 20 units. Written by `simulate check --update`; a test fails if a kernel becomes more "
    "expensive.\n"
    "# Generic: loads and stores of shared memory by generic addresses. Instructions are those of "
    "warps.\n";
constexpr double kTolerance = 1.03;
constexpr int kMostSpilled = 128;  // bytes, for kernels that the table does not have with more

}  // namespace

CostTable read_table(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("[simulate] cannot read " + path);
  CostTable table;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream words(line);
    std::string name, kernel;
    KernelCosts costs;
    if (line.empty() || line[0] == '#' || !(words >> name >> kernel)) continue;
    if (name == "nvcc") {
      table.compiler = kernel;
    } else if (name != "case") {
      if (!(words >> costs.registers >> costs.spilled_bytes >> costs.generic_shared >>
            costs.instructions))
        throw std::runtime_error(
            fmt::format("{}:{}: expected a case, a kernel and four numbers", path, number));
      table.costs[name + " " + kernel] = costs;
    }
  }
  return table;
}

std::string text_of(const CostTable& table) {
  std::string text = kHead + fmt::format("nvcc {}\n{:42} {:>9} {:>8} {:>9} {:>12}\n",
                                         table.compiler, "case           kernel", "registers",
                                         "spilled", "generic", "instructions");
  for (const auto& [name, costs] : table.costs) {
    const auto blank = name.find(' ');
    text += fmt::format("{:14} {:27} {:9} {:8} {:9.1f} {:12.1f}\n", name.substr(0, blank),
                        name.substr(blank + 1), costs.registers, costs.spilled_bytes,
                        costs.generic_shared, costs.instructions);
  }
  return text;
}

std::vector<std::string> growth(const CostTable& recorded, const CostTable& now) {
  std::vector<std::string> worse;
  const auto compare = [&](const std::string& name, const char* what, double before, double after,
                           double most) {
    if (after > most)
      worse.push_back(fmt::format("{}: {} {:g}, recorded {:g}", name, what, after, before));
  };
  for (const auto& [name, own] : now.costs) {
    const auto found = recorded.costs.find(name);
    if (found == recorded.costs.end()) {
      worse.push_back(name + ": not in the table");
      continue;
    }
    const KernelCosts& old = found->second;
    compare(name, "registers", old.registers, own.registers, kTolerance * old.registers);
    compare(name, "spilled bytes", old.spilled_bytes, own.spilled_bytes,
            std::max(kMostSpilled, old.spilled_bytes));
    compare(name, "generic accesses of shared memory", old.generic_shared, own.generic_shared,
            kTolerance * old.generic_shared);
    compare(name, "instructions", old.instructions, own.instructions,
            kTolerance * old.instructions);
  }
  for (const auto& [name, old] : recorded.costs)
    if (now.costs.count(name) == 0) worse.push_back(name + ": only in the table");
  return worse;
}

}  // namespace pushdown::gpu_simulate
