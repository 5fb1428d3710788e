// A training of a language model on random words, whose updates benchmarks measure.
#pragma once
#include "train/trainer.h"

namespace pushdown::bench {

// An LSTM or a transformer, and what it reads.
struct Sizes {
  std::int64_t hidden = 20, layers = 1, batch = 10, vocabulary = 100, length = 80;
};

// Returns the alphabet "0", "1", ..
Alphabet numbered_alphabet(std::int64_t size);

// Returns a trainer of this model. All strings have `length` symbols. An epoch has 64 updates; the
// last one of them also evaluates the model.
std::unique_ptr<Trainer> random_training(const Json& model, const Sizes& sizes);

}  // namespace pushdown::bench
