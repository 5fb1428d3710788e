// A problem defines what a trainer trains: a model, the strings that it is trained and evaluated
// on, the computation of a batch's gradient, and the value by which epochs are compared. The
// trainer knows no other difference between a language model and a recognizer.
#pragma once
#include <functional>
#include <limits>
#include <optional>

#include "grammar/grammar.h"
#include "model/sequence_model.h"
#include "train/evaluation/evaluation_options.h"
#include "train/kinds.h"
#include "train/records/metrics.h"

namespace pushdown {

// A phase of training: a number of epochs over these batches. Batches are lists of indices of
// training strings, all of the same length.
struct TrainingPhase {
  std::vector<std::vector<std::int64_t>> batches;
  std::int64_t epochs = std::numeric_limits<std::int64_t>::max();  // maximum
  int stage = 1;                                                   // stage of a curriculum, from 1
  // Whether the phase is measured on other strings than the one before: the schedule then begins
  // anew, and early stopping ends only the phase before.
  bool own_validation = false;
  std::optional<double> learning_rate = std::nullopt;  // at its start; none: it goes on as it is
};

// Strings whose mean of -log p under a language model is the loss of a batch.
struct LikelihoodBatch {
  Tensor words;       // B x n
  double units = 0;   // see BatchLoss
  double weight = 1;  // of this mean in the epoch, see Trainer
};

struct BatchLoss {
  double loss = 0;           // sum over the batch's strings
  double units = 0;          // divisor for reports: number of symbols, or of strings; may be 0
  std::int64_t correct = 0;  // correctly classified strings, for recognizers
};

// What a batch counts in a mean over all strings, or over all symbols, of an epoch.
struct BatchSize {
  double strings = 0, symbols = 0;
};

class Problem {
 public:
  // The grammar of the language, if known, for evaluations; may be null.
  explicit Problem(GrammarPtr grammar = nullptr) : grammar_(std::move(grammar)) {}
  virtual ~Problem() = default;

  const GrammarPtr& grammar() const { return grammar_; }

  virtual const char* kind() const = 0;  // the model's kind
  virtual SequenceModelPtr model() const = 0;
  // The trainer's options that only this problem has, and those whose values must be the same when
  // a checkpoint is resumed.
  virtual const std::vector<OptionSpec>& options() const = 0;
  virtual const std::vector<const char*>& fixed_options() const = 0;
  // Takes the resolved options of a trainer and completes the nested ones in place.
  virtual void configure(Json& options) = 0;

  virtual std::int64_t training_strings() const = 0;
  virtual const char* unit() const { return "strings"; }  // unit of the count in reports
  virtual std::vector<TrainingPhase> phases(std::int64_t batch) const = 0;
  // Notes that the next batches are those of this phase; without a call they are those of the
  // first.
  virtual void enter(const TrainingPhase& phase) {}
  // Returns the stages with data of their own before the last one, which train_text() and the
  // functions beside it describe (train/problems/stages.h).
  virtual std::vector<std::shared_ptr<Problem>> earlier_stages() const { return {}; }
  virtual BatchSize size(const std::vector<std::int64_t>& batch) const = 0;
  // Returns whether the loss of a string is a mean over its symbols, and not a sum.
  virtual bool loss_per_symbol() const { return false; }
  // Returns whether an epoch takes its batches in order, each continuing from the end of the
  // previous one; otherwise the order is shuffled anew for every epoch.
  virtual bool in_order() const { return false; }
  // The state from which the batch at this position of an epoch continues, for a checkpoint, and
  // its restoration; empty if the batches are independent. Throws std::invalid_argument for tensors
  // that do not fit.
  virtual std::vector<Tensor> carried(std::int64_t position) const { return {}; }
  virtual void carry_on(std::int64_t position, const std::vector<Tensor>& tensors) {}
  // Adds the gradient of the mean loss of the batch's strings to the parameters' gradients.
  virtual BatchLoss differentiate(const std::vector<std::int64_t>& batch, Random& random) = 0;
  // Returns the ids of all symbols that the model reads in a batch, in any shape; undefined if they
  // are not known in advance, or if the gradients of the tables of other symbols
  // (Network::symbol_tables) may not be zero.
  virtual Tensor symbols_read(const std::vector<std::int64_t>& batch) const { return {}; }
  // Returns the batch in this form if its gradient is that of the whole language model on these
  // strings, so that it can be computed together with those of other trainers
  // (train/shared_updates.h).
  virtual std::optional<LikelihoodBatch> likelihood_batch(const std::vector<std::int64_t>&) const {
    return std::nullopt;
  }
  // Fills in the metrics of an epoch with the summed batch losses `sum`. `phase` is the current
  // one; metrics.epoch is known. Returns false if should_stop returned true.
  virtual bool measure(EpochMetrics& metrics, const BatchLoss& sum, std::int64_t strings,
                       const TrainingPhase& phase, const EvaluationOptions& options) const = 0;
  // Returns the value that decides which epoch is best, after measure(); smaller is better.
  virtual double value(const EpochMetrics& metrics) const = 0;
  // Stores what the best epoch so far has reached in the metrics of the last one.
  virtual void set_best(EpochMetrics& metrics, const EpochMetrics& best) const = 0;
  // Whether nothing is left to learn in the current phase, and the message for this.
  virtual bool converged(const EpochMetrics& metrics) const { return false; }
  virtual const char* convergence() const { return "training has converged"; }

  // The data files in a run folder, and {strings, symbols, shortest, longest, ...} for the
  // configuration; valid: nothing if there are no such strings.
  virtual std::string train_text() const = 0;
  virtual std::optional<std::string> valid_text() const = 0;
  virtual Json describe_train() const = 0;
  virtual Json describe_valid() const = 0;
  // Returns the places where scripts defined parts of what is trained, after configuration. Their
  // functions run only on the thread of these scripts.
  virtual std::vector<OriginPtr> origins() const { return model()->network().origins(); }
  // Notes that a script may have changed values that its parts written in Lua read.
  virtual void script_ran() const {}
  // Computes lazily computed values before several threads need them.
  virtual void prepare() const {}

 protected:
  const GrammarPtr grammar_;
};
using ProblemPtr = std::shared_ptr<Problem>;

}  // namespace pushdown
