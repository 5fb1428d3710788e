// Training a transducer on pairs without end (Grefenstette et al. 2015): every update draws `batch`
// new pairs; its loss is the mean over them of -log p(target and end | source). `epoch_batches`
// updates count as an epoch, which is judged by the cross-entropy per target symbol while it was
// trained: the paper's average training perplexity. Every `accuracy_every` epochs `accuracy_pairs`
// new pairs are drawn of the training source, and of a second one, to be written
// (transduction_accuracy.h); what is measured on the second source decides nothing.
//
// The pairs of an update come from the trainer's seed and the number of the update alone, and those
// that are measured from the epoch's, so that a resumed training sees the same.
#pragma once
#include "model/transducer.h"
#include "task/transduction.h"
#include "train/problem.h"

namespace pushdown {

// `test` may be null. std::invalid_argument: no source, or alphabets that are not the model's.
ProblemPtr transduction(TransducerPtr model, PairSourcePtr train, PairSourcePtr test);

// epoch_batches, accuracy_every, accuracy_pairs.
const std::vector<OptionSpec>& transduction_options();

}  // namespace pushdown
