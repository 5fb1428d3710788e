#include "model/likelihoods_together.h"

#include "base/check.h"
#include "model/stack_rnn.h"

namespace pushdown {
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

LikelihoodsTogether::LikelihoodsTogether(std::vector<const LanguageModel*> models, Tensor rows,
                                         StepEnginePtr engine)
    : models_(std::move(models)), rows_(std::move(rows)), engine_(std::move(engine)) {}

std::vector<DeviceUpdateSums> LikelihoodsTogether::differentiate(std::vector<Tensor> words,
                                                                 std::vector<double> shares) {
  constexpr auto kWhere = "model.together";
  const LanguageModel& form = *models_.front();
  std::int64_t batch = batch_, steps = steps_;
  for (const Tensor& own : words) {
    batch = std::max(batch, own.size(0));
    steps = std::max(steps, own.size(1) - (form.end_symbol() ? 0 : 1));
  }
  if (updates_ == nullptr || batch > batch_ || steps > steps_) {
    updates_ = nullptr;  // its memory is free now
    UpdateForm of{{}, rows_, form.output_weight(), form.output_bias(), batch, steps};
    for (std::size_t m = 0; m < models_.size(); ++m) {
      of.plans.push_back(models_[m]->network().plan(batch, steps));
      check(of.plans.back() != nullptr, kWhere, "model {} has no recorded program", m + 1);
    }
    updates_ = engine_->updates(std::move(of));
    batch_ = batch;
    steps_ = steps;
  }
  UpdateBatch given{std::move(words), std::nullopt, std::move(shares)};
  if (form.end_symbol()) given.end = form.alphabet().size();
  return updates_->differentiate(given);
}

}  // namespace pushdown
