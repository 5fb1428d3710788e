// The kinds of stacks and controllers that a model can be made of: those of the registries, and
// behind them those that a session has defined itself.
#pragma once
#include "controller/controller.h"
#include "stack/stack.h"

namespace pushdown {

struct Kinds {
  std::vector<StackKind> stacks = stack_kinds();
  std::vector<ControllerKind> controllers = controller_kinds();
};

// Those of the registries alone.
const Kinds& registered_kinds();

}  // namespace pushdown
