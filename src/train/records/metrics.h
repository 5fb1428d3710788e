// Metrics of training. Losses and cross-entropies are in nats per symbol; the loss of a recognizer
// is in nats per string.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>

#include "base/options.h"

namespace pushdown {

// Metrics of one parameter update.
struct UpdateMetrics {
  std::int64_t epoch = 0;                    // the current epoch, from 1
  std::int64_t update = 0;                   // updates since training began
  double loss = 0;                           // of this batch, before the update
  double gradient_norm = 0;                  // before clipping
  double learning_rate = 0;                  // before annealing
  std::optional<double> used_learning_rate;  // after it, if there is annealing
};

// Metrics of one epoch.
struct EpochMetrics {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  std::int64_t epoch = 0;             // from 1
  std::int64_t updates = 0;           // since training began
  std::int64_t symbols = 0;           // of the strings trained on in this epoch
  std::optional<std::int64_t> stage;  // of the curriculum, from 1, if there are stages
  // Means over the epoch while the parameters changed; NaN if the problem does not have them: the
  // cross-entropy of a language model, the loss per string of a recognizer.
  double train_cross_entropy = kNone, train_loss = kNone;
  // On the validation set, if there is one; the bound if the source distribution is known.
  std::optional<double> cross_entropy, lower_bound, cross_entropy_difference;
  // See train/evaluation/evaluation.h. The standard error is not recorded.
  bool bound_includes_end = false;
  std::optional<double> difference_error;
  std::optional<double> perplexity;  // exp(cross_entropy), for a running text
  // Fractions of correctly classified strings (recognizer), of the training and of the validation
  // set.
  std::optional<double> train_accuracy, accuracy;
  // Mean of -log p(label) of the answer at the end of the validation strings, in nats per string,
  // for recognizers whose answers are probabilities.
  std::optional<double> label_cross_entropy;
  // On the validation set, if the grammar is known: train/evaluation/accuracy.h,
  // train/evaluation/evaluation.h.
  std::optional<double> prefix_accuracy, next_symbol_accuracy, next_symbol_ranking;
  // exp(train_cross_entropy) of a transducer, and its accuracies on pairs like the training pairs
  // and on others, in the epochs in which they were measured.
  std::optional<double> train_perplexity, train_coarse, train_fine, coarse, fine;
  double gradient_norm = 0;                  // mean over the epoch's updates, before clipping
  double learning_rate = 0;                  // in this epoch, before annealing
  std::optional<double> used_learning_rate;  // in its last update, if there is annealing
  double seconds = 0;                        // training and validation
  double updates_per_second = 0;             // training only
  bool improved = false;
  std::int64_t best_epoch = 0;
  double best_cross_entropy = kNone, best_accuracy = kNone;
  std::int64_t epochs_since_improvement = 0;
};

// The progress of the current epoch.
struct Progress {
  bool validating = false;
  std::int64_t epoch = 0, epochs = 0;  // current, and maximum
  std::int64_t done = 0, total = 0;    // batches of this epoch, or of the validation
  std::int64_t update = 0;             // updates since training began
  double loss = 0;                     // of the last batch
  double learning_rate = 0;
  double seconds = 0;                  // of training in this epoch
  std::int64_t stage = 1, stages = 1;  // current, and last one of the curriculum
};

// Returns the mean training loss of the epoch if it is greater than any that a model which learns
// can have (10^6 nats), although it is finite.
std::optional<double> diverged_loss(const EpochMetrics& epoch);
inline constexpr const char* kDivergenceAdvice =
    "try a smaller learning_rate or clip_norm, or another seed";

// Keys are the members' names; "event" is "update" or "epoch"; values that are unknown or not
// finite are absent.
Json to_json(const UpdateMetrics& metrics);
Json to_json(const EpochMetrics& metrics);
// Throws nlohmann's exceptions on input that does not come from to_json().
EpochMetrics epoch_metrics_from_json(const Json& json);
// "epoch 3: cross-entropy 0.5312, 0.0214 above the lower bound, ..."
std::string epoch_line(const EpochMetrics& epoch);

}  // namespace pushdown
