#include "train/shared_updates.h"

#include <cmath>

#include "base/stopping.h"

namespace pushdown {
namespace {

using Clock = std::chrono::steady_clock;

// Returns the model of a trainer of a group.
const LanguageModel& language_model(const Trainer& trainer) {
  return static_cast<const LanguageModel&>(*trainer.model());
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
  return all;
}

SharedUpdates::SharedUpdates(std::vector<Trainer*> trainers, std::vector<TogetherResult*> results,
                             StepEnginePtr engine)
    : updates_(engine != nullptr ? std::move(engine) : engine_of(language_model(*trainers[0]))) {
  for (std::size_t m = 0; m < trainers.size(); ++m) {
    members_.push_back({trainers[m], results[m]});
    trainers[m]->begin_sharing();
  }
}

void SharedUpdates::remove(const std::function<bool(const Member&)>& over) {
  if (std::erase_if(members_, over) > 0) updates_.forget();
}

void SharedUpdates::run() {
  for (;;) {
    remove([](const Member& member) {
      Trainer& trainer = *member.trainer;
      if (trainer.updates_left() == 0) return true;
      if (!trainer.stopped()) return false;
      trainer.checkpoint();
      return member.result->stopped = true;
    });
    if (members_.empty()) return;
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
  std::vector<CommonUpdates::Member> members;
  std::vector<LikelihoodBatch> batches;
  std::vector<double> units;
  for (const Member& member : members_) {
    members.push_back({&language_model(*member.trainer), &member.trainer->optimizer()});
    batches.push_back(*member.trainer->shared_batch());
    units.push_back(batches.back().units);
  }
  // This waits for the device.
  const auto sums = updates_.differentiate(members, std::move(batches));

  // From here on, an update must not be interrupted.
  const StopScope whole(nullptr);
  std::vector<OptimizerRows::Step> steps;
  std::vector<double> norms;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    Trainer& trainer = *members_[m].trainer;
    norms.push_back(std::sqrt(sums[m].squares));
    try {
      trainer.check_update({-sums[m].log_probability, units[m]}, norms[m]);
    } catch (const std::exception& error) {
      members_[m].result->fail(error);
      continue;
    }
    steps.push_back({m, trainer.clip_factor(norms[m]), trainer.step_rate()});
  }
  updates_.step(steps);

  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  remove([&, m = std::size_t{0}](const Member& member) mutable {
    const auto place = m++;
    if (!member.result->error.empty()) return true;
    try {
      member.trainer->finish_update({-sums[place].log_probability, units[place]}, norms[place],
                                    seconds);
      return false;
    } catch (const std::exception& error) {
      member.result->fail(error);
      return true;
    }
  });
}

}  // namespace pushdown
