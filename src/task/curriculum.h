// Ordered parts of a labelled dataset: the strings to train on, in which order and how often.
//
//   sequential    every string in every epoch.
//   incremental   one stage: for N = first .. longest, one pass through all strings of length <= N;
//                 then all strings in random order. With step = s only every s-th N.
//   two_stage     Mali et al. 2019, algorithm 1. Stage 1: for N = 1 .. threshold one pass through
//                 all strings of length <= N, then these strings in random order until e = 200
//                 epochs; stage 2: the same for N = 1 .. longest, until e = 350. e counts the
//                 epochs in random order of both stages.
// The paper's loops continue "while not converged or e < 200" (350), for at most 500 epochs in
// total. `stage_end` decides when a phase in random order ends:
//   'epochs'     on convergence, or after the epochs above
//   'last_open'  the same, but the last stage has no epoch limit of its own
//   'converged'  on convergence alone, in every stage
// The trainer decides about convergence and the total number of epochs. Values of N below the
// shortest string are skipped. If an N adds no string, the pass is still made, as in the algorithm.
#pragma once
#include <limits>

#include "task/labelled_dataset.h"

namespace pushdown {

inline constexpr std::int64_t kNoEpochLimit = std::numeric_limits<std::int64_t>::max();

struct CurriculumPhase {
  int stage = 1;                      // from 1
  std::int64_t longest = 0;           // N: the strings of at most this length
  bool random = false;                // in random order, until converged; else one pass
  std::int64_t epochs = 1;            // maximum of this phase; kNoEpochLimit: up to the trainer
  std::vector<std::int64_t> strings;  // indices into the dataset, from 0, in its order
};

const std::vector<std::string>& curriculum_kinds();
const std::vector<std::string>& stage_ends();

struct CurriculumOptions {
  std::string kind = "sequential";
  std::int64_t threshold = 14;         // two_stage: N_Tr
  std::vector<std::int64_t> epochs{};  // e at the end of each stage; empty: 350, or {200, 350}
  std::int64_t step = 1;               // incremental, two_stage: increment of N
  std::string stage_end = "epochs";
};

// Throws std::invalid_argument on an unknown kind or stage_end, a threshold below the shortest
// string, epochs that are not one positive, increasing number per stage, or a step below 1.
std::vector<CurriculumPhase> curriculum(const LabelledDataset& dataset,
                                        const CurriculumOptions& options);

}  // namespace pushdown
