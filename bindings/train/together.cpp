// pd.train.together: several trainers at once.
#include <atomic>
#include <map>

#include "base/check.h"
#include "bindings/binder/interrupt.h"
#include "bindings/binder/options.h"
#include "bindings/session/log.h"
#include "bindings/train/epoch_text.h"
#include "bindings/train/trainer.h"
#include "train/together.h"

namespace pushdown {

namespace {

struct TogetherOptions {
  std::vector<std::string> names;
  using Self = TogetherOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"names", &Self::names,
          "names of the trainers in the view and in messages; absent: the kinds of their parts"}});
  }
};

constexpr const char* kInterrupted =
    "interrupted; run() or the next round with the same trainers continues";

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

std::shared_ptr<Together> together(std::vector<TrainingPtr> trainings,
                                   const TogetherOptions& options) {
  check(!trainings.empty(), "train.together", "expected a list of trainers, got an empty list");
  check(options.names.empty() || options.names.size() == trainings.size(), "train.together",
        "expected a name for each of {} trainers, got {}", trainings.size(), options.names.size());
  auto made = std::make_shared<Together>();
  made->names = options.names;
  if (made->names.empty()) made->names = model_names(trainings);
  made->errors.resize(trainings.size());
  made->trainings = std::move(trainings);
  return made;
}

// The rows of all in the live view. The threads that train only count; one that finds the view due
// shows what all have counted.
class SharedView {
 public:
  SharedView(const std::vector<Training*>& trainings, std::vector<std::string> names)
      : trainings_(trainings), names_(std::move(names)), counts_(trainings.size()) {
    for (std::size_t i = 0; i < trainings.size(); ++i) {
      Trainer& trainer = *trainings[i]->trainer;
      counts_[i].total = trainer.updates_per_epoch();
      counts_[i].done = counts_[i].total - trainer.updates_left();
      if (!trainings[i]->progress) continue;
      view_.change(names_[i], [&](LiveRow& row) { show_epochs(row, trainer); });
      trainer.callbacks.progress = [this, i](const Progress& progress) {
        if (!progress.validating) counts_[i].done = progress.done;
        if (view_.due()) show();
      };
    }
  }
  ~SharedView() {
    for (Training* training : trainings_) training->trainer->callbacks.progress = nullptr;
  }
  SharedView(const SharedView&) = delete;
  SharedView& operator=(const SharedView&) = delete;

 private:
  struct Count {
    std::atomic<std::int64_t> done = 0;
    std::int64_t total = 1;
  };

  void show() {
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (trainings_[i]->progress)
        view_.change(names_[i], [&](LiveRow& row) {
          row.part = static_cast<double>(counts_[i].done) / static_cast<double>(counts_[i].total);
        });
  }

  LiveView& view_ = LiveView::of_process();
  const std::vector<Training*>& trainings_;
  const std::vector<std::string> names_;
  std::vector<Count> counts_;
};

// Returns the newest metrics of every trainer, with `finished` or `error` if it has ended.
std::vector<EpochTable> latest(const Together& all) {
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

std::optional<std::vector<EpochTable>> next_round(lua_State* L, Together& all, Rest) {
  std::vector<Training*> trainings;
  std::vector<Trainer*> trainers;
  std::vector<std::size_t> indices;
  std::vector<double> rates;
  std::vector<std::string> names;
  bool shown = false;
  for (std::size_t i = 0; i < all.trainings.size(); ++i) {
    Trainer& trainer = *all.trainings[i]->trainer;
    tell_continued(*all.trainings[i], all.names[i]);
    if (!trainer.finished().empty() || !all.errors[i].empty()) continue;
    trainings.push_back(all.trainings[i].get());
    trainers.push_back(&trainer);
    indices.push_back(i);
    rates.push_back(trainer.learning_rate());
    names.push_back(all.names[i]);
    shown = shown || all.trainings[i]->progress;
  }
  if (trainers.empty()) return std::nullopt;
  std::vector<TogetherResult> results;
  {
    const LiveScope scope(shown, false, "", &all.pace);
    const SharedView view(trainings, names);
    results = run_epoch_together(trainers);
  }
  bool stopped = false;
  for (std::size_t k = 0; k < results.size(); ++k) {
    const std::string& name = names[k];
    const auto log_file = log_file_of(*trainers[k]);
    // A trainer whose time limit is reached no longer takes part.
    stopped = stopped || (results[k].stopped && trainers[k]->finished().empty());
    if (results[k].epoch) {
      tell_epoch(L, *trainings[k], *results[k].epoch, rates[k], name);
    } else if (!results[k].error.empty()) {
      log_message("error", name + ": " + results[k].error);
      if (trainings[k]->progress)
        LiveView::of_process().change(name, [](LiveRow& row) {
          row.state = LiveRow::State::failed;
          row.note = "failed";
        });
      all.errors[indices[k]] = results[k].error;
    }
  }
  if (stopped) {
    if (shown && !LiveView::of_process().stays()) LiveView::of_process().say(kInterrupted);
    stop_if_interrupted(L);
    throw std::runtime_error("interrupted");
  }
  if (std::none_of(all.errors.begin(), all.errors.end(),
                   [](const std::string& error) { return error.empty(); }))
    throw std::runtime_error(all.errors.front());
  return latest(all);
}

struct TogetherRunOptions {
  bool best = true;
  static OptionRows rows() {
    return declare<TogetherRunOptions>({restore_option(&TogetherRunOptions::best)});
  }
};

}  // namespace

Results run_together(lua_State* L, Together& all, bool best) {
  bool shown = false;
  std::vector<const Training*> trainings;
  for (const auto& training : all.trainings) {
    shown = shown || training->progress;
    trainings.push_back(training.get());
  }
  {
    const LiveScope scope(shown, true, "", &all.pace);
    try {
      while (next_round(L, all, {L, 0, 0})) {
      }
      LiveView::of_process().finish();
    } catch (const std::exception&) {
      if (shown && interrupt_check(L)()) LiveView::of_process().say(kInterrupted);
      throw;
    }
  }
  for (const auto& training : all.trainings)
    best ? training->trainer->use_best() : training->trainer->use_last();
  return push_summaries(L, trainings, all.names, all.errors);
}

void bind_together(Module& module) {
  module.def<&together>(
      "together",
      "together({trainer, ...}, {options}) -> Together  Trains all trainers at once on the "
      "session's threads, "
      "or models of the same form in one launch on a CUDA device. Each model gets the same numbers "
      "as if it were trained alone. Each round gives a list of their newest metrics, with "
      "`finished` or `error` for trainers that have ended.");
  Class<Together>(module, "Several trainers that train at once.")
      .def<&next_round>("__call",
                        "together() -> table  Trains one epoch of each trainer and returns a list "
                        "of their newest metrics, or nil when all have finished.")
      .def<[](lua_State* L, Together& all, const TogetherRunOptions& options) {
        return run_together(L, all, options.best);
      }>("run",
         "together:run({options}) -> table  Trains all to their ends with one live view and "
         "returns a list of their summaries, see trainer:run().");
}

}  // namespace pushdown
