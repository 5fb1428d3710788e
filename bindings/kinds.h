// What the modules of all registries offer: their kinds, and a description of each.
#pragma once
#include "base/registry.h"
#include "bindings/bind.h"

namespace pushdown {

// "lstm: Long short-term memory (...).\n  hidden  integer, default 20: ..."
template <class Row>
std::string describe_row(const Row& row, const std::vector<OptionSpec>& options,
                         const std::string& origin = "") {
  std::string text = row.name + ": " + row.doc + origin;
  for (const auto& spec : options) text += "\n  " + describe(spec);
  return text;
}

}  // namespace pushdown
