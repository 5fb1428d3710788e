// What holds for whatever a model is made of, as checks that can be run on any of it: on every row
// of the registries (tests/contract) and on what a script has defined (pd.stack.check and the
// like). The models are small, in float64, over three symbols.
//
// Dimension letters: B batch, n length, V vocabulary, P passes.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "train/kinds.h"

namespace pushdown {

// What went wrong, a line each; nothing where all is well.
using Complaints = std::vector<std::string>;

struct ContractCheck {
  std::string name;     // 'gradients'
  std::string promise;  // "gradients are those of finite differences"
  // `options`: of the model, or of the objective. An exception is a complaint, too.
  std::function<Complaints(const Json& options, const TrainingKinds& kinds)> run;
};

// Of language models, given their options: shapes and finite numbers, probabilities that sum to
// one, gradients, a use for every parameter, sequences of a batch and prefixes that do not depend
// on what else there is, reading in pieces, states that are detached or branch, seeds, unknown
// options, CUDA where there is any.
const std::vector<ContractCheck>& language_model_contract();
// Of recognizers, given their options: shapes and decisions, decisions by the mean, strings of a
// batch, symbols one by one, the gradient that a learning algorithm leaves, seeds.
const std::vector<ContractCheck>& recognizer_contract();
// Of objectives, given {kind = ..., options}: one finite loss a string, gradients, strings of a
// batch, losses of pieces that add up, unknown options.
const std::vector<ContractCheck>& objective_contract();

// The outcome of one check.
struct ContractResult {
  std::string name, promise;
  Complaints complaints;
};
// Runs checks. Stops after the one during which should_stop said so.
std::vector<ContractResult> run_contract(const std::vector<ContractCheck>& checks,
                                         const Json& options, const TrainingKinds& kinds,
                                         const std::function<bool()>& should_stop = {});

// Small sizes for every option that is a size: {kind, hidden = 4, size = 3, ...}.
Json small_options(const std::string& kind, const std::vector<OptionSpec>& specs);

}  // namespace pushdown
