#include "train/together.h"

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "base/check.h"
#include "base/parallel.h"
#include "base/script_thread.h"
#include "base/stopping.h"
#include "base/wait.h"
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

  // Works until all trainers are done. The thread that made the round must take part.
  void work() {
    const bool scripts = std::this_thread::get_id() == owner_;
    std::unique_lock lock(mutex_);
    while (std::any_of(state_.begin(), state_.end(),
                       [](State state) { return state != State::done; })) {
      auto index = scripts ? furthest_behind(State::scripted) : std::nullopt;
      if (!index) index = furthest_behind(State::waiting);
      if (!index) {
        wait(changed_, lock);
        continue;
      }
      state_[*index] = State::running;
      lock.unlock();
      const State after = run_slice(*trainers_[*index], results_[*index]);
      lock.lock();
      state_[*index] = after;
      changed_.notify_all();
    }
  }

  std::vector<TogetherResult> results() && { return std::move(results_); }

 private:
  // scripted: its next update needs a function of a script.
  enum class State { waiting, scripted, running, done };

  std::optional<std::size_t> furthest_behind(State state) const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < trainers_.size(); ++i)
      if (state_[i] == state &&
          (!best || trainers_[i]->updates_left() > trainers_[*best]->updates_left()))
        best = i;
    return best;
  }

  State run_slice(Trainer& trainer, TogetherResult& result) const {
    const StopScope scope(flag_);
    try {
      switch (trainer.advance(trainers_.size() > 1 ? kSlice : trainer.updates_left())) {
        case Trainer::Advance::running: return State::waiting;
        case Trainer::Advance::stopped: result.stopped = true; break;
        case Trainer::Advance::closed: result.epoch = trainer.history().back(); break;
      }
    } catch (const ScriptThreadNeeded&) {
      // The interrupted update is repeated on the script's thread.
      return State::scripted;
    } catch (const std::exception& error) {
      // Ctrl-C ends a script with an error; the interrupted update is repeated.
      const auto& stop = trainer.callbacks.should_stop;
      result.stopped = stop && stop();
      if (!result.stopped)
        result.fail(error);
      else if (trainers_.size() == 1)
        trainer.checkpoint();
    }
    return State::done;
  }

  const StopFlag* flag_;
  const std::thread::id owner_ = std::this_thread::get_id();
  const std::vector<Trainer*>& trainers_;
  std::vector<TogetherResult> results_;
  std::vector<State> state_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace

void TogetherResult::fail(const std::exception& exception) {
  error = error_text(exception);
  failure = std::current_exception();
}

std::vector<TogetherResult> run_epoch_together(const std::vector<Trainer*>& trainers,
                                               const StepEnginePtr& engine) {
  std::set<const SequenceModel*> models;
  for (const Trainer* trainer : trainers) {
    check(models.insert(trainer->model().get()).second, "train.together",
          "two of the trainers train the same model");
    if (trainers.size() > 1) trainer->problem().prepare();
    trainer->problem().script_ran();
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
  // Each trainer that is asked to stop writes a checkpoint first.
  const StopScope every(nullptr);
  // A lone trainer uses the threads for the sequences of its batches.
  if (trainers.size() == 1)
    round.work();
  else
    parallel_for(thread_count(), [&](std::int64_t) { round.work(); });
  return std::move(round).results();
}

}  // namespace pushdown
