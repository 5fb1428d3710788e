// Training a language model: the loss of a batch is the mean over its strings of their negative
// log-probability; an epoch is judged by the cross-entropy of the validation strings, or of the
// training strings where there are none. With `chunk` a batch goes through the model in pieces: the
// state is carried on, gradients end at the borders and are summed, and there is still one update
// for each batch.
#pragma once
#include "task/dataset.h"
#include "train/language_problem.h"

namespace pushdown {

// `valid` may be null. With the language's grammar, which may be null, epochs have
// next_symbol_accuracy of the validation strings (evaluation.h). std::invalid_argument: no data, an
// alphabet that is not the model's, or a grammar together with `chunk`.
ProblemPtr language_modelling(LanguageModelPtr model, DatasetPtr train, DatasetPtr valid,
                              GrammarPtr grammar = nullptr);

// chunk.
const std::vector<OptionSpec>& language_modelling_options();

}  // namespace pushdown
