// The loss that training of a recognizer minimises, for each string of a batch. Objectives are
// created by name through the list in objective.cpp.
//   stepwise  sum over all passes of -y log s - (1 - y) log(1 - s), s = logistic(score): the label
//             y is the target after every symbol (Mali et al. 2019, equations 7 and 9); with
//             average = true their mean, so that long strings count no more than short ones
//   final     the same for the last pass of the string alone
//   joint     the next symbol and the label together (joint.cpp)
//   state_and_length   see state_and_length.cpp
//
// Dimension letters: B batch, P passes (symbols times K), H hidden, V outcomes of the next symbol.
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "array/array_program.h"
#include "base/origin.h"
#include "base/registry.h"
#include "recurrence/execute/answer_losses.h"

namespace pushdown {

// Strings or pieces of strings. If there is nothing to read, there is one column: the score before
// anything was read.
struct ObjectiveBatch {
  Tensor scores;           // B x P
  Tensor hiddens;          // B x P x H
  Tensor weights;          // B x P, 0 for passes that were skipped; undefined: all 1
  Tensor labels;           // B, of the scores' type: 1 valid, 0 not
  Tensor next_scores;      // B x P x V, logits of the next symbol; undefined without such a layer
  Tensor next;             // B x P (int64), the next symbol, -1 if none follows; defined with it
  Tensor next_sets;        // B x P x V (int64): 2 an outcome that may follow, 1 one that may not, 0
                           // where this is unknown; undefined if it is for all strings
  bool ends = true;        // whether the last pass is the last one of the strings
  Tensor viable;           // B (int64): number of symbols after which no string of the language can
                           // follow, or more than the length; undefined if not known
  std::int64_t first = 0;  // number of symbols of the strings before this piece
  std::int64_t passes = 1;  // K
  std::int64_t length = 0;  // number of symbols of the whole strings; 0: of this batch
};

// The form of a batch of strings or pieces without skipped passes, on the CPU.
struct ObjectiveForm {
  std::int64_t all_passes = 0;  // P
  std::int64_t hidden = 0;      // H
  std::int64_t outcomes = 0;    // V; 0 without next_scores
  std::int64_t passes = 1;      // K
  bool viable = false;          // whether it is known
  bool next_sets = false;       // the same
  at::TensorOptions options;    // of the scores
  // Of pieces, see ObjectiveBatch.
  bool ends = true;
  std::int64_t first = 0, length = 0;
};

class Objective {
 public:
  virtual ~Objective() = default;
  virtual Tensor losses(const ObjectiveBatch& batch) const = 0;  // B
  // Returns true for the cross-entropy of every pass and false for that of the last pass, so that a
  // network's own kernel can compute it (Network::differentiate); nothing for any other objective.
  virtual std::optional<bool> cross_entropy_of_every_pass() const { return std::nullopt; }
  // Returns the costs of the answers after every pass if the objective is their sum, or their mean
  // (averaged), so that they can be computed in one operation; nothing for any other objective.
  virtual std::optional<AnswerCosts> answer_costs() const { return std::nullopt; }
  // Returns whether the sum is divided by the number of passes, K times the length.
  virtual bool averaged() const { return false; }
  // Returns the loss of one string of such a batch as an array program, or null. The inputs of the
  // program are scores, hiddens, labels, next_scores, next + 1, viable and next_sets of
  // ObjectiveBatch, all as numbers of one type.
  virtual ArrayProgramPtr program(const ObjectiveForm& form) const { return nullptr; }
  // Notes that a script may have changed values on which the losses depend.
  virtual void script_ran() const {}
  // Returns whether it needs ObjectiveBatch::next_scores.
  virtual bool needs_next_symbol() const { return false; }
  // Returns whether it needs ObjectiveBatch::next_sets.
  virtual bool needs_next_sets() const { return false; }
  // For an objective that a script defined: the place of the definition. Its function runs only on
  // the thread of that script.
  virtual OriginPtr origin() const { return nullptr; }
};
using ObjectivePtr = std::unique_ptr<const Objective>;

// The loss of a string with these scores, with all options at their defaults.
struct ObjectiveExample {
  std::vector<double> scores;
  bool valid;
  double loss;
};
struct ObjectiveKind : RegistryRow<std::function<ObjectivePtr(const Json& options)>> {
  std::vector<ObjectiveExample> examples;  // compared by the tests
};

const std::vector<ObjectiveKind>& objective_kinds();

// Returns {kind = 'stepwise'} with all defaults; a text is the kind alone. `kinds`: the available
// kinds, which may be more than the registry's.
Json resolve_objective(const Json& options,
                       const std::vector<ObjectiveKind>& kinds = objective_kinds());
ObjectivePtr make_objective(const Json& options,
                            const std::vector<ObjectiveKind>& kinds = objective_kinds());

}  // namespace pushdown
