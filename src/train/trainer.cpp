#include "train/trainer.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/check.h"
#include "base/stopping.h"
#include "tensor/embedding.h"
#include "train/learning/gradient.h"
#include "train/problems/rows_of_batches.h"

namespace pushdown {
namespace {

constexpr const char* kWhere = "train.trainer";

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string new_identity() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
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
  phases_ = problem_->phases(batch_size_);
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
  const std::string kept =
      folder_ ? fmt::format("; the last good checkpoint is in '{}'", folder_->path().string()) : "";
  fail_environment("train",
                   "{} in epoch {}, update {}, at learning rate {}: training has diverged; {}{}",
                   what, epochs_done() + 1, updates_ + 1, learning_rate(), kDivergenceAdvice, kept);
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

UpdateMetrics Trainer::update() {
  const auto start = Clock::now();
  const at::AutoGradMode with_gradient(true);
  used_ = rows_of_update();
  optimizer_->catch_up(used_);
  table_gradients_.clear(model_->parameters(), used_);
  const BatchLoss sum = differentiate_all();
  const double norm = gradient_norm(model_->parameters(), used_);
  // From here on, an update must not be interrupted.
  const StopScope whole(nullptr);
  check_update(sum, norm);
  if (clip_norm_ > 0) clip_gradient_norm(model_->parameters(), norm, clip_norm_, used_);
  if (clip_value_) clip_gradient_values(model_->parameters(), *clip_value_, used_);
  take_step();
  table_gradients_.note(model_->parameters(), std::move(used_));
  return count_update(sum, norm, seconds_since(start));
}

UsedRows Trainer::rows_of_update() const {
  // Functions of scripts may read all parameters at any time.
  if (!optimizer_->lazy() || noise_ || !model_->frozen().empty() || !problem_->origins().empty())
    return {};
  std::vector<std::vector<std::int64_t>> batches;
  for (std::int64_t k = 0; k < batches_of_update(); ++k) batches.push_back(batch(k));
  return rows_of_batches(*problem_, batches);
}

void Trainer::check_update(const BatchLoss& sum, double norm) {
  if (!std::isfinite(sum.loss)) diverged(fmt::format("the loss became {}", sum.loss));
  if (!std::isfinite(norm)) diverged(fmt::format("the gradient's norm became {}", norm));
  // Only now are the weights known to be valid: they gave a finite loss and gradient.
  if (checkpoint_due_) checkpoint();
}

double Trainer::clip_factor(double norm) const {
  return clip_norm_ > 0 ? norm_clip_factor(norm, clip_norm_) : 1;
}

UpdateMetrics Trainer::count_update(const BatchLoss& sum, double norm, double seconds) {
  std::int64_t strings = 0;
  for (auto left = batches_of_update(); left > 0; --left) {
    strings += static_cast<std::int64_t>(batch().size());
    order_->advance();
  }
  epoch_strings_ += strings;
  ++updates_;
  epoch_sum_.loss += sum.loss;
  epoch_sum_.units += sum.units;
  epoch_sum_.correct += sum.correct;
  epoch_norms_ += norm;
  // Empty strings have a loss, that of their end symbol, but no symbols.
  last_loss_ = sum.loss / (sum.units > 0 ? sum.units : static_cast<double>(strings));
  epoch_seconds_ += seconds;
  return {epochs_done() + 1, updates_, last_loss_, norm, learning_rate()};
}

BatchLoss Trainer::differentiate_all() {
  std::optional<RowGradients> by_rows;
  if (!used_.empty()) by_rows.emplace();
  BatchLoss sum;
  double all = 0, last = 0;
  for (std::int64_t k = 0; k < batches_of_update(); ++k) {
    // Rescales the accumulated gradients, which are a mean over `last` strings, to the size of this
    // batch.
    const double size = mass(batch(k));
    if (k > 0) scale_gradients(model_->parameters(), last / size, used_);
    const BatchLoss one = differentiate(batch(k), k);
    sum.loss += one.loss;
    sum.units += one.units;
    sum.correct += one.correct;
    all += size;
    last = size;
  }
  if (const double factor = last / all * weight(all); factor != 1)
    scale_gradients(model_->parameters(), factor, used_);
  return sum;
}

double Trainer::mass(const std::vector<std::int64_t>& batch) const {
  const auto size = problem_->size(batch);
  return average_ == Average::symbols && problem_->loss_per_symbol() ? size.symbols : size.strings;
}

double Trainer::weight(double mass) const {
  if (average_ == Average::batches) return 1;
  if (total_.first != phase_) {
    total_ = {phase_, 0};
    for (const auto& all : running().batches) {
      const auto size = problem_->size(all);
      total_.second += average_ == Average::symbols ? size.symbols : size.strings;
    }
  }
  return mass * static_cast<double>(updates_per_epoch()) / total_.second;
}

BatchLoss Trainer::differentiate(const std::vector<std::int64_t>& batch, std::int64_t number) {
  // Each update has its own random streams, so a checkpoint needs no generator state.
  const auto seed = options_["seed"].get<std::uint64_t>();
  const auto stream = [&](const char* what) {
    return Random(seed, fmt::format("{} of update {}", what, updates_) +
                            (number > 0 ? fmt::format(", batch {}", number + 1) : ""));
  };
  Random random = stream("noise");
  if (!noise_ || !noise_->active(epochs_done() + 1, running().stage))
    return problem_->differentiate(batch, random);
  Random of_weights = stream("weight noise");
  noise_->apply(of_weights);
  // Restores the weights however the pass ends.
  const std::shared_ptr<void> restore(nullptr, [this](void*) { noise_->restore(); });
  return problem_->differentiate(batch, random);
}

double Trainer::step_rate() const {
  const auto annealed =
      std::count_if(history_.begin(), history_.end(), [&](const EpochMetrics& epoch) {
        return epoch.stage.value_or(1) <= annealing_->last_stage();
      });
  return optimizer_->learning_rate() *
         annealing_->factor({epochs_done() + 1, updates_ + 1, running().stage, annealed});
}

void Trainer::take_step() {
  const double rate = optimizer_->learning_rate();
  optimizer_->set_learning_rate(step_rate());
  const std::shared_ptr<void> restore(nullptr, [&](void*) { optimizer_->set_learning_rate(rate); });
  if (model_->frozen().empty()) return optimizer_->step(used_);
  // Frozen entries are restored afterwards; a zero gradient would not be enough, because weight
  // decay and momentum change them, too.
  at::NoGradGuard no_grad;
  std::vector<std::pair<Tensor, Tensor>> before;
  for (const auto& [name, parameter] : model_->parameters())
    if (model_->frozen().contains(name)) before.emplace_back(parameter, parameter.clone());
  optimizer_->step();
  auto old = before.begin();
  for (const auto& [name, parameter] : model_->parameters())
    if (const auto mask = model_->frozen().find(name); mask != model_->frozen().end()) {
      parameter.copy_(at::where(mask->second, old->second, parameter));
      ++old;
    }
}

std::optional<UpdateMetrics> Trainer::step() {
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

std::optional<LikelihoodBatch> Trainer::shared_batch() const {
  const bool plain = accumulate_ == 1 && !noise_ && !clip_value_ && model_->frozen().empty();
  if (!plain || !finished().empty() || closed_ || order_->at_end()) return std::nullopt;
  auto shared = problem_->likelihood_batch(batch());
  if (shared) shared->weight = weight(mass(batch()));
  return shared;
}

void Trainer::start_clock() {
  if (!began_) began_ = Clock::now();
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
  metrics.seconds = epoch_seconds_ + seconds_since(start);
  metrics.updates_per_second = static_cast<double>(updates_per_epoch()) / epoch_seconds_;
  metrics.improved = schedule_->observe(value);
  optimizer_->set_learning_rate(schedule_->decayed(learning_rate()));
  metrics.epochs_since_improvement = schedule_->since_best();
  metrics.best_epoch = metrics.epoch - schedule_->since_best();
  problem_->set_best(metrics, metrics.improved ? metrics : history_[metrics.best_epoch - 1]);
  if (metrics.improved) {
    best_.clear();
    for (const auto& [name, parameter] : model_->parameters())
      best_.push_back(parameter.detach().clone());
  }
  history_.push_back(metrics);
  epoch_sum_ = {};
  epoch_strings_ = 0;
  epoch_norms_ = epoch_seconds_ = 0;
  ++phase_epochs_;
  const bool done = problem_->converged(metrics);
  const bool own_next =
      !last_phase() && phases_[static_cast<std::size_t>(phase_) + 1].own_validation;
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

void Trainer::save(const Path& folder, bool overwrite, const Json& about) {
  if (about_.empty()) about_ = about;
  if (!parameters_finite()) diverged("the weights are no longer finite, they cannot be saved");
  std::error_code other;
  if (folder_ && std::filesystem::equivalent(folder, folder_->path(), other)) return checkpoint();
  const RunFolder target(folder, config(), *problem_, overwrite, history_, updates_);
  if (!best_.empty()) target.write_best(best_file());
  write_initial(target);
  target.write_last(state());
}

}  // namespace pushdown
