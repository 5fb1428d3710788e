// The numbers that training reports. Losses and cross-entropies are in nats per symbol; the loss of
// a recognizer is in nats per string.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>

#include "base/options.h"

namespace pushdown {

// After one update of the parameters.
struct UpdateMetrics {
  std::int64_t epoch = 0;    // the running epoch, from 1
  std::int64_t update = 0;   // updates since training began
  double loss = 0;           // of this batch, before the update
  double gradient_norm = 0;  // before clipping
  double learning_rate = 0;
};

// After one epoch.
struct EpochMetrics {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  std::int64_t epoch = 0;    // from 1
  std::int64_t updates = 0;  // since training began
  std::int64_t symbols = 0;  // of the strings that this epoch was trained on
  std::int64_t stage = 1;    // of the curriculum, from 1
  // Means over the epoch, while the parameters changed; not a number where it is not this
  // problem's: the cross-entropy of a language model, the loss of a string of a recognizer.
  double train_cross_entropy = kNone, train_loss = kNone;
  // On the validation set, if there is one; the bound if its source is known.
  std::optional<double> cross_entropy, lower_bound, cross_entropy_difference;
  std::optional<double> perplexity;  // exp(cross_entropy), of a running text
  // Shares of strings that a recognizer tells right, of the training and of the validation set.
  std::optional<double> train_accuracy, accuracy;
  // Of the validation set, where the grammar is known: train/accuracy.h, train/evaluation.h.
  std::optional<double> prefix_accuracy, next_symbol_accuracy;
  // exp(train_cross_entropy) of a transducer, and its accuracies on pairs like the training ones
  // and on others, in the epochs in which they were measured.
  std::optional<double> train_perplexity, train_coarse, train_fine, coarse, fine;
  double gradient_norm = 0;       // mean over the epoch's updates, before clipping
  double learning_rate = 0;       // that this epoch was trained with
  double seconds = 0;             // training and validation
  double updates_per_second = 0;  // training alone
  bool improved = false;
  std::int64_t best_epoch = 0;
  double best_cross_entropy = kNone, best_accuracy = kNone;
  std::int64_t epochs_since_improvement = 0;
};

// Where a running epoch stands.
struct Progress {
  bool validating = false;
  std::int64_t epoch = 0, epochs = 0;  // running, at most
  std::int64_t done = 0, total = 0;    // batches of this epoch, or of the validation
  std::int64_t update = 0;             // updates since training began
  double loss = 0;                     // of the last batch
  double learning_rate = 0;
  double seconds = 0;  // of training in this epoch
};

// Keys are the members' names; "event" is "update" or "epoch"; what is unknown or not finite is
// absent.
Json to_json(const UpdateMetrics& metrics);
Json to_json(const EpochMetrics& metrics);
// Throws nlohmann's exceptions on what to_json() did not make.
EpochMetrics epoch_metrics_from_json(const Json& json);

}  // namespace pushdown
