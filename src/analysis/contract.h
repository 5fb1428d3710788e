// Properties that every component of a model must have, as checks. They run on every row of the
// registries (tests/contract) and on components that a script has defined (pd.stack.check and
// similar functions). The models are small, in float64, over three symbols.
//
// Dimension letters: B batch, n length, V vocabulary, P passes.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "train/kinds.h"

namespace pushdown {

// The violations found, one line each; empty if there are none.
using Complaints = std::vector<std::string>;

struct ContractCheck {
  std::string name;     // 'gradients'
  std::string promise;  // "gradients match finite differences"
  // `options`: of the model, or of the objective. An exception counts as a violation.
  std::function<Complaints(const Json& options, const TrainingKinds& kinds)> run;
};

// For language models, given their options: shapes and finite numbers, probabilities that sum to
// one, gradients, a use for every parameter, independence of sequences from the rest of the batch
// and of prefixes from what follows, reading in pieces, states that are detached or branch, seeds,
// unknown options, CUDA if available.
const std::vector<ContractCheck>& language_model_contract();
// For recognizers, given their options: shapes and decisions, decisions by the mean, strings of a
// batch, symbols one by one, the gradient of a learning algorithm, seeds.
const std::vector<ContractCheck>& recognizer_contract();
// For objectives, given {kind = ..., options}: one finite loss per string, gradients, strings of a
// batch, losses of pieces that add up, unknown options.
const std::vector<ContractCheck>& objective_contract();

// The result of one check.
struct ContractResult {
  std::string name, promise;
  Complaints complaints;
};
// Runs checks. Stops after the check during which should_stop returned true.
std::vector<ContractResult> run_contract(const std::vector<ContractCheck>& checks,
                                         const Json& options, const TrainingKinds& kinds,
                                         const std::function<bool()>& should_stop = {});

// Returns the options that differ from the defaults in small models: {kind, hidden = 4, ...}.
Json small_options(const std::string& kind, const std::vector<OptionSpec>& specs);
// Returns the further values of one option (OptionSpec::tried, its other choices, the other
// boolean), each as a table with the other options that it needs.
std::vector<Json> option_changes(const OptionSpec& spec);
// Returns the small options, and the same with each change of each option.
std::vector<Json> option_variants(const std::string& kind, const std::vector<OptionSpec>& specs);

}  // namespace pushdown
