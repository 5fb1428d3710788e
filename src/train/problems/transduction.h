// Training a transducer on an endless supply of pairs (Grefenstette et al. 2015). Every update
// draws `batch` new pairs; its loss is the mean of -log p(target and end | source) over them. With
// average = 'symbols' the sum is divided by the mean number of target symbols and ends of an
// update, with 'batches' by the number of this update.
// `epoch_batches` updates count as an epoch, which is evaluated by the cross-entropy per target
// symbol during its training: the paper's average training perplexity. Every `accuracy_every`
// epochs, `accuracy_pairs` new pairs are drawn from the training source and from a second source,
// and the accuracy of the written targets is measured (transduction_accuracy.h). The results on the
// second source affect nothing.
//
// The pairs of an update depend only on the trainer's seed and the number of the update, and the
// pairs for measurements only on the seed and the epoch, so that a resumed run sees the same pairs.
#pragma once
#include "model/transducer.h"
#include "task/transduction.h"
#include "train/problems/problem.h"

namespace pushdown {

// `test` may be null. Throws std::invalid_argument for no source, or alphabets that are not the
// model's.
ProblemPtr transduction(TransducerPtr model, PairSourcePtr train, PairSourcePtr test);

// Returns the options epoch_batches, accuracy_every, accuracy_pairs, stop_perplexity.
const std::vector<OptionSpec>& transduction_options();

}  // namespace pushdown
