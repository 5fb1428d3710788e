// The list of controllers.
#include "controller/kinds.h"

namespace pushdown {

const std::vector<ControllerKind>& controller_kinds() {
#define PUSHDOWN_ROW(name) name(),
  static const std::vector<ControllerKind> kinds{PUSHDOWN_CONTROLLER_KINDS(PUSHDOWN_ROW)};
#undef PUSHDOWN_ROW
  return kinds;
}

ControllerPtr make_controller(const Json& options, const ModuleContext& context,
                              const std::vector<ControllerKind>& kinds) {
  const auto [row, resolved] = resolve_kind("controller", kinds, options);
  return row.make(resolved, context);
}

}  // namespace pushdown
