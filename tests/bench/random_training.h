// Trainings of language models on random words, whose updates benchmarks measure.
#pragma once
#include "train/trainer.h"

namespace pushdown::bench {

struct Sizes {
  std::int64_t hidden = 20, layers = 1, batch = 10, vocabulary = 100, length = 80;
};

// An LSTM or a transformer that reads an embedding of the size of the hidden vector.
struct Network {
  bool attention;
  Sizes of;

  std::string name() const;
  Json model() const;
  // Each product with a matrix counts three times, and so do the scores and readings of attention,
  // which position t computes from t positions.
  double multiply_adds() const;
};

// Returns a trainer of this model. All strings have `length` symbols. An epoch has 64 updates; the
// last one of them also evaluates the model.
std::unique_ptr<Trainer> random_training(const Json& model, const Sizes& sizes);

}  // namespace pushdown::bench
