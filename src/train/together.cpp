#include "train/together.h"

#include <condition_variable>
#include <mutex>
#include <set>

#include "base/check.h"
#include "base/parallel.h"
#include "base/stopping.h"
#include "tensor/error_text.h"
#include "train/shared_updates.h"

namespace pushdown {
namespace {

// Number of updates that a thread makes before it checks whether another trainer is further behind.
constexpr std::int64_t kSlice = 20;

class Round {
 public:
  // `results`: those of trainers that have already stopped or failed.
  Round(const std::vector<Trainer*>& trainers, std::vector<TogetherResult> results)
      : flag_(stop_flag()), trainers_(trainers), results_(std::move(results)) {
    for (std::size_t k = 0; k < trainers.size(); ++k) {
      const bool over =
          results_[k].stopped || !results_[k].error.empty() || !trainers[k]->finished().empty();
      state_.push_back(over ? State::done : State::waiting);
    }
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      const auto index = furthest_behind();
      if (!index) {
        if (std::none_of(state_.begin(), state_.end(),
                         [](State state) { return state == State::running; }))
          return;
        changed_.wait(lock);
        continue;
      }
      state_[*index] = State::running;
      lock.unlock();
      const bool done = run_slice(*trainers_[*index], results_[*index]);
      lock.lock();
      state_[*index] = done ? State::done : State::waiting;
      changed_.notify_all();
    }
  }

  std::vector<TogetherResult> results() && { return std::move(results_); }

 private:
  enum class State { waiting, running, done };

  std::optional<std::size_t> furthest_behind() const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < trainers_.size(); ++i)
      if (state_[i] == State::waiting &&
          (!best || trainers_[i]->updates_left() > trainers_[*best]->updates_left()))
        best = i;
    return best;
  }

  bool run_slice(Trainer& trainer, TogetherResult& result) const {
    const StopScope scope(flag_);
    try {
      switch (trainer.advance(kSlice)) {
        case Trainer::Advance::running: return false;
        case Trainer::Advance::stopped: result.stopped = true; return true;
        case Trainer::Advance::closed: result.epoch = trainer.history().back(); return true;
      }
    } catch (const std::exception& error) {
      // Ctrl-C ends a script with an error; the interrupted update is repeated.
      const auto& stop = trainer.callbacks.should_stop;
      result.stopped = stop && stop();
      if (!result.stopped) result.error = error_text(error);
    }
    return true;
  }

  const StopFlag* flag_;
  const std::vector<Trainer*>& trainers_;
  std::vector<TogetherResult> results_;
  std::vector<State> state_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace

std::vector<TogetherResult> run_epoch_together(const std::vector<Trainer*>& trainers,
                                               const StepEnginePtr& engine) {
  std::set<const SequenceModel*> models;
  for (const Trainer* trainer : trainers) {
    check(models.insert(trainer->model().get()).second, "train.together",
          "two of the trainers train the same model");
    trainer->problem().prepare();
  }
  std::vector<TogetherResult> results(trainers.size());
  for (const auto& group : SharedUpdates::groups(trainers, engine)) {
    std::vector<Trainer*> members;
    std::vector<TogetherResult*> of_members;
    for (const std::size_t k : group) {
      members.push_back(trainers[k]);
      of_members.push_back(&results[k]);
    }
    SharedUpdates(std::move(members), std::move(of_members), engine).run();
  }
  Round round(trainers, std::move(results));
  // A lone trainer uses the threads for the sequences of its batches, and scripts run on the
  // calling thread.
  const bool scripted = std::any_of(trainers.begin(), trainers.end(), [](const Trainer* trainer) {
    return !trainer->problem().origins().empty();
  });
  // Each trainer that is asked to stop writes a checkpoint first.
  const StopScope every(nullptr);
  if (trainers.size() == 1 || scripted)
    round.work();
  else
    parallel_for(std::min<std::int64_t>(thread_count(), static_cast<std::int64_t>(trainers.size())),
                 [&](std::int64_t) { round.work(); });
  return std::move(round).results();
}

}  // namespace pushdown
