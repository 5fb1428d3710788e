// The kinds of stacks and controllers that a model can use: those of the registries, followed by
// those that a session has defined itself.
#pragma once
#include "controller/controller.h"
#include "stack/stack.h"

namespace pushdown {

struct Kinds {
  std::vector<StackKind> stacks = stack_kinds();
  std::vector<ControllerKind> controllers = controller_kinds();
};

// Returns those of the registries alone.
const Kinds& registered_kinds();

}  // namespace pushdown
