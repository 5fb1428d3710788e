#include "train/shared_updates.h"

#include <cmath>

#include "base/stopping.h"
#include "tensor/error_text.h"
#include "train/learning/gradient.h"

namespace pushdown {
namespace {

using Clock = std::chrono::steady_clock;

// Returns the model of a trainer of a group.
const LanguageModel& language_model(const Trainer& trainer) {
  return static_cast<const LanguageModel&>(*trainer.model());
}

// Returns one number per model, with a tensor's type and on its device.
Tensor numbers_like(const std::vector<double>& values, const Tensor& like) {
  return at::tensor(values, at::kDouble).to(like.options());
}

// Multiplies M x ... by M numbers.
void scale_rows(Tensor& rows, const Tensor& factors) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(rows.dim()), 1);
  shape[0] = factors.size(0);
  rows.mul_(factors.view(shape));
}

// Returns the gradients of `loss` by each parameter of all models, M x ... each.
std::vector<Tensor> stacked_gradients(const Tensor& loss,
                                      const std::vector<const LanguageModel*>& models) {
  const auto count = models.front()->parameters().size();
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < count; ++i)
    for (const auto* model : models) inputs.push_back(model->parameters()[i].second);
  auto found = gradients({loss}, inputs);
  std::vector<Tensor> stacked;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<Tensor> of_all;
    for (std::size_t m = 0; m < models.size(); ++m) {
      const auto place = i * models.size() + m;
      of_all.push_back(found[place].defined() ? found[place] : at::zeros_like(inputs[place]));
    }
    stacked.push_back(at::stack(of_all));
  }
  return stacked;
}

}  // namespace

std::vector<std::vector<std::size_t>> SharedUpdates::groups(const std::vector<Trainer*>& trainers,
                                                            const StepEnginePtr& engine) {
  const auto can_share = [&](const Trainer& trainer) {
    const auto* model = dynamic_cast<const LanguageModel*>(trainer.model().get());
    return model != nullptr && (engine != nullptr || engine_of(*model) != nullptr) &&
           trainer.shared_batch().has_value();
  };
  const auto optimizer_form = [](const Trainer& trainer) {
    Json options = trainer.options()["optimizer"];
    options.erase("learning_rate");
    return options;
  };
  const auto same = [&](const Trainer& first, const Trainer& second) {
    return optimizer_form(first) == optimizer_form(second) &&
           first.optimizer().steps() == second.optimizer().steps() &&
           can_go_together(language_model(first), language_model(second));
  };
  std::vector<std::vector<std::size_t>> all;
  for (std::size_t k = 0; k < trainers.size(); ++k) {
    if (!can_share(*trainers[k])) continue;
    const auto group = std::find_if(all.begin(), all.end(), [&](const auto& members) {
      return same(*trainers[members.front()], *trainers[k]);
    });
    if (group == all.end())
      all.push_back({k});
    else
      group->push_back(k);
  }
  std::erase_if(all, [](const auto& members) { return members.size() < 2; });
  return all;
}

SharedUpdates::SharedUpdates(std::vector<Trainer*> trainers, std::vector<TogetherResult*> results,
                             StepEnginePtr engine)
    : engine_(engine != nullptr ? std::move(engine) : engine_of(language_model(*trainers[0]))) {
  for (std::size_t m = 0; m < trainers.size(); ++m) {
    members_.push_back({trainers[m], results[m]});
    trainers[m]->start_clock();
    clear_gradients(trainers[m]->model()->parameters());
  }
}

void SharedUpdates::run() {
  for (;;) {
    std::erase_if(members_, [](const Member& member) {
      Trainer& trainer = *member.trainer;
      if (trainer.updates_left() == 0) return true;
      if (!trainer.stopped()) return false;
      trainer.checkpoint();
      return member.result->stopped = true;
    });
    if (members_.size() < 2) return;
    try {
      update();
    } catch (const Stopped&) {
      for (const Member& member : members_) {
        member.trainer->checkpoint();
        member.result->stopped = true;
      }
      return;
    }
  }
}

void SharedUpdates::update() {
  const auto start = Clock::now();
  const at::AutoGradMode with_gradient(true);
  std::vector<const LanguageModel*> models;
  std::vector<Tensor> words;
  std::vector<double> units, shares;
  for (const Member& member : members_) {
    const Trainer& trainer = *member.trainer;
    const auto batch = trainer.shared_batch();
    models.push_back(&language_model(trainer));
    words.push_back(batch->words);
    units.push_back(batch->units);
    shares.push_back(batch->weight / static_cast<double>(batch->words.size(0)));
  }
  const Tensor log_probabilities = log_probabilities_together(models, words, engine_);  // M x B
  const Tensor weights = numbers_like(shares, log_probabilities).unsqueeze(1);
  const Tensor loss = (log_probabilities * weights).sum().neg();
  std::vector<Tensor> gradients = stacked_gradients(loss, models);

  // From here on, an update must not be interrupted.
  const StopScope whole(nullptr);
  const at::AutoGradMode no_gradient(false);
  const auto count = static_cast<std::int64_t>(members_.size());
  Tensor squares = at::zeros({count}, gradients[0].options().dtype(at::kDouble));
  for (const Tensor& gradient : gradients)
    squares += gradient.to(at::kDouble).square().reshape({count, -1}).sum(1);
  // This is the only synchronisation with the device.
  const Tensor numbers = at::stack({log_probabilities.to(at::kDouble).sum(1), squares}).cpu();
  const double *sums = numbers.data_ptr<double>(), *squared = sums + count;

  std::vector<Member> going;
  std::vector<Optimizer*> optimizers;
  std::vector<std::int64_t> rows;
  std::vector<double> rates, scales, norms;
  std::vector<BatchLoss> losses;
  for (std::int64_t m = 0; m < count; ++m) {
    const Member& member = members_[static_cast<std::size_t>(m)];
    Trainer& trainer = *member.trainer;
    const BatchLoss sum{-sums[m], units[static_cast<std::size_t>(m)]};
    const double norm = std::sqrt(squared[m]);
    try {
      trainer.check_update(sum, norm);
    } catch (const std::exception& error) {
      member.result->error = error_text(error);
      continue;
    }
    going.push_back(member);
    optimizers.push_back(&trainer.optimizer());
    rows.push_back(m);
    rates.push_back(trainer.step_rate());
    scales.push_back(trainer.clip_factor(norm));
    norms.push_back(norm);
    losses.push_back(sum);
  }
  members_ = std::move(going);
  if (members_.empty()) return;
  if (members_.size() < static_cast<std::size_t>(count)) {
    const Tensor places = at::tensor(rows, at::kLong).to(gradients[0].device());
    for (Tensor& gradient : gradients) gradient = gradient.index_select(0, places);
  }
  if (std::any_of(scales.begin(), scales.end(), [](double scale) { return scale < 1; })) {
    const Tensor factors = numbers_like(scales, gradients[0]);
    for (Tensor& gradient : gradients) scale_rows(gradient, factors);
  }
  Optimizer::step_together(optimizers, gradients, rates);

  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::erase_if(members_, [&, m = std::size_t{0}](const Member& member) mutable {
    const auto place = m++;
    try {
      member.trainer->finish_update(losses[place], norms[place], seconds);
      return false;
    } catch (const std::exception& error) {
      member.result->error = error_text(error);
      return true;
    }
  });
}

}  // namespace pushdown
