// The list of objectives.
#include "train/learning/objective.h"

namespace pushdown {

PUSHDOWN_REGISTRY(ObjectiveKind, objective_kinds, stepwise_objective(), final_objective(),
                  joint_objective(), state_and_length_objective())

Json resolve_objective(const Json& options, const std::vector<ObjectiveKind>& kinds) {
  return with_defaults("objective", kinds, named_kind(options));
}

ObjectivePtr make_objective(const Json& options, const std::vector<ObjectiveKind>& kinds) {
  const auto [row, resolved] = resolve_kind("objective", kinds, named_kind(options));
  return row.make(resolved);
}

}  // namespace pushdown
