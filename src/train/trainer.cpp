#include "train/trainer.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/check.h"
#include "base/stopping.h"
#include "tensor/embedding.h"

namespace pushdown {
namespace {

constexpr const char* kWhere = "train.trainer";

std::string new_identity() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

std::vector<Tensor> copies(const ParameterList& parameters) {
  std::vector<Tensor> list;
  for (const auto& [name, parameter] : parameters) list.push_back(parameter.detach().clone());
  return list;
}

void assign(const ParameterList& parameters, const std::vector<Tensor>& values) {
  at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Tensor parameter = parameters[i].second;
    parameter.copy_(values[i]);
  }
}

}  // namespace

Trainer::Trainer(ProblemPtr problem, const Json& options, const Json& about)
    : problem_(std::move(problem)),
      model_(problem_->model()),
      options_(resolve_options(kWhere, trainer_options(problem_->options()), options)),
      about_(about),
      run_(new_identity()) {
  options_["optimizer"] = resolve_optimizer(options_["optimizer"]);
  problem_->configure(options_);
  if (!options_["noise"].is_null()) {
    options_["noise"] =
        resolve_options("train.trainer noise", AdaptiveNoise::options(), options_["noise"]);
    noise_.emplace(options_["noise"], model_->parameters());
  }
  batch_size_ = options_["batch"];
  clip_norm_ = options_["clip_norm"];
  if (options_["clip_value"].is_number()) clip_value_ = options_["clip_value"].get<double>();
  log_every_ = options_["log_every"];
  checkpoint_every_ = options_["checkpoint_every"];
  checkpoint_seconds_ = options_["checkpoint_seconds"];
  accumulate_ = options_["accumulate"];
  check(accumulate_ == 1 || !problem_->in_order(), kWhere,
        "accumulate must be 1 for running texts, whose batches continue each other");
  if (options_["max_seconds"].is_number()) max_seconds_ = options_["max_seconds"].get<double>();
  average_ = options_["average"] == "strings"   ? Average::strings
             : options_["average"] == "symbols" ? Average::symbols
                                                : Average::batches;
  for (const char* name : {"clip_norm", "clip_value"})
    if (options_[name].is_number())
      check_number(kWhere, name, options_[name], model_->parameters());
  phases_ = problem_->phases(batch_size_);
  for (const TrainingPhase& phase : phases_)
    if (phase.learning_rate)
      check_number(kWhere, "learning_rate", *phase.learning_rate, model_->parameters());
  order_ = order_of(0);
  annealing_.emplace(options_["annealing"], options_["seed"].get<std::uint64_t>(),
                     updates_of_all_phases());
  options_["annealing"] = annealing_->options();
  optimizer_ = make_optimizer(model_->parameters(), options_["optimizer"]);
  if (running().learning_rate) optimizer_->set_learning_rate(*running().learning_rate);
  schedule_.emplace(options_);
  last_checkpoint_ = Clock::now();
  if (options_["run_folder"].is_string())
    open_run_folder(options_["run_folder"].get<std::string>(), options_["overwrite"]);
}

BatchOrder Trainer::order_of(std::int64_t phase) const {
  const auto stream =
      phase == 0 ? std::string("batch order") : fmt::format("batch order of phase {}", phase + 1);
  return BatchOrder(static_cast<std::int64_t>(phases_[phase].batches.size()),
                    Random(options_["seed"].get<std::uint64_t>(), stream), !problem_->in_order());
}

std::int64_t Trainer::updates_of_all_phases() const {
  std::int64_t epochs = options_["epochs"], updates = 0;
  for (const TrainingPhase& phase : phases_) {
    const auto here = std::min(epochs, phase.epochs);
    updates += here * updates_of(std::ssize(phase.batches));
    epochs -= here;
  }
  return updates;
}

void Trainer::diverged(const std::string& what) const {
  // Networks seldom have numbers above this one, unless training has made them grow.
  constexpr double kUsual = 100;
  double greatest = 0;
  std::string name, state, advice;
  for (const auto& [own, parameter] : model_->parameters()) {
    if (parameter.numel() == 0) continue;
    const double here = parameter.detach().abs().max().item<double>();
    if (here <= greatest) continue;
    greatest = here;
    name = own;
    if (!std::isfinite(here)) break;
  }
  if (std::isfinite(greatest))
    state = fmt::format("all parameters are finite, the greatest number is {:.3g} in '{}'",
                        greatest, name);
  else
    state = fmt::format("'{}' has numbers that are not finite", name);
  if (updates_ == 0)
    advice = std::isfinite(greatest)
                 ? "no update was made before, so the learning rate is not the cause; try dtype = "
                   "'float64' or smaller initial parameters"
                 : "no update was made before; set finite parameters";
  else if (greatest <= kUsual)
    advice = "the learning rate is not the likely cause; try dtype = 'float64', or another seed";
  else
    advice = fmt::format("training has diverged; {}", kDivergenceAdvice);
  fail_environment(
      "train", "{} in epoch {}, update {}, at learning rate {}: {}; {}{}", what, epochs_done() + 1,
      updates_ + 1, step_rate(), state, advice,
      folder_ ? fmt::format("; the last good checkpoint is in '{}'", folder_->path().string())
              : "");
}

const std::vector<std::int64_t>& Trainer::batch(std::int64_t ahead) const {
  return running().batches[order_->ahead(ahead)];
}

std::int64_t Trainer::batches_of_update() const {
  return std::min(accumulate_, order_->count() - order_->position());
}

bool Trainer::out_of_time() const {
  return max_seconds_ && began_ && seconds_since(*began_) >= *max_seconds_;
}

std::optional<UpdateMetrics> Trainer::step() {
  use_last();
  const auto afterwards = catching_up();
  problem_->script_ran();
  if (closed_ || order_->at_end()) {
    // The last epoch may have been the one whose validation was interrupted.
    if (!close_epoch() || !finished().empty()) return std::nullopt;
  }
  const auto metrics = take_batch();
  // If the validation is interrupted, the next call repeats it.
  if (metrics && order_->at_end()) close_epoch();
  return metrics;
}

std::optional<UpdateMetrics> Trainer::take_batch() {
  start_clock();
  if (stopped()) {
    checkpoint();
    return std::nullopt;
  }
  UpdateMetrics metrics;
  try {
    metrics = update();
  } catch (const Stopped&) {
    // The stopped update has changed nothing.
    checkpoint();
    return std::nullopt;
  }
  tell_update(metrics);
  return metrics;
}

void Trainer::finish_update(const BatchLoss& sum, double norm, double seconds) {
  tell_update(count_update(sum, norm, seconds));
}

void Trainer::tell_update(const UpdateMetrics& metrics) {
  if (folder_) {
    if (log_every_ > 0 && updates_ % log_every_ == 0) folder_->append(to_json(metrics));
    checkpoint_due_ =
        checkpoint_due_ || (checkpoint_every_ > 0 && updates_ % checkpoint_every_ == 0) ||
        (checkpoint_seconds_ > 0 && seconds_since(last_checkpoint_) > checkpoint_seconds_);
  }
  if (callbacks.progress)
    callbacks.progress({false, epochs_done() + 1, options_["epochs"],
                        updates_per_epoch() - updates_left(), updates_per_epoch(), updates_,
                        last_loss_, learning_rate(), epoch_seconds_, stage(), stages()});
}

std::optional<EpochMetrics> Trainer::run_epoch() {
  problem_->script_ran();
  if (advance(order_->count()) != Advance::closed) return std::nullopt;
  return history_.back();
}

Trainer::Advance Trainer::advance(std::int64_t count) {
  use_last();
  const auto afterwards = catching_up();
  if (closed_) return close_epoch(), Advance::closed;
  for (; count > 0 && !order_->at_end(); --count)
    if (!take_batch()) return Advance::stopped;
  if (!order_->at_end()) return Advance::running;
  return close_epoch() ? Advance::closed : Advance::stopped;
}

std::optional<EpochMetrics> Trainer::close_epoch() {
  if (closed_) return write_epoch();
  const auto start = Clock::now();
  optimizer_->catch_up();
  if (by_kernels_) by_kernels_->forget();
  if (!parameters_finite()) diverged("a weight is no longer finite");
  EpochMetrics metrics;
  EvaluationOptions evaluation{batch_size_};
  evaluation.should_stop = callbacks.should_stop;
  if (callbacks.progress)
    evaluation.progress = [&](std::int64_t done, std::int64_t total) {
      callbacks.progress({true, epochs_done() + 1, options_["epochs"], done, total, updates_,
                          last_loss_, learning_rate(), epoch_seconds_});
    };
  metrics.epoch = epochs_done() + 1;
  const auto measured = [&] {
    try {
      return problem_->measure(metrics, epoch_sum_, epoch_strings_, running(), evaluation);
    } catch (const Stopped&) {
      return false;
    }
  };
  if (!measured()) {
    checkpoint();
    return std::nullopt;
  }
  const double value = problem_->value(metrics);
  if (!std::isfinite(value)) diverged(fmt::format("the validation loss became {}", value));
  metrics.updates = updates_;
  if (stages() > 1 || metrics.train_accuracy) metrics.stage = running().stage;
  metrics.gradient_norm = epoch_norms_ / static_cast<double>(updates_per_epoch());
  metrics.learning_rate = learning_rate();
  metrics.used_learning_rate = used_rate(updates_);
  metrics.seconds = epoch_seconds_ + seconds_since(start);
  metrics.updates_per_second = static_cast<double>(updates_per_epoch()) / epoch_seconds_;
  metrics.improved = schedule_->observe(value);
  optimizer_->set_learning_rate(schedule_->decayed(learning_rate()));
  metrics.epochs_since_improvement = schedule_->since_best();
  metrics.best_epoch = metrics.epoch - schedule_->since_best();
  problem_->set_best(metrics, metrics.improved ? metrics : history_[metrics.best_epoch - 1]);
  if (metrics.improved) best_ = copies(model_->parameters());
  history_.push_back(metrics);
  epoch_sum_ = {};
  epoch_strings_ = 0;
  epoch_norms_ = epoch_seconds_ = 0;
  ++phase_epochs_;
  const bool done = problem_->converged(metrics);
  const bool own_next = !last_phase() && phases_[phase_ + 1].own_validation;
  if (!last_phase() &&
      (done || phase_epochs_ >= running().epochs || (own_next && schedule_->should_stop()))) {
    ++phase_;
    phase_epochs_ = 0;
    order_ = order_of(phase_);
    problem_->enter(running());
    if (running().learning_rate) optimizer_->set_learning_rate(*running().learning_rate);
    // Without validation strings, the values of two phases come from different strings, too.
    if (own_next || (!metrics.accuracy && !metrics.cross_entropy)) schedule_.emplace(options_);
  } else {
    converged_ = done && last_phase();
    order_->next_epoch();
  }
  closed_ = metrics;
  line_written_ = false;
  return write_epoch();
}

EpochMetrics Trainer::write_epoch() {
  const EpochMetrics metrics = *closed_;
  if (folder_) {
    // In this order, a kill in between repeats the end of the epoch and loses nothing.
    if (!line_written_) folder_->append(to_json(metrics));
    line_written_ = true;
    if (metrics.improved) folder_->write_best(best_file());
    checkpoint();
  }
  closed_.reset();
  return metrics;
}

std::string Trainer::finished() const {
  const std::string reason = end_reason();
  if (reason.empty() || history_.empty()) return reason;
  const auto loss = diverged_loss(history_.back());
  return loss ? fmt::format("{}; training has diverged, the mean loss is {:.3g}", reason, *loss)
              : reason;
}

std::string Trainer::end_reason() const {
  if (closed_) return "";
  if (epochs_done() >= options_["epochs"].get<std::int64_t>())
    return fmt::format("{} of {} epochs are done", epochs_done(),
                       options_["epochs"].get<std::int64_t>());
  if (converged_) return problem_->convergence();
  if (last_phase() && phase_epochs_ >= running().epochs) return "the curriculum is done";
  if (schedule_->should_stop())
    return fmt::format("no improvement for {} epochs", schedule_->since_best());
  if (out_of_time()) return fmt::format("the time limit of {} s is reached", *max_seconds_);
  return "";
}

void Trainer::open_run_folder(const Path& folder, bool overwrite) {
  folder_ = std::make_unique<RunFolder>(folder, config(), *problem_, overwrite, history_, updates_);
  if (!best_.empty()) folder_->write_best(best_file());
  write_initial(*folder_);
  checkpoint();
}

void Trainer::write_initial(const RunFolder& folder) const {
  if (updates_ == 0 && parameters_finite()) folder.write_initial(state());
}

bool Trainer::parameters_finite() const {
  return std::all_of(model_->parameters().begin(), model_->parameters().end(),
                     [](const auto& entry) {
                       return at::isfinite(entry.second.detach()).all().template item<bool>();
                     });
}

void Trainer::checkpoint() {
  const StopScope whole(nullptr);
  optimizer_->catch_up();
  if (folder_ && parameters_finite()) folder_->write_last(state());
  checkpoint_due_ = false;
  last_checkpoint_ = Clock::now();
}

void Trainer::use_best() {
  if (best_.empty() || uses_best()) return;
  optimizer_->catch_up();
  last_ = copies(model_->parameters());
  assign(model_->parameters(), best_);
}

void Trainer::use_last() {
  if (uses_best()) assign(model_->parameters(), last_);
  last_.clear();
}

bool Trainer::uses_best() const {
  const auto& parameters = model_->parameters();
  for (std::size_t i = 0; i < last_.size(); ++i)
    if (!at::equal(parameters[i].second.detach(), best_[i])) return false;
  return !last_.empty();
}

void Trainer::save(const Path& folder, bool overwrite, const Json& about) {
  if (about_.empty()) about_ = about;
  if (!parameters_finite()) diverged("the weights are no longer finite and cannot be saved");
  std::error_code other;
  if (folder_ && std::filesystem::equivalent(folder, folder_->path(), other)) return checkpoint();
  const RunFolder target(folder, config(), *problem_, overwrite, history_, updates_);
  if (!best_.empty()) target.write_best(best_file());
  write_initial(target);
  target.write_last(state());
}

}  // namespace pushdown
