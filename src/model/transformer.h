// A transformer over the symbols of a string, optionally with stack attention (Vaswani et al. 2017;
// Dusell and Chiang 2024). Position 0 has a begin symbol, position t symbol w_t:
//   x_t = dropout(sqrt(d) E[w_t] + position_t),
//     position_t[2i] = sin(t / 10000^(2i/d)),  position_t[2i+1] = cos(t / 10000^(2i/d)).
// Each layer consists of a sublayer that looks back (sublayer.h) and a feedforward one, both as
//   x <- x + dropout(f(LayerNorm(x))),     feedforward: f(x) = W_2 relu(W_1 x + b_1) + b_2;
// and h_t = LayerNorm(x_t) after the last layer.
//
// Dropout masks are drawn from the generator of the training pass (Network::run), so that a resumed
// run repeats them. Without a generator, nothing is dropped.
#pragma once
#include "model/network.h"

namespace pushdown {

// Returns the architecture with the options hidden (d), layers, heads, feedforward, dropout.
NetworkKind transformer_network();

}  // namespace pushdown
