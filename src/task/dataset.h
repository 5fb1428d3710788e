// A dataset of strings over one alphabet, optionally with the log-probability of each string under
// the distribution it was drawn from. This distribution gives the lower bound for the cross-entropy
// of a model. A model without an end symbol predicts the symbols of a string but not its end; its
// bound comes from the log-probabilities of this event (sampler.h), which a dataset may have, too.
// A dataset may have binary trees over its strings, as attachments of their words.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "grammar/alphabet.h"
#include "grammar/incremental_parse.h"
#include "tensor/torch.h"

namespace pushdown {

class Dataset {
 public:
  // The natural logarithm of the probability of a string, or of its symbols without the end.
  using LogProbability = std::function<double(const Word&, bool end_symbol)>;

  // Throws std::invalid_argument if there are no strings or an id is outside the alphabet.
  // `log_probability` may be empty; it is called once per string and event, on first use.
  Dataset(Alphabet alphabet, std::vector<Word> words, LogProbability log_probability = nullptr);
  // Takes log-probabilities that are already known (one per word), of whole strings and, if they
  // are known, of their symbols without the end.
  Dataset(Alphabet alphabet, std::vector<Word> words, std::vector<double> log_probabilities,
          std::vector<double> without_end = {});

  const Alphabet& alphabet() const { return alphabet_; }
  const std::vector<Word>& words() const { return words_; }
  std::int64_t size() const { return static_cast<std::int64_t>(words_.size()); }
  std::int64_t symbol_count() const;

  bool has_log_probabilities(bool end_symbol = true) const;
  // Returns whether they are already computed.
  bool computed(bool end_symbol) const { return !values_of(end_symbol).empty(); }
  // Returns one per word, in nats. Throws std::invalid_argument if they are unknown.
  const std::vector<double>& log_probabilities(bool end_symbol = true) const;
  // Returns -sum log p(w) / sum |w| in nats per symbol: the cross-entropy of the distribution
  // itself.
  double lower_bound(bool end_symbol = true) const;

  // Returns the same strings with these trees, one list for each string, or without trees. Throws
  // std::invalid_argument if they do not fit, and names the string.
  Dataset with_attachments(std::vector<Attachments> attachments) const;
  Dataset without_attachments() const;
  bool has_attachments() const { return !attachments_.empty(); }
  const std::vector<Attachments>& attachments() const { return attachments_; }

 private:
  std::vector<double>& values_of(bool end_symbol) const {
    return end_symbol ? log_probabilities_ : without_end_;
  }

  Alphabet alphabet_;
  std::vector<Word> words_;
  LogProbability source_;
  mutable std::vector<double> log_probabilities_, without_end_;
  std::vector<Attachments> attachments_;  // empty: no trees
};

using DatasetPtr = std::shared_ptr<const Dataset>;

// Returns indices into `words` in batches of equal length. The words of each length, in their
// order, are cut into batches of at most `batch`; batches are in the order of their first word.
std::vector<std::vector<std::int64_t>> equal_length_batches(const std::vector<Word>& words,
                                                            std::int64_t batch);
std::vector<std::vector<std::int64_t>> equal_length_batches(const Dataset& dataset,
                                                            std::int64_t batch);
// Does the same for only the words with these indices.
std::vector<std::vector<std::int64_t>> equal_length_batches(
    const std::vector<Word>& words, const std::vector<std::int64_t>& indices, std::int64_t batch);

// Does the same with batches of at most `symbols` symbols, and at least one word.
std::vector<std::vector<std::int64_t>> batches_of_symbols(const std::vector<Word>& words,
                                                          const std::vector<std::int64_t>& indices,
                                                          std::int64_t symbols);

// Does the same as equal_length_batches for anything that has a length, given by index.
std::vector<std::vector<std::int64_t>> equal_length_batches(
    const std::vector<std::int64_t>& indices, std::int64_t batch,
    const std::function<std::int64_t(std::int64_t)>& length);

// Returns the words of one batch, or their attachments, all of the same length: B x n, int64, on
// the CPU.
Tensor word_tensor(const std::vector<Word>& words, const std::vector<std::int64_t>& batch);

}  // namespace pushdown
