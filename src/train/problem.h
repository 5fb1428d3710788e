// What a trainer trains: a model, the strings that it learns and those that it is measured on, how
// a batch's gradient comes about, and what an epoch is judged by. The trainer knows nothing else of
// the difference between a language model and a recognizer.
#pragma once
#include <functional>
#include <limits>
#include <optional>

#include "grammar/grammar.h"
#include "model/sequence_model.h"
#include "train/evaluation_options.h"
#include "train/kinds.h"
#include "train/metrics.h"

namespace pushdown {

// A part of the training: so many epochs over these batches. Batches are lists of numbers of
// training strings, all of one length.
struct TrainingPhase {
  std::vector<std::vector<std::int64_t>> batches;
  std::int64_t epochs = std::numeric_limits<std::int64_t>::max();  // at most
  int stage = 1;                                                   // of a curriculum, from 1
};

// Strings whose mean of -log p by a language model is what a batch learns to make small.
struct LikelihoodBatch {
  Tensor words;      // B x n
  double units = 0;  // of BatchLoss
};

struct BatchLoss {
  double loss = 0;           // the sum over the batch's strings
  double units = 0;          // what it is divided by for the reader: symbols, or strings
  std::int64_t correct = 0;  // strings that were recognized, where that is a question
};

class Problem {
 public:
  // The grammar of the language, where it is known to measure by it; may be null.
  explicit Problem(GrammarPtr grammar = nullptr) : grammar_(std::move(grammar)) {}
  virtual ~Problem() = default;

  const GrammarPtr& grammar() const { return grammar_; }

  virtual const char* kind() const = 0;  // the model's kind
  virtual SequenceModelPtr model() const = 0;
  // The trainer's options that only this problem has, and those whose values decided what was
  // done: a checkpoint fits a trainer that has the same.
  virtual const std::vector<OptionSpec>& options() const = 0;
  virtual const std::vector<const char*>& fixed_options() const = 0;
  // Takes the resolved options of a trainer, and completes the nested ones in place.
  virtual void configure(Json& options) = 0;

  virtual std::int64_t training_strings() const = 0;
  virtual const char* unit() const { return "strings"; }  // what these are
  virtual std::vector<TrainingPhase> phases(std::int64_t batch) const = 0;
  // Whether the batches of an epoch are taken in their order, each going on where the one before it
  // ended; else in an order shuffled anew for every epoch.
  virtual bool in_order() const { return false; }
  // What the batch at this place of an epoch goes on from, for a checkpoint, and back; nothing
  // where all batches stand alone. std::invalid_argument for tensors that do not fit.
  virtual std::vector<Tensor> carried(std::int64_t position) const { return {}; }
  virtual void carry_on(std::int64_t position, const std::vector<Tensor>& tensors) {}
  // Adds the gradient of the mean loss of the batch's strings to the parameters' gradients.
  virtual BatchLoss differentiate(const std::vector<std::int64_t>& batch, Random& random) = 0;
  // The batch as such strings, where its gradient is theirs by the whole of the model, a language
  // model, so that it can be found together with those of other trainers (train/shared_updates.h).
  virtual std::optional<LikelihoodBatch> likelihood_batch(const std::vector<std::int64_t>&) const {
    return std::nullopt;
  }
  // Fills in the numbers of an epoch whose batches gave `sum`. `phase` is the running one;
  // metrics.epoch is known.
  // False: should_stop said so.
  virtual bool measure(EpochMetrics& metrics, const BatchLoss& sum, std::int64_t strings,
                       const TrainingPhase& phase, const EvaluationOptions& options) const = 0;
  // What decides which epoch is best, after measure(): the smaller the better.
  virtual double value(const EpochMetrics& metrics) const = 0;
  // Writes the best value among the numbers of an epoch.
  virtual void set_best(EpochMetrics& metrics, double value) const = 0;
  // Whether nothing is left to learn in the running phase, and how that is said.
  virtual bool converged(const EpochMetrics& metrics) const { return false; }
  virtual const char* convergence() const { return "nothing is left to learn"; }

  // The files of the data in a run folder, and {strings, symbols, shortest, longest, ...} for the
  // configuration; valid: nothing where there are no such strings.
  virtual std::string train_text() const = 0;
  virtual std::optional<std::string> valid_text() const = 0;
  virtual Json describe_train() const = 0;
  virtual Json describe_valid() const = 0;
  // Where scripts defined parts of what is trained, once it is configured. With such parts it is
  // trained on the thread of these scripts alone.
  virtual std::vector<OriginPtr> origins() const { return model()->network().origins(); }
  // What is computed on first use, before several threads ask for it.
  virtual void prepare() const {}

 protected:
  const GrammarPtr grammar_;
};
using ProblemPtr = std::shared_ptr<Problem>;

// A text and the file it was read from.
struct StoredText {
  std::string text, file;
};
// The problem that a run folder holds.
ProblemPtr stored_problem(const SequenceModelPtr& model, const StoredText& train,
                          const std::optional<StoredText>& valid,
                          const std::optional<StoredText>& grammar = std::nullopt,
                          const std::vector<ObjectiveKind>& objectives = objective_kinds());

}  // namespace pushdown
