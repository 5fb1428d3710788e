// pd.controller: the recurrent controllers that a model can be made with.
#include "controller/controller.h"

#include "bindings/kinds.h"
#include "bindings/modules.h"

namespace pushdown {
namespace {

std::vector<std::string> kinds() { return row_names(controller_kinds()); }

std::string describe_kind(const std::string& kind) {
  const auto& row = find_row("controller.describe", controller_kinds(), kind);
  return describe_row(row, row.options);
}

}  // namespace

void bind_controller(lua_State* L) {
  Module(L, "controller",
         "Recurrent controllers: simple, gated, multiplicative and second-order cells.")
      .def<&kinds>("kinds", "kinds() -> table  The names of the controllers.")
      .def<&describe_kind>("describe",
                           "describe(kind) -> string  What a controller is, and its options.");
}

}  // namespace pushdown
