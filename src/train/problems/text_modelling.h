// Training a language model on a running text. The text is cut into `batch` streams, and these into
// pieces of `chunk` words, at whose borders backpropagation is truncated. A piece is one update. An
// epoch takes all pieces in order; the state is carried over from one to the next and starts anew
// with the epoch. The loss of an update is the sum of -log p over the piece's words, divided by the
// number of streams. An epoch is evaluated by the cross-entropy per word of the validation text,
// read in the same way, or of the training text if there is none. See text_reader.h for the stack.
#pragma once
#include "task/running_text.h"
#include "train/problems/language_modelling.h"

namespace pushdown {

// `valid` may be null. Throws std::invalid_argument for no text, a vocabulary that is not the
// model's, or a model that predicts an end symbol or whose state cannot be stored.
ProblemPtr text_modelling(LanguageModelPtr model, RunningTextPtr train, RunningTextPtr valid);

// Returns the options chunk, stack_chunks.
const std::vector<OptionSpec>& text_modelling_options();

}  // namespace pushdown
