// Training updates of the published implementations, measured on the machine on which the bars were
// set: AMD EPYC (family 25, model 17), one core, Debian 12, PyTorch 1.13.1 on the CPU with one
// thread, float32, batch 10, LSTM of 20 hidden units, vocabulary 3 (7 for 3 x 3), median wall time.
//   conll2020  github.com/bdusell/nondeterministic-stack-rnn, tag conll2020 (c872e4bf): the code of
//              the 2020 paper
//   newest     github.com/bdusell/rau, branch differentiable-stacks (4ff0c04)
#pragma once

namespace pushdown::bench {

struct Published {
  const char* model;
  int length;
  double conll2020_ms, newest_ms;  // 0: not measured, or there is no such model
};

inline constexpr Published kPublished[] = {
    {"none", 40, 3.439, 3.403},
    {"none", 60, 4.772, 4.81},
    {"none", 80, 6.233, 6.213},
    {"superposition size=20", 40, 18.64, 18.67},
    {"superposition size=20", 60, 27.05, 28.81},
    {"superposition size=20", 80, 40.13, 41.25},
    {"stratification size=20", 40, 67.06, 66.88},
    {"stratification size=20", 60, 166.7, 166.8},
    {"stratification size=20", 80, 259.4, 285.3},
    {"nondeterministic 2x2", 40, 1292, 293.0},
    {"nondeterministic 2x2", 60, 4618, 802.1},
    {"nondeterministic 2x2", 80, 11760, 1891},
    {"nondeterministic 2x2 unnormalized", 40, 0, 280.7},
    {"nondeterministic 2x2 unnormalized", 60, 0, 790.3},
    {"nondeterministic 2x2 unnormalized", 80, 0, 1951},
    {"vector_nondeterministic 2x2 size=3", 40, 0, 962.6},
    {"vector_nondeterministic 2x2 size=3", 60, 0, 2794},
    {"vector_nondeterministic 2x2 size=3", 80, 0, 7121},
    // The newest code was not measured at 3 x 2. This is
    // github.com/bdusell/nondeterministic-stack-rnn, main (23e5011), which takes about the same
    // time.
    {"nondeterministic 3x2", 80, 40720, 4586},
    {"nondeterministic 3x3", 40, 12630, 1326},
    {"nondeterministic 3x3", 60, 47930, 3624},
    {"nondeterministic 3x3", 80, 121600, 9654},
};

// Seconds of one epoch of marked reversal (1000 updates, lengths 40 to 80), NS-RNN 2 x 2,
// extrapolated from the updates above.
inline constexpr double kEpochConll2020 = 5253, kEpochNewest = 898;

}  // namespace pushdown::bench
