#include "train/trainer.h"

#include <cmath>
#include <random>

#include "base/check.h"
#include "train/gradient.h"

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

// Strings without symbols carry nothing to learn unless an end symbol closes them.
std::vector<std::vector<std::int64_t>> training_batches(const Dataset& dataset, std::int64_t size,
                                                        bool end_symbol) {
  auto batches = equal_length_batches(dataset, size);
  if (!end_symbol)
    std::erase_if(batches,
                  [&](const auto& batch) { return dataset.words()[batch.front()].empty(); });
  check(!batches.empty(), kWhere, "the training set has nothing but empty strings");
  return batches;
}

}  // namespace

const std::vector<OptionSpec>& trainer_options() {
  static const std::vector<OptionSpec> specs = [] {
    std::vector<OptionSpec> all{
        integer_option("batch", 10, "strings of equal length in one update", 1),
        integer_option("chunk", 0,
                       "symbols that gradients reach back: longer strings are cut into pieces of "
                       "so many, the state carried on; 0: never",
                       0),
        integer_option("epochs", 200, "training ends after so many at the latest", 1),
        table_option("optimizer", Json{{"kind", "adam"}}, "optimizer: kind and its options"),
        number_option("clip_norm", 5.0, "longer gradients are scaled to this norm; 0: never", 0),
        number_option("clip_value", nullptr, "gradient entries are cut to plus or minus this", 0)};
    all.insert(all.end(), schedule_options().begin(), schedule_options().end());
    all.insert(
        all.end(),
        {integer_option("seed", 0, "seed of the order of the batches", 0),
         text_option("run_folder", nullptr, "metrics and checkpoints are written there"),
         boolean_option("overwrite", false, "replace another run in run_folder"),
         integer_option("checkpoint_every", 0,
                        "updates between checkpoints within an epoch; 0: by time alone", 0),
         number_option("checkpoint_seconds", 60.0,
                       "seconds between checkpoints within an epoch; 0: never", 0),
         integer_option("log_every", 0, "updates between lines in metrics.jsonl; 0: never", 0)});
    return all;
  }();
  return specs;
}

Trainer::Trainer(LanguageModelPtr model, DatasetPtr train, DatasetPtr valid, const Json& options,
                 const Json& about)
    : model_(std::move(model)),
      train_(std::move(train)),
      valid_(std::move(valid)),
      options_(resolve_options(kWhere, trainer_options(), options)),
      about_(about),
      run_(new_identity()) {
  check(model_ != nullptr, kWhere, "there is no model");
  check(train_ != nullptr, kWhere, "there is no training set");
  check_alphabets(kWhere, *model_, *train_);
  if (valid_ != nullptr) {
    check_alphabets(kWhere, *model_, *valid_);
    check(valid_->symbol_count() > 0, kWhere, "the validation set has nothing but empty strings");
  }
  check(train_->symbol_count() > 0, kWhere, "the training set has nothing but empty strings");
  options_["optimizer"] = resolve_optimizer(options_["optimizer"]);
  batch_size_ = options_["batch"];
  chunk_ = options_["chunk"];
  clip_norm_ = options_["clip_norm"];
  if (options_["clip_value"].is_number()) clip_value_ = options_["clip_value"].get<double>();
  log_every_ = options_["log_every"];
  checkpoint_every_ = options_["checkpoint_every"];
  checkpoint_seconds_ = options_["checkpoint_seconds"];
  batches_ = training_batches(*train_, batch_size_, model_->end_symbol());
  order_.emplace(static_cast<std::int64_t>(batches_.size()),
                 Random(options_["seed"].get<std::uint64_t>(), "batch order"));
  optimizer_ = make_optimizer(model_->parameters(), options_["optimizer"]);
  schedule_.emplace(options_);
  last_checkpoint_ = Clock::now();
  if (options_["run_folder"].is_string())
    open_run_folder(options_["run_folder"].get<std::string>(), options_["overwrite"]);
}

void Trainer::diverged(const std::string& what) const {
  const std::string kept =
      folder_ ? fmt::format("; the last good checkpoint is in '{}'", folder_->path().string()) : "";
  fail_environment("train",
                   "{} in epoch {}, update {}, at learning rate {}: training has diverged; try a "
                   "smaller learning_rate or clip_norm, or another seed{}",
                   what, epochs_done() + 1, updates_ + 1, learning_rate(), kept);
}

UpdateMetrics Trainer::update() {
  const auto start = Clock::now();
  const at::AutoGradMode with_gradient(true);
  const auto& batch = batches_[static_cast<std::size_t>(order_->current())];
  double loss = 0, symbols = 0;
  for (const auto index : batch)
    symbols += static_cast<double>(train_->words()[static_cast<std::size_t>(index)].size());
  // A stream for each update: going on from a checkpoint needs no state.
  Random noise(options_["seed"].get<std::uint64_t>(), fmt::format("noise of update {}", updates_));
  clear_gradients(model_->parameters());
  model_->visit_log_probabilities(
      batch_tensor(*train_, batch), chunk_, &noise, [&](const Tensor& log_probabilities) {
        const Tensor losses = log_probabilities.neg();  // B, of one piece
        const Tensor values = losses.detach().to(at::kCPU, at::kDouble).contiguous();
        for (std::int64_t i = 0; i < values.numel(); ++i) loss += values.data_ptr<double>()[i];
        if (!std::isfinite(loss)) diverged(fmt::format("the loss became {}", loss));
        losses.mean().backward();
      });
  const double norm = gradient_norm(model_->parameters());
  if (!std::isfinite(norm)) diverged(fmt::format("the gradient's norm became {}", norm));
  // Only now are the weights known to be good: they gave a finite loss and gradient.
  if (checkpoint_due_) checkpoint();
  if (clip_norm_ > 0) clip_gradient_norm(model_->parameters(), norm, clip_norm_);
  if (clip_value_) clip_gradient_values(model_->parameters(), *clip_value_);
  optimizer_->step();

  order_->advance();
  ++updates_;
  epoch_loss_ += loss;
  epoch_symbols_ += symbols;
  epoch_norms_ += norm;
  // Empty strings predict their end symbol alone.
  last_loss_ = loss / (symbols > 0 ? symbols : static_cast<double>(batch.size()));
  epoch_seconds_ += seconds_since(start);
  return {epochs_done() + 1, updates_, last_loss_, norm, learning_rate()};
}

std::optional<UpdateMetrics> Trainer::step() {
  if (order_->at_end() && !close_epoch()) return std::nullopt;
  const auto metrics = take_batch();
  // An interrupt in the validation leaves it to the next call.
  if (metrics && order_->at_end()) close_epoch();
  return metrics;
}

std::optional<UpdateMetrics> Trainer::take_batch() {
  if (stopped()) {
    checkpoint();
    return std::nullopt;
  }
  const UpdateMetrics metrics = update();
  if (folder_) {
    if (log_every_ > 0 && updates_ % log_every_ == 0) folder_->append(to_json(metrics));
    checkpoint_due_ =
        checkpoint_due_ || (checkpoint_every_ > 0 && updates_ % checkpoint_every_ == 0) ||
        (checkpoint_seconds_ > 0 && seconds_since(last_checkpoint_) > checkpoint_seconds_);
  }
  if (callbacks.progress)
    callbacks.progress({false, epochs_done() + 1, options_["epochs"], order_->position(),
                        order_->count(), updates_, last_loss_, learning_rate(), epoch_seconds_});
  return metrics;
}

std::optional<EpochMetrics> Trainer::run_epoch() {
  if (advance(order_->count()) != Advance::closed) return std::nullopt;
  return history_.back();
}

Trainer::Advance Trainer::advance(std::int64_t count) {
  for (; count > 0 && !order_->at_end(); --count)
    if (!take_batch()) return Advance::stopped;
  if (!order_->at_end()) return Advance::running;
  return close_epoch() ? Advance::closed : Advance::stopped;
}

std::optional<EpochMetrics> Trainer::close_epoch() {
  const auto start = Clock::now();
  if (!parameters_finite()) diverged("a weight is no longer finite");
  EpochMetrics metrics;
  if (valid_ != nullptr) {
    EvaluationOptions evaluation{batch_size_};
    evaluation.chunk = chunk_;
    evaluation.should_stop = callbacks.should_stop;
    if (callbacks.progress)
      evaluation.progress = [&](std::int64_t done, std::int64_t total) {
        callbacks.progress({true, epochs_done() + 1, options_["epochs"], done, total, updates_,
                            last_loss_, learning_rate(), epoch_seconds_});
      };
    const auto result = evaluate(*model_, *valid_, evaluation);
    if (!result) {
      checkpoint();
      return std::nullopt;
    }
    if (!std::isfinite(result->all.cross_entropy))
      diverged(fmt::format("the validation loss became {}", result->all.cross_entropy));
    metrics.cross_entropy = result->all.cross_entropy;
    metrics.lower_bound = result->all.lower_bound;
    metrics.cross_entropy_difference = result->all.difference;
  }
  metrics.epoch = epochs_done() + 1;
  metrics.updates = updates_;
  metrics.train_cross_entropy = epoch_loss_ / epoch_symbols_;
  metrics.gradient_norm = epoch_norms_ / static_cast<double>(order_->count());
  metrics.learning_rate = learning_rate();
  metrics.seconds = epoch_seconds_ + seconds_since(start);
  metrics.updates_per_second = static_cast<double>(order_->count()) / epoch_seconds_;
  metrics.improved =
      schedule_->observe(metrics.cross_entropy.value_or(metrics.train_cross_entropy));
  optimizer_->set_learning_rate(schedule_->decayed(learning_rate()));
  metrics.epochs_since_improvement = schedule_->since_best();
  metrics.best_epoch = metrics.epoch - schedule_->since_best();
  metrics.best_cross_entropy = *schedule_->best();
  if (metrics.improved) {
    best_.clear();
    for (const auto& [name, parameter] : model_->parameters())
      best_.push_back(parameter.detach().clone());
  }
  history_.push_back(metrics);
  epoch_loss_ = epoch_symbols_ = epoch_norms_ = epoch_seconds_ = 0;
  order_->next_epoch();
  if (folder_) {
    // In this order a kill in between repeats the epoch's end and loses nothing.
    folder_->append(to_json(metrics));
    if (metrics.improved) folder_->write_best(best_file());
    checkpoint();
  }
  return metrics;
}

std::string Trainer::finished() const {
  if (epochs_done() >= options_["epochs"].get<std::int64_t>())
    return fmt::format("{} of {} epochs are done", epochs_done(),
                       options_["epochs"].get<std::int64_t>());
  if (schedule_->should_stop())
    return fmt::format("no improvement for {} epochs", schedule_->since_best());
  return "";
}

void Trainer::open_run_folder(const Path& folder, bool overwrite) {
  folder_ = std::make_unique<RunFolder>(folder, config(), *train_, valid_.get(), overwrite,
                                        history_, updates_);
  if (!best_.empty()) folder_->write_best(best_file());
  checkpoint();
}

bool Trainer::parameters_finite() const {
  return std::all_of(model_->parameters().begin(), model_->parameters().end(),
                     [](const auto& entry) {
                       return at::isfinite(entry.second.detach()).all().template item<bool>();
                     });
}

void Trainer::checkpoint() {
  checkpoint_due_ = false;
  if (!folder_ || !parameters_finite()) return;
  folder_->write_last(state());
  last_checkpoint_ = Clock::now();
}

void Trainer::save(const Path& folder, bool overwrite, const Json& about) {
  if (about_.empty()) about_ = about;
  if (!parameters_finite()) diverged("the weights are no longer finite, they cannot be saved");
  std::error_code other;
  if (folder_ && std::filesystem::equivalent(folder, folder_->path(), other)) return checkpoint();
  const RunFolder target(folder, config(), *train_, valid_.get(), overwrite, history_, updates_);
  if (!best_.empty()) target.write_best(best_file());
  target.write_last(state());
}

}  // namespace pushdown
