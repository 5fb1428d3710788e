// pd.train.together: several trainers at once.
#include <mutex>

#include "base/check.h"
#include "bindings/binder/interrupt.h"
#include "bindings/binder/options.h"
#include "bindings/session/log.h"
#include "bindings/session/progress.h"
#include "bindings/train/trainer.h"
#include "train/together.h"

namespace pushdown {

// The result of pd.train.together().
struct Together {
  std::vector<TrainingPtr> trainings;
  std::vector<std::string> names;   // of the trainers, in messages
  std::vector<std::string> errors;  // of the trainers that failed; they no longer take part
};

template <>
struct ClassName<Together> {
  static constexpr const char* value = "Together";
};

namespace {

struct TogetherOptions {
  std::vector<std::string> names;
  using Self = TogetherOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"names", &Self::names, "names of the trainers in messages; absent: model 1 and so on"}});
  }
};

std::shared_ptr<Together> together(std::vector<TrainingPtr> trainings,
                                   const TogetherOptions& options) {
  check(!trainings.empty(), "train.together", "expected a list of trainers, got an empty list");
  check(options.names.empty() || options.names.size() == trainings.size(), "train.together",
        "expected a name for each of {} trainers, got {}", trainings.size(), options.names.size());
  auto made = std::make_shared<Together>();
  made->names = options.names;
  for (std::size_t i = made->names.size(); i < trainings.size(); ++i)
    made->names.push_back(fmt::format("model {}", i + 1));
  made->errors.resize(trainings.size());
  made->trainings = std::move(trainings);
  return made;
}

// One progress line for all: the updates of the round, and the lowest loss of a batch.
class SharedProgress {
 public:
  SharedProgress(const std::vector<Training*>& trainings) : trainings_(trainings) {
    done_.resize(trainings.size());
    losses_.resize(trainings.size());
    for (std::size_t i = 0; i < trainings.size(); ++i) {
      const Trainer& trainer = *trainings[i]->trainer;
      done_[i] = trainer.updates_per_epoch() - trainer.updates_left();
      total_ += trainer.updates_per_epoch();
      shown_ = shown_ || trainings[i]->progress;
      trainings[i]->trainer->callbacks.progress = [this, i](const Progress& progress) {
        show(i, progress);
      };
    }
  }
  ~SharedProgress() {
    for (Training* training : trainings_) training->trainer->callbacks.progress = nullptr;
  }
  SharedProgress(const SharedProgress&) = delete;
  SharedProgress& operator=(const SharedProgress&) = delete;

 private:
  void show(std::size_t i, const Progress& progress) {
    std::lock_guard lock(mutex_);
    if (!progress.validating) done_[i] = progress.done;
    losses_[i] = progress.loss;
    const auto now = std::chrono::steady_clock::now();
    if (!shown_ || now < next_look_) return;
    next_look_ = now + std::chrono::milliseconds(50);
    std::int64_t done = 0;
    double loss = progress.loss;
    for (std::size_t k = 0; k < done_.size(); ++k) {
      done += done_[k];
      if (losses_[k]) loss = std::min(loss, *losses_[k]);
    }
    line_.show({fmt::format("epoch {} of {}, {} models", progress.epoch, progress.epochs,
                            trainings_.size()),
                done, total_, "updates", fmt::format("lowest loss {:.4f}", loss)});
  }

  const std::vector<Training*>& trainings_;
  std::vector<std::int64_t> done_;
  std::vector<std::optional<double>> losses_;
  std::int64_t total_ = 0;
  bool shown_ = false;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point next_look_;
  ProgressLine line_;
};

std::shared_ptr<void> log_file_of(const Trainer& trainer) {
  if (trainer.run_folder() == nullptr) return nullptr;
  return add_log_file((*trainer.run_folder() / "log.txt").string());
}

// Returns the newest metrics of every trainer, with `finished` or `error` if it has ended.
Json latest(const Together& all) {
  Json list = Json::array();
  for (std::size_t i = 0; i < all.trainings.size(); ++i) {
    const Trainer& trainer = *all.trainings[i]->trainer;
    Json epoch = trainer.history().empty() ? Json::object() : to_json(trainer.history().back());
    if (!all.errors[i].empty()) epoch["error"] = all.errors[i];
    if (!trainer.finished().empty()) epoch["finished"] = trainer.finished();
    list.push_back(epoch);
  }
  return list;
}

std::optional<Json> next_round(lua_State* L, Together& all, Rest) {
  std::vector<Training*> trainings;
  std::vector<Trainer*> trainers;
  std::vector<std::size_t> indices;
  std::vector<double> rates;
  for (std::size_t i = 0; i < all.trainings.size(); ++i) {
    Trainer& trainer = *all.trainings[i]->trainer;
    if (!trainer.finished().empty() || !all.errors[i].empty()) continue;
    trainings.push_back(all.trainings[i].get());
    trainers.push_back(&trainer);
    indices.push_back(i);
    rates.push_back(trainer.learning_rate());
  }
  if (trainers.empty()) return std::nullopt;
  std::vector<TogetherResult> results;
  {
    const SharedProgress progress(trainings);
    results = run_epoch_together(trainers);
  }
  bool stopped = false;
  for (std::size_t k = 0; k < results.size(); ++k) {
    const std::string name = all.names[indices[k]] + ": ";
    const auto log_file = log_file_of(*trainers[k]);
    // A trainer whose time limit is reached no longer takes part.
    stopped = stopped || (results[k].stopped && trainers[k]->finished().empty());
    if (results[k].epoch) {
      tell_epoch(L, *trainings[k], *results[k].epoch, rates[k], name);
    } else if (!results[k].error.empty()) {
      log_message("error", name + results[k].error);
      all.errors[indices[k]] = results[k].error;
    }
  }
  if (stopped) {
    stop_if_interrupted(L);
    throw std::runtime_error("interrupted");
  }
  if (std::none_of(all.errors.begin(), all.errors.end(),
                   [](const std::string& error) { return error.empty(); }))
    throw std::runtime_error(all.errors.front());
  return latest(all);
}

}  // namespace

void bind_together(Module& module) {
  module.def<&together>(
      "together",
      "together({trainer, ...}, {options}) -> iterator  Trains all trainers at once on the "
      "session's threads, "
      "or models of the same form in one launch on a CUDA device. Each model gets the same numbers "
      "as if it were trained alone. Each round gives a list of their newest metrics, with "
      "`finished` or `error` for trainers that have ended.");
  Class<Together>(module, "Several trainers that train at once.")
      .def<&next_round>("__call",
                        "together() -> table  Trains one epoch of each trainer and returns a list "
                        "of their newest metrics, or nil when all have finished.");
}

}  // namespace pushdown
