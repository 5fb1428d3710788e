#include "task/dataset.h"

#include <cmath>
#include <map>
#include <numeric>

#include "base/check.h"
#include "base/stopping.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "dataset";

void check_words(const Alphabet& alphabet, const std::vector<Word>& words) {
  check(!words.empty(), kWhere, "a dataset needs at least one string");
  for (std::size_t i = 0; i < words.size(); ++i)
    for (const int id : words[i])
      check(id >= 0 && id < alphabet.size(), kWhere, "symbol ids are 0 to {}, got {} in string {}",
            alphabet.size() - 1, id, i + 1);
}

}  // namespace

Dataset::Dataset(Alphabet alphabet, std::vector<Word> words, LogProbability log_probability)
    : alphabet_(std::move(alphabet)),
      words_(std::move(words)),
      source_(std::move(log_probability)) {
  check_words(alphabet_, words_);
}

Dataset::Dataset(Alphabet alphabet, std::vector<Word> words, std::vector<double> log_probabilities,
                 std::vector<double> without_end)
    : alphabet_(std::move(alphabet)),
      words_(std::move(words)),
      log_probabilities_(std::move(log_probabilities)),
      without_end_(std::move(without_end)) {
  check_words(alphabet_, words_);
  const auto check_values = [&](const std::vector<double>& values) {
    check(values.size() == words_.size(), kWhere,
          "the number of log-probabilities must equal the number of strings, {}, got {}",
          words_.size(), values.size());
    for (std::size_t i = 0; i < words_.size(); ++i)
      check(values[i] <= 1e-9, kWhere, "the log-probability of string {} must be at most 0, got {}",
            i + 1, values[i]);
  };
  check_values(log_probabilities_);
  if (!without_end_.empty()) check_values(without_end_);
}

std::int64_t Dataset::symbol_count() const {
  std::int64_t count = 0;
  for (const auto& word : words_) count += static_cast<std::int64_t>(word.size());
  return count;
}

bool Dataset::has_log_probabilities(bool end_symbol) const {
  return source_ || !values_of(end_symbol).empty();
}

const std::vector<double>& Dataset::log_probabilities(bool end_symbol) const {
  check(has_log_probabilities(end_symbol), kWhere, "{}",
        has_log_probabilities()
            ? "only the probabilities of whole strings are known, not those without the ends"
            : "the distribution of these strings is unknown");
  if (!computed(end_symbol)) {
    std::vector<double> values;
    values.reserve(words_.size());
    const StopCheck stop;
    for (const auto& word : words_) {
      stop();
      values.push_back(source_(word, end_symbol));
    }
    values_of(end_symbol) = std::move(values);
  }
  return values_of(end_symbol);
}

double Dataset::lower_bound(bool end_symbol) const {
  const auto symbols = symbol_count();
  check(symbols > 0, kWhere, "a lower bound per symbol needs at least one symbol");
  double sum = 0;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const double log_p = log_probabilities(end_symbol)[i];
    check(std::isfinite(log_p), kWhere, "string {} ('{}') has probability zero", i + 1,
          alphabet_.text(words_[i]));
    sum -= log_p;
  }
  return sum / static_cast<double>(symbols);
}

Dataset Dataset::with_attachments(std::vector<Attachments> attachments) const {
  check(attachments.size() == words_.size(), kWhere,
        "the number of trees must equal the number of strings, {}, got {}", words_.size(),
        attachments.size());
  for (std::size_t i = 0; i < words_.size(); ++i) {
    check(attachments[i].size() == words_[i].size(), kWhere,
          "the tree of string {} must have its {} symbols, got {}", i + 1, words_[i].size(),
          attachments[i].size());
    try {
      parse_of(attachments[i]);
    } catch (const std::invalid_argument& error) {
      fail(kWhere, "string {}: {}", i + 1, error.what());
    }
  }
  Dataset copy = *this;
  copy.attachments_ = std::move(attachments);
  return copy;
}

Dataset Dataset::without_attachments() const {
  Dataset copy = *this;
  copy.attachments_.clear();
  return copy;
}

namespace {

// Batches of at most capacity_of(length) strings of one length.
std::vector<std::vector<std::int64_t>> batches_of(
    const std::vector<std::int64_t>& indices,
    const std::function<std::int64_t(std::int64_t)>& length_of,
    const std::function<std::int64_t(std::int64_t)>& capacity_of) {
  std::vector<std::vector<std::int64_t>> batches;
  std::map<std::int64_t, std::size_t> open;  // length -> index of the batch being filled
  for (const auto index : indices) {
    const auto length = length_of(index);
    const auto found = open.find(length);
    if (found != open.end() && std::ssize(batches[found->second]) < capacity_of(length)) {
      batches[found->second].push_back(index);
      continue;
    }
    open[length] = batches.size();
    batches.push_back({index});
  }
  return batches;
}

}  // namespace

std::vector<std::vector<std::int64_t>> equal_length_batches(
    const std::vector<std::int64_t>& indices, std::int64_t batch,
    const std::function<std::int64_t(std::int64_t)>& length_of) {
  check(batch >= 1, kWhere, "batch must be at least 1, got {}", batch);
  return batches_of(indices, length_of, [&](std::int64_t) { return batch; });
}

std::vector<std::vector<std::int64_t>> batches_of_symbols(const std::vector<Word>& words,
                                                          const std::vector<std::int64_t>& indices,
                                                          std::int64_t symbols) {
  check(symbols >= 1, kWhere, "symbols must be at least 1, got {}", symbols);
  return batches_of(
      indices, [&](std::int64_t index) { return std::ssize(words[index]); },
      [&](std::int64_t length) {
        return std::max<std::int64_t>(symbols / std::max<std::int64_t>(length, 1), 1);
      });
}

std::vector<std::vector<std::int64_t>> equal_length_batches(
    const std::vector<Word>& words, const std::vector<std::int64_t>& indices, std::int64_t batch) {
  return equal_length_batches(indices, batch, [&](std::int64_t index) {
    return static_cast<std::int64_t>(words[index].size());
  });
}

std::vector<std::vector<std::int64_t>> equal_length_batches(const std::vector<Word>& words,
                                                            std::int64_t batch) {
  std::vector<std::int64_t> all(words.size());
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return equal_length_batches(words, all, batch);
}

std::vector<std::vector<std::int64_t>> equal_length_batches(const Dataset& dataset,
                                                            std::int64_t batch) {
  return equal_length_batches(dataset.words(), batch);
}

Tensor word_tensor(const std::vector<Word>& words, const std::vector<std::int64_t>& batch) {
  const auto length = words[batch.front()].size();
  Tensor tensor = at::empty(
      {static_cast<std::int64_t>(batch.size()), static_cast<std::int64_t>(length)}, at::kLong);
  auto* out = tensor.data_ptr<std::int64_t>();
  for (const auto index : batch) out = std::copy(words[index].begin(), words[index].end(), out);
  return tensor;
}

}  // namespace pushdown
