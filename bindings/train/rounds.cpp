// trainer:run(), trainer:epochs() and pd.train.together: training by epochs. A round trains an
// epoch of every trainer; a trainer alone is the case of one.
#include <map>

#include "base/check.h"
#include "bindings/binder/interrupt.h"
#include "bindings/binder/library.h"
#include "bindings/session/log.h"
#include "bindings/train/audience.h"
#include "bindings/train/epoch_text.h"
#include "train/together.h"

namespace pushdown {

// The result of trainer:epochs().
struct Epochs {
  Together alone;
};

template <>
inline constexpr auto kClassName<Epochs> = "Epochs";

namespace {

Together alone(const TrainingPtr& training, const std::string& name) {
  return {{training}, {name}, {""}, {}, false};
}

bool shown(const Together& all) {
  return std::any_of(all.trainings.begin(), all.trainings.end(),
                     [](const auto& training) { return training->progress; });
}

// Raises the error of a training alone. One of a script's function has had no effect on the
// update, which the next round repeats.
[[noreturn]] void raise(Trainer& trainer, const TogetherResult& result, bool logs) {
  try {
    std::rethrow_exception(result.failure);
  } catch (const ScriptError&) {
    trainer.checkpoint();
    throw;
  } catch (const std::runtime_error& error) {
    if (logs) log_message("error", error.what());
    throw;
  }
}

// Trains the rest of the current epoch of every trainer that is not finished. Returns false if all
// are. Throws when it is interrupted, and if none is left that has not failed.
bool train_round(lua_State* L, Together& all) {
  std::vector<Training*> trainings;
  std::vector<Trainer*> trainers;
  std::vector<std::size_t> indices;
  std::vector<double> rates;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < all.trainings.size(); ++i) {
    Training& training = *all.trainings[i];
    tell_began(training, all.names[i]);
    if (!training.trainer->finished().empty() || !all.errors[i].empty()) continue;
    trainings.push_back(&training);
    trainers.push_back(training.trainer.get());
    indices.push_back(i);
    rates.push_back(training.trainer->learning_rate());
    names.push_back(all.names[i]);
  }
  if (trainers.empty()) return false;
  bool stopped = false;
  {
    // The messages of several at once belong to none of their logs.
    const auto log_of_one = all.listed ? nullptr : log_file_of(*trainers[0]);
    std::vector<TogetherResult> results;
    {
      const LiveScope scope(shown(all), false, "", &all.pace);
      const RoundView view(trainings, names);
      results = run_epoch_together(trainers);
    }
    for (std::size_t k = 0; k < results.size(); ++k) {
      const auto log_file = all.listed ? log_file_of(*trainers[k]) : nullptr;
      if (results[k].epoch) {
        tell_epoch(L, *trainings[k], *results[k].epoch, rates[k], names[k]);
      } else if (results[k].failure) {
        if (!all.listed) raise(*trainers[k], results[k], log_of_one != nullptr);
        tell_failed(*trainings[k], names[k], results[k].error);
        all.errors[indices[k]] = results[k].error;
      } else if (!trainers[k]->finished().empty()) {
        tell_ended(L, *trainings[k], names[k]);
      } else {
        stopped = true;
      }
    }
  }
  if (stopped) {
    if (!LiveView::of_process().stays()) tell_interrupted(all.trainings);
    stop_if_interrupted(L);
    throw std::runtime_error("interrupted");
  }
  if (std::none_of(all.errors.begin(), all.errors.end(),
                   [](const std::string& error) { return error.empty(); }))
    throw std::runtime_error(all.errors.front());
  return true;
}

Json summary_of(const Training& training, const std::string& name, const std::string& error) {
  const Trainer& trainer = *training.trainer;
  Json one{{"model", row_name(training, name)},
           {"parameters", trainer.model()->parameter_count()},
           {"epochs", trainer.epochs_done()},
           {"updates", trainer.updates_done()}};
  double seconds = 0;
  for (const auto& epoch : trainer.history()) seconds += epoch.seconds;
  one["seconds"] = seconds;
  if (!trainer.history().empty()) {
    const auto best = trainer.history().back().best_epoch;
    const Json metrics = to_json(trainer.history()[best - 1]);
    one["best_epoch"] = best;
    for (const char* key :
         {"cross_entropy", "cross_entropy_difference", "lower_bound", "perplexity", "accuracy",
          "train_cross_entropy", "train_accuracy", "coarse", "fine"})
      if (metrics.contains(key)) one[key] = metrics[key];
    one["parameters_of"] = trainer.uses_best() ? "best" : "last";
    for (const auto& epoch : trainer.history()) one["history"].push_back(to_json(epoch));
  }
  if (!trainer.finished().empty()) one["finished"] = trainer.finished();
  if (!error.empty()) one["error"] = error;
  if (const Path* folder = trainer.run_folder()) one["folder"] = folder->string();
  return one;
}

std::optional<EpochTable> next_epoch(lua_State* L, Epochs& epochs, Rest) {
  const Trainer& trainer = *epochs.alone.trainings[0]->trainer;
  const auto before = trainer.epochs_done();
  if (!train_round(L, epochs.alone) || trainer.epochs_done() == before) return std::nullopt;
  return EpochTable{to_json(trainer.history().back())};
}

// Returns the newest metrics of every trainer, with `finished` or `error` if it has ended.
std::optional<std::vector<EpochTable>> next_round(lua_State* L, Together& all, Rest) {
  if (!train_round(L, all)) return std::nullopt;
  std::vector<EpochTable> list;
  for (std::size_t i = 0; i < all.trainings.size(); ++i) {
    const Trainer& trainer = *all.trainings[i]->trainer;
    Json epoch = trainer.history().empty() ? Json::object() : to_json(trainer.history().back());
    if (!all.errors[i].empty()) epoch["error"] = all.errors[i];
    if (!trainer.finished().empty()) epoch["finished"] = trainer.finished();
    list.push_back({std::move(epoch)});
  }
  return list;
}

struct TogetherRunOptions {
  bool best = true;
  static OptionRows rows() {
    return declare<TogetherRunOptions>(
        {{"restore", &TogetherRunOptions::best,
          "parameters that the model has at the end: those of the best epoch, or those of the last "
          "update",
          Named<bool>{{"best", true}, {"last", false}}}});
  }
};

struct TrainerRunOptions : TogetherRunOptions {
  std::string name;
  std::optional<std::int64_t> seeds;
  using Self = TrainerRunOptions;
  static OptionRows rows() {
    return declare<Self>(
               {{"name", &Self::name,
                 "name of the model in the view and the summary; absent: the kinds of its parts"},
                {"seeds", &Self::seeds,
                 "repeats the training: seed k adds k - 1 to the seeds of the model and of the "
                 "trainer; the result is the list of all summaries, with mean, deviation and the "
                 "best model",
                 at_least(1)}})
        .with<Self, TogetherRunOptions>();
  }
};

Results run_trainer(lua_State* L, const TrainingPtr& training, const TrainerRunOptions& options) {
  if (options.seeds) return run_seeds(L, training, *options.seeds, options.best);
  Together one = alone(training, options.name);
  return run_together(L, one, options.best);
}

struct TogetherOptions {
  std::vector<std::string> names;
  using Self = TogetherOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"names", &Self::names,
          "names of the trainers in the view and in messages; absent: the kinds of their parts"}});
  }
};

// The kinds of the models' parts, with a number if several are the same.
std::vector<std::string> model_names(const std::vector<TrainingPtr>& trainings) {
  std::vector<std::string> names;
  std::map<std::string, int> counts, seen;
  for (const auto& training : trainings) {
    names.push_back(model_name(*training->trainer->model()));
    ++counts[names.back()];
  }
  for (auto& name : names)
    if (counts[name] > 1) name += fmt::format(" {}", ++seen[name]);
  return names;
}

Together together(std::vector<TrainingPtr> trainings, const TogetherOptions& options) {
  check(!trainings.empty(), "train.together", "expected a list of trainers, got an empty list");
  check(options.names.empty() || options.names.size() == trainings.size(), "train.together",
        "expected a name for each of {} trainers, got {}", trainings.size(), options.names.size());
  auto names = options.names.empty() ? model_names(trainings) : options.names;
  std::vector<std::string> errors(trainings.size());
  return {std::move(trainings), std::move(names), std::move(errors)};
}

}  // namespace

Results run_together(lua_State* L, Together& all, bool best) {
  {
    const LiveScope scope(shown(all), true, "", &all.pace);
    try {
      while (train_round(L, all)) {
      }
      LiveView::of_process().finish();
    } catch (const std::exception&) {
      // Also an interrupt between two epochs.
      if (interrupt_check(L)()) tell_interrupted(all.trainings);
      throw;
    }
  }
  Json summaries = Json::array();
  for (std::size_t i = 0; i < all.trainings.size(); ++i) {
    Trainer& trainer = *all.trainings[i]->trainer;
    best ? trainer.use_best() : trainer.use_last();
    summaries.push_back(summary_of(*all.trainings[i], all.names[i], all.errors[i]));
  }
  call_library(L, "pushdown.plot.summary", all.listed ? "list" : "one", 1,
               all.listed ? summaries : summaries[0]);
  return {1};
}

void bind_rounds(Module& module, Class<Training>& trainer) {
  trainer
      .def<&run_trainer>(
          "trainer:run({options}) -> table  Trains until early stopping or the last epoch "
          "and shows one live view. Returns the summary: model, epochs, best_epoch, "
          "cross_entropy and cross_entropy_difference (nats per symbol) or accuracy of the "
          "best epoch, seconds, finished (why it ended), folder and history. The model then has "
          "the parameters of the best epoch. A run that is in the folder already continues. An "
          "interrupted trainer continues with the next call.")
      .def<[](const TrainingPtr& training) { return Epochs{alone(training, "")}; }>(
          "trainer:epochs() -> iterator  Returns an iterator: `for epoch in trainer:epochs()` "
          "trains until early stopping or the last epoch and gives the metrics of each epoch. The "
          "model keeps the parameters of the last one, see trainer:restore().");
  module.def<&together>(
      "together({trainer, ...}, {options}) -> Together  Trains all trainers at once on the "
      "session's threads, or models of the same form in one launch on a CUDA device. Each model "
      "gets the same numbers as if it were trained alone. Each round gives a list of their newest "
      "metrics, with `finished` or `error` for trainers that have ended.");
  Class<Epochs>(module, "The epochs of a trainer, one after the other.")
      .def<&next_epoch>("__call",
                        "epochs() -> table  Trains one epoch and returns its metrics, or nil "
                        "when training is over.");
  Class<Together>(module, "Several trainers that train at once.")
      .def<&next_round>("__call",
                        "together() -> table  Trains one epoch of each trainer and returns a list "
                        "of their newest metrics, or nil when all have finished.")
      .def<[](lua_State* L, Together& all, const TogetherRunOptions& options) {
        return run_together(L, all, options.best);
      }>("together:run({options}) -> table  Trains all to their ends with one live view and "
         "returns a list of their summaries, see trainer:run().");
}

}  // namespace pushdown
