// Training a language model on the sentences of a corpus. Batches are sentences of the same length.
// The loss of a batch is the mean of -log p over its sentences, including the end symbol, so the
// model must have one. An epoch is evaluated by the cross-entropy of the validation sentences, or
// of the training sentences if there are none, in nats per word, where the end of a sentence counts
// as a word. The perplexity is exp of that.
//
// The sentences stay in their files; the run folder contains a reference to them
// (task/token_file.h).
#pragma once
#include "task/token_file.h"
#include "train/problems/language_modelling.h"
#include "train/problems/text_reader.h"

namespace pushdown {

// `valid` may be null. Throws std::invalid_argument for no sentences, a vocabulary that is not the
// model's, or a model without an end symbol.
ProblemPtr sentence_modelling(LanguageModelPtr model, TokenFilePtr train, TokenFilePtr valid);

// Returns the option chunk.
const std::vector<OptionSpec>& sentence_modelling_options();

// Returns nothing if should_stop returned true. words: those of the sentences and their ends.
std::optional<TextEvaluation> evaluate(const LanguageModel& model, const TokenFile& sentences,
                                       const EvaluationOptions& options);

}  // namespace pushdown
