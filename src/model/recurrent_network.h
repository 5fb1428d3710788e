// A recurrent network with a stack that reads one-hot symbols (Dusell and Chiang 2020, sections 4.1
// and 5.4) or, with embedding = N > 0, the rows of a trained matrix V x N. h_0 = 0; reading symbol
// t gives h_t from [one-hot w_t ; reading_{t-1}], and h_t drives stack step t. Options
// (stack_rnn.h) set how the reading reaches the controller, the noise on its state and when the
// state is carried forward.
#pragma once
#include "model/network.h"

namespace pushdown {

// Returns the architecture with the options controller, stack, embedding, kernels, coupling, noise,
// noise_mean, carry_forward.
NetworkKind recurrent_network();

}  // namespace pushdown
