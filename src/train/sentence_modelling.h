// Training a language model on the sentences of a corpus. Batches are sentences of one length; the
// loss of a batch is the mean over its sentences of -log p, the end symbol's included, so that the
// model must have one. An epoch is judged by the cross-entropy of the validation sentences, or of
// the training sentences where there are none, in nats per word, where the end of a sentence counts
// as a word: perplexity is exp of that.
//
// The sentences stay in their files; the run folder has a note of them (task/token_file.h).
#pragma once
#include "task/token_file.h"
#include "train/language_modelling.h"
#include "train/text_reader.h"

namespace pushdown {

// `valid` may be null. std::invalid_argument: no sentences, a vocabulary that is not the model's, a
// model without an end symbol.
ProblemPtr sentence_modelling(LanguageModelPtr model, TokenFilePtr train, TokenFilePtr valid);

// Nothing when should_stop said so. words: those of the sentences and their ends.
std::optional<TextEvaluation> evaluate(const LanguageModel& model, const TokenFile& sentences,
                                       const EvaluationOptions& options);

}  // namespace pushdown
