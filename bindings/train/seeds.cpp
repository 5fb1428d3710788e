// trainer:run{ seeds = n }: the same training with several random seeds.
#include "base/check.h"
#include "base/checksum.h"
#include "bindings/binder/library.h"
#include "bindings/binder/options.h"
#include "bindings/model/classes.h"
#include "bindings/train/trainer.h"

namespace pushdown {

std::string parameters_checksum(const SequenceModel& model) {
  std::string all;
  for (const auto& [name, parameter] : model.parameters()) {
    const Tensor values = parameter.detach().cpu().contiguous();
    all += checksum({static_cast<const char*>(values.data_ptr()), values.nbytes()});
  }
  return checksum(all);
}

Results run_seeds(lua_State* L, const TrainingPtr& training, std::int64_t count, bool best) {
  constexpr const char* kWhere = "Trainer:run";
  check(training->repeat != nullptr, kWhere,
        "seeds needs a trainer of pd.train.trainer, got one of pd.train.resume");
  check(training->trainer->updates_done() > 0 ||
            parameters_checksum(*training->trainer->model()) == training->initial,
        kWhere,
        "seeds cannot repeat this training, because the model's parameters were changed after the "
        "trainer was made");
  auto& others = training->repeated;
  while (std::ssize(others) + 1 < count)
    others.push_back(training->repeat(L, std::ssize(others) + 2));
  Together all{{training}, {}, {}};
  all.trainings.insert(all.trainings.end(), others.begin(), others.begin() + (count - 1));
  all.errors.resize(count);
  for (const auto& one : all.trainings)
    all.names.push_back(
        fmt::format("seed {}", one->trainer->model()->options()["seed"].get<std::int64_t>()));
  run_together(L, all, best);

  // The best epoch of each has a value, of which smaller is better.
  std::size_t winner = 0;
  double lowest = std::numeric_limits<double>::infinity();
  std::vector<std::int64_t> seeds;
  for (std::size_t k = 0; k < all.trainings.size(); ++k) {
    const Trainer& trainer = *all.trainings[k]->trainer;
    seeds.push_back(trainer.model()->options()["seed"]);
    if (trainer.history().empty() || !all.errors[k].empty()) continue;
    const auto epoch = trainer.history().back().best_epoch;
    const double value = trainer.problem().value(trainer.history()[epoch - 1]);
    if (value >= lowest) continue;
    lowest = value;
    winner = k;
  }
  call_library(L, "pushdown.plot.summary", "seeds", 1, Any{L, lua_gettop(L)}, seeds, winner + 1,
               all.trainings[winner]->trainer->model());
  return {1};
}

}  // namespace pushdown
