// Ordered parts of a labelled data set: which strings are trained on, when and how often.
//
//   sequential    every string in every epoch.
//   incremental   one stage: for N = first .. longest, one pass through all strings of length <= N;
//                 then all strings in random order. With step = s only every s-th N.
//   two_stage     Mali et al. 2019, algorithm 1. Stage 1: for N = 1 .. threshold one pass through
//                 all strings of length <= N, then these strings in random order until e = 200
//                 epochs; stage 2: the same for N = 1 .. longest, until e = 350. e counts the
//                 epochs in random order of both stages.
// The paper's loops go on "while not converged or e < 200" (350), of at most 500 epochs in all.
// What ends a phase in random order is `stage_end`:
//   'epochs'     convergence, or the epochs above
//   'last_open'  the same, but the last stage has no number of epochs of its own
//   'converged'  convergence alone, in every stage
// Convergence and the number of all epochs are the trainer's.
// Values of N below the shortest string are left out; where N adds no string the pass is made all
// the same, as in the algorithm.
#pragma once
#include <limits>

#include "task/labelled_dataset.h"

namespace pushdown {

inline constexpr std::int64_t kNoEpochLimit = std::numeric_limits<std::int64_t>::max();

struct CurriculumPhase {
  int stage = 1;                      // from 1
  std::int64_t longest = 0;           // N: the strings of at most this length
  bool random = false;                // in random order, until converged; else one pass
  std::int64_t epochs = 1;            // at most, of this phase; kNoEpochLimit: the trainer's
  std::vector<std::int64_t> strings;  // numbers in the data set, from 0, in its order
};

const std::vector<std::string>& stage_ends();

struct CurriculumOptions {
  std::string kind = "sequential";
  std::int64_t threshold = 14;         // two_stage: N_Tr
  std::vector<std::int64_t> epochs{};  // e at the end of each stage; empty: 350, or {200, 350}
  std::int64_t step = 1;               // incremental, two_stage: from one N to the next
  std::string stage_end = "epochs";
};

// Throws std::invalid_argument on an unknown kind or stage_end, a threshold below the shortest
// string, a number of epochs that is not one per stage, positive and rising, or a step below 1.
std::vector<CurriculumPhase> curriculum(const LabelledDataset& dataset,
                                        const CurriculumOptions& options);

}  // namespace pushdown
