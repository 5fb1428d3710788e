// Training a language model on a running text. The text is cut into `batch` streams and these into
// pieces of `chunk` words (backpropagation truncated there); a piece is one update, and an epoch
// takes all of them in their order, the state carried on from one to the next and begun anew with
// the epoch. The loss of an update is the sum over the piece's words of -log p, divided by the
// number of streams; an epoch is judged by the cross-entropy per word of the validation text, read
// in the same way, or of the training text where there is none. See text_reader.h for the stack.
#pragma once
#include "task/running_text.h"
#include "train/language_modelling.h"

namespace pushdown {

// `valid` may be null. std::invalid_argument: no text, a vocabulary that is not the model's, a
// model that predicts an end symbol or whose state cannot be stored.
ProblemPtr text_modelling(LanguageModelPtr model, RunningTextPtr train, RunningTextPtr valid);

// chunk, stack_chunks.
const std::vector<OptionSpec>& text_modelling_options();

}  // namespace pushdown
