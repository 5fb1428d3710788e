#include "model/likelihoods_together.h"

#include "base/check.h"
#include "model/stack_rnn.h"

namespace pushdown {
namespace {

// The tensors of all models, M x ... .
template <class Of>
Tensor stacked(const std::vector<const LanguageModel*>& models, const Of& of) {
  std::vector<Tensor> all;
  for (const LanguageModel* model : models) all.push_back(of(*model));
  return at::stack(all);
}

}  // namespace

StepEnginePtr engine_of(const LanguageModel& model) {
  const StackRnn* network = model.network().stack_rnn();
  if (network == nullptr || network->engine() == nullptr || !network->engine()->together())
    return nullptr;
  return model.network().plan(1, 1) == nullptr ? nullptr : network->engine();
}

bool can_go_together(const LanguageModel& first, const LanguageModel& second) {
  const auto one = first.network().plan(1, 1), other = second.network().plan(1, 1);
  return one != nullptr && other != nullptr && same_program(*one, *other) &&
         first.output_weight().sizes() == second.output_weight().sizes() &&
         first.end_symbol() == second.end_symbol();
}

Tensor log_probabilities_together(const std::vector<const LanguageModel*>& models,
                                  const std::vector<Tensor>& words, const StepEnginePtr& engine) {
  check(models.size() == words.size() && !models.empty(), "model.together",
        "expected strings of {} models, got {}", models.size(), words.size());
  const LanguageModel& form = *models.front();
  const auto count = static_cast<std::int64_t>(models.size());
  std::int64_t batch = 1, places = 2;  // at least one step
  for (const Tensor& own : words) {
    batch = std::max(batch, own.size(0));
    places = std::max(places, own.size(1) + (form.end_symbol() ? 1 : 0));
  }
  Tensor targets = at::full({count, batch, places}, -1, at::kLong);  // -1 after a string's end
  Tensor lengths = at::zeros({count, batch}, at::kLong);
  std::vector<StepPlanPtr> plans;
  for (std::int64_t m = 0; m < count; ++m) {
    const LanguageModel& model = *models[static_cast<std::size_t>(m)];
    const Tensor& own = words[static_cast<std::size_t>(m)];
    const Tensor rows = targets.select(0, m).narrow(0, 0, own.size(0));
    rows.narrow(1, 0, own.size(1)).copy_(own);
    if (form.end_symbol()) rows.narrow(1, own.size(1), 1).fill_(form.alphabet().size());
    // The last symbol is predicted, and read only if there is an end symbol.
    lengths[m]
        .narrow(0, 0, own.size(0))
        .fill_(std::max<std::int64_t>(own.size(1) - (form.end_symbol() ? 0 : 1), 0));
    plans.push_back(model.network().plan(batch, places - 1));
    check(plans.back() != nullptr, "model.together", "model {} has no recorded program", m + 1);
  }
  targets = targets.to(form.output_weight().device());
  const Tensor read = targets.narrow(2, 0, places - 1);
  const Tensor after =  // M x B x T x H
      engine->run_together(plans, read, lengths.to(targets.device()));
  const Tensor first = at::zeros({count, batch, 1, after.size(3)}, after.options());  // h_0
  const Tensor weights = stacked(models, [](const auto&model) { return model.output_weight(); }),
               biases = stacked(models, [](const auto&model) { return model.output_bias(); });
  const Tensor scores =
      at::baddbmm(biases.unsqueeze(1), at::cat({first, after}, 2).view({count, batch * places, -1}),
                  weights.transpose(1, 2));
  const Tensor ids = targets.reshape({count, batch * places, 1});
  const Tensor found = scores.log_softmax(2).gather(2, ids.clamp_min(0));
  return found.masked_fill(ids.lt(0), 0).view({count, batch, places}).sum(2);
}

}  // namespace pushdown
