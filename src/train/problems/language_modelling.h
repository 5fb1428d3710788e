// Training a language model. The loss of a batch is the mean negative log-probability of its
// strings. An epoch is evaluated by the cross-entropy of the validation strings, or of the training
// strings if there are none. With `chunk`, a batch goes through the model in pieces: the state is
// carried over, gradients end at the borders and are summed, and there is still one update per
// batch.
#pragma once
#include "task/dataset.h"
#include "train/problems/language_problem.h"

namespace pushdown {

// `valid` may be null. If the language's grammar is given (it may be null), epochs report
// next_symbol_accuracy on the validation strings (evaluation.h). Throws std::invalid_argument for
// no data, an alphabet that is not the model's, or a grammar together with `chunk`.
ProblemPtr language_modelling(LanguageModelPtr model, DatasetPtr train, DatasetPtr valid,
                              GrammarPtr grammar = nullptr);

// Returns the options chunk and bound.
const std::vector<OptionSpec>& language_modelling_options();
// The option bound, which says of what the lower bound is.
OptionSpec bound_option();
// The option chunk of strings and of sentences.
OptionSpec chunk_option();

}  // namespace pushdown
