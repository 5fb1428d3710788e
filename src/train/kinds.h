// The kinds that a training can be made of: those of the registries, and behind them those that a
// session has defined itself.
#pragma once
#include "model/kinds.h"
#include "train/objective.h"

namespace pushdown {

struct TrainingKinds : Kinds {
  std::vector<ObjectiveKind> objectives = objective_kinds();
};

}  // namespace pushdown
