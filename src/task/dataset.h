// A data set of strings over one alphabet, with (where it is known) the log-probability of each
// string under the distribution it was drawn from. That distribution gives the lower bound that a
// model's cross-entropy is compared with.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "grammar/alphabet.h"
#include "tensor/torch.h"

namespace pushdown {

class Dataset {
 public:
  using LogProbability = std::function<double(const Word&)>;  // natural logarithm

  // Throws std::invalid_argument when there are no strings or an id is outside the alphabet.
  // `log_probability` may be empty; it is asked once per string, on the first use.
  Dataset(Alphabet alphabet, std::vector<Word> words, LogProbability log_probability = nullptr);
  // The same with log-probabilities already known (one per word).
  Dataset(Alphabet alphabet, std::vector<Word> words, std::vector<double> log_probabilities);

  const Alphabet& alphabet() const { return alphabet_; }
  const std::vector<Word>& words() const { return words_; }
  std::int64_t size() const { return static_cast<std::int64_t>(words_.size()); }
  std::int64_t symbol_count() const;

  bool has_log_probabilities() const;
  // One per word, nats. Throws std::invalid_argument when the source is unknown.
  const std::vector<double>& log_probabilities() const;
  // -sum log p(w) / sum |w|, nats per symbol: the cross-entropy of the source itself.
  double lower_bound() const;

 private:
  Alphabet alphabet_;
  std::vector<Word> words_;
  LogProbability source_;
  mutable std::vector<double> log_probabilities_;
};

using DatasetPtr = std::shared_ptr<const Dataset>;

// Indices into `words`, in batches of equal length: the words of each length in their order, cut
// into batches of at most `batch`; batches in order of the first word they hold.
std::vector<std::vector<std::int64_t>> equal_length_batches(const std::vector<Word>& words,
                                                            std::int64_t batch);
std::vector<std::vector<std::int64_t>> equal_length_batches(const Dataset& dataset,
                                                            std::int64_t batch);
// The same for the words of these indices alone.
std::vector<std::vector<std::int64_t>> equal_length_batches(
    const std::vector<Word>& words, const std::vector<std::int64_t>& indices, std::int64_t batch);

// The same for anything that has a length, by number.
std::vector<std::vector<std::int64_t>> equal_length_batches(
    const std::vector<std::int64_t>& indices, std::int64_t batch,
    const std::function<std::int64_t(std::int64_t)>& length);

// The words of one batch, all of one length: B x n, int64, on the CPU.
Tensor word_tensor(const std::vector<Word>& words, const std::vector<std::int64_t>& batch);

}  // namespace pushdown
