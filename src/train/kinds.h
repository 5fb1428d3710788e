// The kinds that training can use: those of the registries, followed by those that a session has
// defined itself.
#pragma once
#include "model/kinds.h"
#include "train/learning/objective.h"

namespace pushdown {

struct TrainingKinds : Kinds {
  std::vector<ObjectiveKind> objectives = objective_kinds();
};

}  // namespace pushdown
