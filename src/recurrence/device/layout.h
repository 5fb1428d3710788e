// Where the numbers that a step keeps lie on a device: those of one step and sequence are one
// record, and the records of a sequence follow each other.
#pragma once
#include "recurrence/program/step_needs.h"

namespace pushdown {

struct DeviceLayout {
  // By node: the offset in the record; -1: not there. Nodes that look into others have none.
  std::vector<std::int64_t> value, slope;
  std::int64_t values = 0, slopes = 0;  // sizes of the records
};
inline DeviceLayout device_layout(const TracedProgram& program, const StepNeeds& needs) {
  DeviceLayout layout;
  for (std::size_t n = 0; n < program.nodes.size(); ++n) {
    const StepNode& node = program.nodes[n];
    const StepOperation& row = row_of(node.op);
    // The values of a memory are contiguous.
    const bool computed = row.is_computed() && node.op != StepOp::memory;
    const auto take = [&](bool wanted, std::int64_t& size) {
      const auto place = wanted ? size : -1;
      if (wanted) size += node.size;
      return place;
    };
    layout.value.push_back(take(computed && needs.kept[n] != 0, layout.values));
    layout.slope.push_back(take(row.owns_rows() && needs.recorded[n] != 0, layout.slopes));
  }
  return layout;
}

}  // namespace pushdown
