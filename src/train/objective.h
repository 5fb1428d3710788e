// What a recognizer is trained to make small, for each string of a batch. Objectives are made by
// name through the list in objective.cpp.
//   stepwise  sum over all passes of -y log s - (1 - y) log(1 - s), s = logistic(score): the label
//             y is the target after every symbol (Mali et al. 2019, equations 7 and 9); with
//             average = true their mean, so that long strings count no more than short ones
//   final     the same for the last pass of the string alone
//   joint     the next symbol and the label together (joint.h)
//   state_and_length   see state_and_length.h
//
// Dimension letters: B batch, P passes (symbols times K), H hidden, V outcomes of the next symbol.
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "base/origin.h"
#include "base/registry.h"
#include "recurrence/answer_losses.h"

namespace pushdown {

// Strings or pieces of strings. Where a string has nothing to read there is one column: the score
// before anything was read.
struct ObjectiveBatch {
  Tensor scores;       // B x P
  Tensor hiddens;      // B x P x H
  Tensor weights;      // B x P, 0 for passes that were left out; undefined: all 1
  Tensor labels;       // B, of the scores' type: 1 valid, 0 not
  Tensor next_scores;  // B x P x V, logits of the next symbol; undefined without such a layer
  Tensor next;         // B x P (int64), the next symbol, -1 where none follows; defined with it
  bool ends = true;    // whether the last pass is the strings' last
  Tensor viable;       // B (int64), where known: after how many symbols no string of the language
                       // can follow any more, or more than there are; undefined where not known
  std::int64_t first = 0;   // how many symbols of the strings were read before this piece
  std::int64_t passes = 1;  // K
  std::int64_t length = 0;  // symbols that are read of the whole strings; 0: those of this batch
};

class Objective {
 public:
  virtual ~Objective() = default;
  virtual Tensor losses(const ObjectiveBatch& batch) const = 0;  // B
  // Whether it is the cross-entropy of every pass (true) or of the last one (false), so that a
  // network's own kernel can take it (Network::differentiate); nothing for any other objective.
  virtual std::optional<bool> cross_entropy_of_every_pass() const { return std::nullopt; }
  // Costs of the answers after every pass whose sum the objective is, or their mean (averaged),
  // so that they are found in one operation; nothing for any other objective.
  virtual std::optional<AnswerCosts> answer_costs() const { return std::nullopt; }
  // Whether the sum is divided by the number of passes, K times the length.
  virtual bool averaged() const { return false; }
  // Whether it needs ObjectiveBatch::next_scores.
  virtual bool needs_next_symbol() const { return false; }
  // Of an objective that a script defined: where. Such a one runs on the thread of that script
  // alone.
  virtual OriginPtr origin() const { return nullptr; }
};
using ObjectivePtr = std::unique_ptr<const Objective>;
using ObjectiveKind = RegistryRow<std::function<ObjectivePtr(const Json& options)>>;

const std::vector<ObjectiveKind>& objective_kinds();

// {kind = 'stepwise'} with all defaults; a text is the kind alone. `kinds`: those there are, if
// they are more than the registry's.
Json resolve_objective(const Json& options,
                       const std::vector<ObjectiveKind>& kinds = objective_kinds());
ObjectivePtr make_objective(const Json& options,
                            const std::vector<ObjectiveKind>& kinds = objective_kinds());

}  // namespace pushdown
