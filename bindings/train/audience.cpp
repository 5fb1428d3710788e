#include "bindings/train/audience.h"

#include <fmt/ranges.h>

#include "base/check.h"
#include "bindings/binder/library.h"
#include "bindings/session/log.h"
#include "bindings/train/epoch_text.h"
#include "train/evaluation/evaluation.h"

namespace pushdown {
namespace {

// The live view.
void show_epochs(LiveRow& row, const Trainer& trainer) {
  const auto& history = trainer.history();
  row.epoch = trainer.epochs_done();
  row.epochs = trainer.options()["epochs"];
  row.part = 0;
  for (auto k = row.curve.size(); k < history.size(); ++k)
    row.curve.push_back(trainer.problem().value(history[k]));
  if (!history.empty()) {
    row.best_epoch = history.back().best_epoch;
    const EpochMetrics& best = history[row.best_epoch - 1];
    row.best = measured_text(best);
    row.value = trainer.problem().value(best);
  }
  if (trainer.stages() > 1)
    row.note = fmt::format("stage {} of {}", trainer.stage(), trainer.stages());
  if (trainer.finished().empty()) return;
  row.state = LiveRow::State::finished;
  row.note = "finished";
}

// The learning curves of the run folder, unless drawing them would take a noticeable part of the
// time.
void draw_when_due(lua_State* L, Training& training) {
  const Path* folder = training.trainer->run_folder();
  if (folder == nullptr) return;
  const auto now = std::chrono::steady_clock::now();
  const double since = std::chrono::duration<double>(now - training.drawn).count();
  if (since < 20 * training.drawing_seconds && training.trainer->finished().empty()) return;
  draw_curves(L, *training.trainer, *folder);
  training.drawn = std::chrono::steady_clock::now();
  training.drawing_seconds = std::chrono::duration<double>(training.drawn - now).count();
}

// The log, and on stderr the shorter texts `shown`; all of it only in the log at level debug for a
// silent training.
void tell(const Training& training, const std::vector<std::string>& logged,
          const std::vector<std::string>& shown) {
  if (!training.progress) {
    for (const auto& text : logged) log_message("debug", text);
    return;
  }
  for (const auto& text : logged) log_to_files("info", text);
  LiveView& view = LiveView::of_process();
  // A notebook shows the newest results of a loop, and in a run the view.
  if (has_listener() && !view.stays()) {
    if (is_logged("info")) tell_listener(fmt::format("{}", fmt::join(logged, "\n")));
    return;
  }
  for (const auto& text : shown) view.say(text);
}

std::string prefix_of(const std::string& name) { return name.empty() ? "" : name + ": "; }

void warn_of(Training& training, const EpochMetrics& metrics, const std::string& prefix) {
  if (!training.bound_warned && metrics.cross_entropy_difference && metrics.difference_error) {
    const auto warning = bound_warning(*metrics.cross_entropy_difference, *metrics.difference_error,
                                       metrics.bound_includes_end);
    if (!warning.empty()) log_message("warn", prefix + warning);
    training.bound_warned = !warning.empty();
  }
  if (const auto loss = diverged_loss(metrics))
    log_message("warn",
                fmt::format("{}epoch {}: the mean loss is {:.3g}: training has diverged; {}; the "
                            "best epoch is {}",
                            prefix, metrics.epoch, *loss, kDivergenceAdvice, metrics.best_epoch));
}

}  // namespace

std::string row_name(const Training& training, const std::string& name) {
  return name.empty() ? model_name(*training.trainer->model()) : name;
}

std::shared_ptr<void> log_file_of(const Trainer& trainer) {
  if (trainer.run_folder() == nullptr) return nullptr;
  return add_log_file((*trainer.run_folder() / "log.txt").string());
}

void draw_curves(lua_State* L, const Trainer& trainer, const Path& folder) {
  if (trainer.history().empty()) return;
  const auto wrong = try_library(L, "pushdown.plot", "curves", [&] {
    lua_createtable(L, 0, 2);
    Value<std::string>::push(L, (folder / "curves.svg").string());
    lua_setfield(L, -2, "path");
    Value<std::vector<EpochTable>>::push(L, history_of(trainer));
    lua_setfield(L, -2, "history");
    return 1;
  });
  if (wrong) log_message("warn", fmt::format("the learning curves were not drawn: {}", *wrong));
}

void tell_began(Training& training, const std::string& name) {
  const Trainer& trainer = *training.trainer;
  if (std::exchange(training.continues, false) && training.progress) {
    const std::string finished = trainer.finished();
    const std::string text = finished.empty()
                                 ? fmt::format("continues after update {}, in epoch {} of {}",
                                               trainer.updates_done(), trainer.epochs_done() + 1,
                                               trainer.options()["epochs"].get<std::int64_t>())
                                 : "is finished: " + finished;
    LiveView::of_process().say(
        fmt::format("{}the run in '{}' {}", prefix_of(name), trainer.run_folder()->string(), text));
  }
  if (trainer.updates_done() > 0 || !trainer.finished().empty()) return;
  const auto log_file = log_file_of(trainer);
  tell(training,
       {fmt::format("{}training: {} {}, {} updates an epoch, {} parameters", prefix_of(name),
                    trainer.problem().training_strings(), trainer.problem().unit(),
                    trainer.updates_per_epoch(), trainer.model()->parameter_count())},
       {});
}

RoundView::RoundView(const std::vector<Training*>& trainings, std::vector<std::string> names)
    : trainings_(trainings), names_(std::move(names)), counts_(trainings.size()) {
  for (std::size_t i = 0; i < trainings.size(); ++i) {
    Trainer& trainer = *trainings[i]->trainer;
    counts_[i].total = trainer.updates_per_epoch();
    counts_[i].done = counts_[i].total - trainer.updates_left();
    if (!trainings[i]->progress) continue;
    view_.change(row_name(*trainings[i], names_[i]),
                 [&](LiveRow& row) { show_epochs(row, trainer); });
    trainer.callbacks.progress = [this, i](const Progress& progress) {
      if (!progress.validating)
        counts_[i].done = progress.done, counts_[i].seconds = progress.seconds;
      if (view_.due()) show();
    };
  }
}

RoundView::~RoundView() {
  for (Training* training : trainings_) training->trainer->callbacks.progress = nullptr;
}

void RoundView::show() {
  for (std::size_t i = 0; i < counts_.size(); ++i)
    if (trainings_[i]->progress)
      view_.change(row_name(*trainings_[i], names_[i]), [&](LiveRow& row) {
        const auto done = static_cast<double>(counts_[i].done);
        row.part = done / static_cast<double>(counts_[i].total);
        // The updates of several run at the same time.
        if (counts_.size() == 1 && counts_[i].seconds > 0)
          row.speed = fmt::format("{:.0f}/s", done / counts_[i].seconds);
      });
}

void tell_epoch(lua_State* L, Training& training, const EpochMetrics& metrics, double rate,
                const std::string& name) {
  const Trainer& trainer = *training.trainer;
  LiveView& view = LiveView::of_process();
  const std::string prefix = prefix_of(name), start = name.empty() ? "" : name + "  ";
  std::vector<std::string> lines{prefix + epoch_line(metrics)}, shown{start + epoch_text(metrics)};
  if (metrics.stage && *metrics.stage != trainer.stage()) {
    const auto begins = fmt::format("stage {} of {} begins", trainer.stage(), trainer.stages());
    lines.push_back(
        fmt::format("{}{}, learning rate {:.3g}", prefix, begins, trainer.learning_rate()));
    shown.push_back(start + begins);
  } else if (trainer.learning_rate() != rate) {
    lines.push_back(
        fmt::format("{}the learning rate falls to {:.3g} after {} epochs without "
                    "improvement",
                    prefix, trainer.learning_rate(), metrics.epochs_since_improvement));
  }
  const bool over = !trainer.finished().empty();
  if (over) {
    const std::string end =
        fmt::format("training ends: {}; best was epoch {}", trainer.finished(), metrics.best_epoch);
    lines.push_back(prefix + end);
    shown.push_back(start + end);
  }
  if (training.progress)
    view.change(row_name(training, name), [&](LiveRow& row) { show_epochs(row, trainer); });
  // A block that stays has a row for the epoch.
  if (view.stays() && view.style() != LiveView::Style::plain) shown.clear();
  tell(training, lines, shown);
  warn_of(training, metrics, prefix);
  draw_when_due(L, training);
  if (training.mirrored) mirror_training(L, *trainer.run_folder(), "epoch");
  if (over && trainer.run_folder() != nullptr)
    record_training(L, trainer, "ended", *trainer.run_folder());
  if (over && training.mirrored) mirror_training(L, *trainer.run_folder(), "ended");
}

void tell_ended(lua_State* L, Training& training, const std::string& name) {
  const auto text = fmt::format("{}training ends: {}, at update {}", prefix_of(name),
                                training.trainer->finished(), training.trainer->updates_done());
  tell(training, {text}, {text});
  draw_when_due(L, training);
}

void tell_failed(const Training& training, const std::string& name, const std::string& error) {
  log_message("error", prefix_of(name) + error);
  if (!training.progress) return;
  LiveView::of_process().change(row_name(training, name), [](LiveRow& row) {
    row.state = LiveRow::State::failed;
    row.note = "failed";
  });
}

void tell_interrupted(const std::vector<TrainingPtr>& trainings) {
  const Training& first = *trainings.front();
  if (trainings.size() > 1) {
    if (std::any_of(trainings.begin(), trainings.end(),
                    [](const auto& one) { return one->progress; }))
      LiveView::of_process().say(
          "interrupted; run() or the next round with the same trainers continues");
    return;
  }
  const Trainer& trainer = *first.trainer;
  const Path* folder = trainer.run_folder();
  const auto log_file = log_file_of(trainer);
  const auto text = fmt::format(
      "interrupted at update {}, in epoch {} of {}; {} continues", trainer.updates_done(),
      trainer.epochs_done() + 1, trainer.options()["epochs"].get<std::int64_t>(),
      folder ? fmt::format("pd.train.resume('{}'):run()", folder->string())
             : "run() of the same trainer");
  tell(first, {text}, {text});
}

}  // namespace pushdown
