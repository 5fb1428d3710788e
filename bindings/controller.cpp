// pd.controller: the recurrent controllers for models.
#include "controller/controller.h"

#include "bindings/binder/kinds.h"
#include "bindings/contract.h"
#include "bindings/define/definition.h"

namespace pushdown {
namespace controller_module {

std::vector<std::string> kind_names(lua_State* L) {
  return row_names(session_kinds(L).controllers);
}

std::string describe_kind(lua_State* L, const std::string& kind) {
  return description_of("controller.describe", session_kinds(L).controllers, kind,
                        origin_text(L, "controller", kind));
}

}  // namespace controller_module

void bind_controller(lua_State* L) {
  using namespace controller_module;
  Module(L, "controller",
         "Recurrent controllers: simple, gated, multiplicative and second-order cells.")
      .def<&kind_names>("kinds() -> table  Returns the names of the controllers.")
      .def<&describe_kind>("describe(kind) -> string  Describes a controller and its options.")
      .texts<&kind_names>("a controller", "controller")
      .def<&define_controller>(
          "define{options} -> string  Makes a kind of controller from Lua functions and returns "
          "its name; see docs/extending.md.")
      .def<&check_controller>(
          "check(kind or {options}) -> Contract  Runs the contract tests on a controller: shapes, "
          "gradients, batches, pieces, options.");
}

}  // namespace pushdown
