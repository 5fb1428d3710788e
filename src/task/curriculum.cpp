#include "task/curriculum.h"

#include <fmt/ranges.h>

#include "base/check.h"
#include "base/options.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "labelled.curriculum";

// Adds one pass for every `step`-th N up to `longest`, then `epochs` in random order.
void add_stage(const LabelledDataset& dataset, int stage, std::int64_t longest, std::int64_t step,
               std::int64_t epochs, std::vector<CurriculumPhase>& phases) {
  for (auto n = std::max<std::int64_t>(1, dataset.shortest()); n <= longest; n += step)
    phases.push_back({stage, n, false, 1, dataset.of_length(0, n)});
  phases.push_back({stage, longest, true, epochs, dataset.of_length(0, longest)});
}

}  // namespace

const std::vector<std::string>& curriculum_kinds() {
  static const std::vector<std::string> names{"sequential", "incremental", "two_stage"};
  return names;
}

const std::vector<std::string>& stage_ends() {
  static const std::vector<std::string> names{"epochs", "last_open", "converged"};
  return names;
}

std::vector<CurriculumPhase> curriculum(const LabelledDataset& dataset,
                                        const CurriculumOptions& options) {
  const auto& kinds = curriculum_kinds();
  check(std::find(kinds.begin(), kinds.end(), options.kind) != kinds.end(), kWhere,
        "kind must be one of {}, got '{}'", quoted_list(kinds), options.kind);
  const bool two = options.kind == "two_stage";
  auto epochs = options.epochs;
  if (epochs.empty())
    epochs = two ? std::vector<std::int64_t>{200, 350} : std::vector<std::int64_t>{350};
  check(epochs.size() == (two ? 2u : 1u), kWhere, "{} needs {} of epochs, got {}", options.kind,
        two ? "two numbers" : "one number", epochs.size());
  for (std::size_t i = 0; i < epochs.size(); ++i)
    check(epochs[i] > (i == 0 ? 0 : epochs[i - 1]), kWhere,
          "epochs must be positive and increasing, got {}", fmt::join(epochs, ", "));
  check(options.step >= 1, kWhere, "step must be at least 1, got {}", options.step);
  const auto& ends = stage_ends();
  check(std::find(ends.begin(), ends.end(), options.stage_end) != ends.end(), kWhere,
        "stage_end must be one of {}, got '{}'", quoted_list(ends), options.stage_end);
  const auto longest = dataset.longest();
  std::vector<CurriculumPhase> phases;
  if (options.kind == "sequential") {
    phases.push_back({1, longest, true, epochs[0], dataset.of_length(0, longest)});
  } else if (!two) {
    add_stage(dataset, 1, longest, options.step, epochs[0], phases);
  } else {
    check(options.threshold >= dataset.shortest(), kWhere,
          "threshold must be at least {}, the length of the shortest string, got {}",
          dataset.shortest(), options.threshold);
    add_stage(dataset, 1, std::min(options.threshold, longest), options.step, epochs[0], phases);
    add_stage(dataset, 2, longest, options.step, epochs[1] - epochs[0], phases);
  }
  for (auto& phase : phases)
    if (phase.random && (options.stage_end == "converged" ||
                         (options.stage_end == "last_open" && &phase == &phases.back())))
      phase.epochs = kNoEpochLimit;
  return phases;
}

}  // namespace pushdown
