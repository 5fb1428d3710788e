#include "model/likelihoods_together.h"

#include "base/check.h"
#include "model/device_fused.h"

namespace pushdown {

DeviceRunnerPtr runner_of(const LanguageModel& model) {
  return model.fused(1) == nullptr ? nullptr
                                   : cuda_runner(model.parameters().front().second.device());
}

bool can_go_together(const LanguageModel& first, const LanguageModel& second) {
  const auto one = first.fused(1), other = second.fused(1);
  return one != nullptr && other != nullptr && same_form(*one, *other) &&
         first.end_symbol() == second.end_symbol();
}

Tensor log_probabilities_together(const std::vector<const LanguageModel*>& models,
                                  const std::vector<Tensor>& words, const DeviceRunnerPtr& runner) {
  check(models.size() == words.size() && !models.empty(), "model.together",
        "expected strings of {} models, got {}", models.size(), words.size());
  const auto count = static_cast<std::int64_t>(models.size());
  const bool end_symbol = models.front()->end_symbol();
  std::int64_t batch = 1, places = 2;  // one step at least
  for (const Tensor& own : words) {
    batch = std::max(batch, own.size(0));
    places = std::max(places, own.size(1) + (end_symbol ? 1 : 0));
  }
  const Tensor targets = at::full({count, batch, places}, -1, at::kLong);
  std::vector<FusedNetworkPtr> networks;
  for (std::int64_t m = 0; m < count; ++m) {
    const LanguageModel& model = *models[static_cast<std::size_t>(m)];
    const Tensor& own = words[static_cast<std::size_t>(m)];
    const Tensor rows = targets.select(0, m).narrow(0, 0, own.size(0));
    rows.narrow(1, 0, own.size(1)).copy_(own);
    if (end_symbol) rows.narrow(1, own.size(1), 1).fill_(model.alphabet().size());
    networks.push_back(model.fused(places - 1));
    check(networks.back() != nullptr, "model.together", "model {} has no fused form", m + 1);
  }
  return device_log_probabilities(networks, targets.to(networks[0]->tensors[0].device()), runner);
}

}  // namespace pushdown
