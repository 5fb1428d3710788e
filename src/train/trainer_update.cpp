// One update of a trainer.
#include <algorithm>
#include <cmath>

#include "base/stopping.h"
#include "tensor/embedding.h"
#include "train/learning/gradient.h"
#include "train/problems/rows_of_batches.h"
#include "train/trainer.h"

namespace pushdown {

UpdateMetrics Trainer::update() {
  const auto start = Clock::now();
  const at::AutoGradMode with_gradient(true);
  if (const auto made = update_by_kernels(start)) return *made;
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

std::optional<UpdateMetrics> Trainer::update_by_kernels(Clock::time_point start) {
  const auto* model = dynamic_cast<const LanguageModel*>(model_.get());
  if (!std::exchange(engine_known_, true) && model != nullptr) {
    auto own = engine != nullptr ? engine : engine_of(*model);
    if (own != nullptr) by_kernels_.emplace(std::move(own));
  }
  if (!by_kernels_) return std::nullopt;
  auto batch = shared_batch();
  if (!batch) return std::nullopt;
  clear_gradients(model_->parameters());
  optimizer_->catch_up();
  const double units = batch->units;
  const DeviceUpdateSums sums =
      by_kernels_->differentiate({{model, optimizer_.get()}}, {std::move(*batch)})[0];
  const BatchLoss sum{-sums.log_probability, units};
  const double norm = std::sqrt(sums.squares);
  // From here on, an update must not be interrupted.
  const StopScope whole(nullptr);
  check_update(sum, norm);
  by_kernels_->step({{0, clip_factor(norm), step_rate()}});
  return count_update(sum, norm, seconds_since(start));
}

UsedRows Trainer::rows_of_update() const {
  // Functions of scripts may read all parameters at any time.
  if (!optimizer_->lazy() || noise_ || !trains_everything() || !problem_->origins().empty())
    return {};
  std::vector<std::vector<std::int64_t>> batches;
  for (std::int64_t k = 0; k < batches_of_update(); ++k) batches.push_back(batch(k));
  return rows_of_batches(*problem_, batches);
}

std::string Trainer::first_failing() {
  if (problem_->in_order() || problem_->unit() != std::string_view("strings")) return "";
  const at::AutoGradMode with_gradient(true);
  try {
    for (std::int64_t k = 0; k < batches_of_update(); ++k)
      for (const std::int64_t string : batch(k)) {
        Random random(options_["seed"].get<std::uint64_t>(), "noise");
        clear_gradients(model_->parameters());
        const double loss = problem_->differentiate({string}, random).loss;
        if (std::isfinite(loss) && std::isfinite(gradient_norm(model_->parameters()))) continue;
        clear_gradients(model_->parameters());
        return fmt::format(" on string {} of the training set", string + 1);
      }
  } catch (...) {  // a function of a script on another thread, for example
  }
  clear_gradients(model_->parameters());
  return "";
}

bool Trainer::trains_everything() const {
  const auto& parameters = model_->parameters();
  return model_->frozen().empty() &&
         std::all_of(parameters.begin(), parameters.end(),
                     [](const auto& entry) { return entry.second.requires_grad(); });
}

void Trainer::check_update(const BatchLoss& sum, double norm) {
  if (!std::isfinite(sum.loss))
    diverged(fmt::format("the loss became {}{}", sum.loss, first_failing()));
  if (!std::isfinite(norm))
    diverged(fmt::format("the gradient's norm became {}{}", norm, first_failing()));
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
  return {epochs_done() + 1, updates_, last_loss_, norm, learning_rate(), used_rate(updates_)};
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

std::optional<double> Trainer::used_rate(std::int64_t update) const {
  if (!annealing_->active()) return std::nullopt;
  const auto annealed =
      std::count_if(history_.begin(), history_.end(), [&](const EpochMetrics& epoch) {
        return epoch.stage.value_or(1) <= annealing_->last_stage();
      });
  return optimizer_->learning_rate() *
         annealing_->factor({epochs_done() + 1, update, running().stage, annealed});
}

double Trainer::step_rate() const { return used_rate(updates_ + 1).value_or(learning_rate()); }

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

std::optional<LikelihoodBatch> Trainer::shared_batch() const {
  const bool plain = accumulate_ == 1 && !noise_ && !clip_value_ && trains_everything();
  if (!plain || !finished().empty() || closed_ || order_->at_end()) return std::nullopt;
  auto shared = problem_->likelihood_batch(batch());
  if (shared) shared->weight = weight(mass(batch()));
  return shared;
}

void Trainer::start_clock() {
  if (!began_) began_ = Clock::now();
}

void Trainer::begin_sharing() {
  use_last();
  start_clock();
  clear_gradients(model_->parameters());
  if (by_kernels_) by_kernels_->forget();
}

}  // namespace pushdown
