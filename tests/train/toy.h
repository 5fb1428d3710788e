// Small models and datasets whose training takes milliseconds.
#pragma once
#include <gtest/gtest.h>

#include "support/message.h"
#include "support/scratch.h"
#include "task/labelled_dataset.h"
#include "train/evaluation/evaluation.h"
#include "train/trainer.h"

namespace pushdown::testing_support {

// Marked reversal, w # reverse(w), with the `log_probability` of a simple source: every w has 1 to
// `longest` letters, and all lengths and letters are equally likely.
inline DatasetPtr reversal_strings(int count, std::uint64_t seed, int longest = 6) {
  Random random(seed, "toy data");
  std::vector<Word> words;
  std::vector<double> log_probabilities;
  for (int i = 0; i < count; ++i) {
    const auto half = 1 + random.below(static_cast<std::uint64_t>(longest));
    Word word;
    for (std::uint64_t k = 0; k < half; ++k) word.push_back(static_cast<int>(random.below(2)));
    word.push_back(2);
    for (std::uint64_t k = half; k-- > 0;) word.push_back(word[k]);
    words.push_back(word);
    log_probabilities.push_back(-static_cast<double>(half) * std::log(2.0) - std::log(longest));
  }
  return std::make_shared<Dataset>(Alphabet({"0", "1", "#"}), words, log_probabilities);
}

inline LanguageModelPtr small_model(const Json& stack = Json{{"kind", "none"}},
                                    const std::string& dtype = "float32", bool end_symbol = false) {
  return std::make_shared<LanguageModel>(Alphabet({"0", "1", "#"}),
                                         Json{{"controller", {{"kind", "lstm"}, {"hidden", 5}}},
                                              {"stack", stack},
                                              {"dtype", dtype},
                                              {"end_symbol", end_symbol},
                                              {"seed", 3}});
}

inline std::vector<Tensor> weights(const SequenceModel& model) {
  std::vector<Tensor> copies;
  for (const auto& [name, tensor] : model.parameters()) copies.push_back(tensor.detach().clone());
  return copies;
}

inline bool same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Tensor& x, const Tensor& y) { return at::equal(x, y); });
}

// The results that must not depend on interruptions: all but the times.
inline Json timeless(const EpochMetrics& metrics) {
  Json json = to_json(metrics);
  json.erase("seconds");
  json.erase("updates_per_second");
  return json;
}
inline Json timeless(const std::vector<EpochMetrics>& history) {
  Json list = Json::array();
  for (const auto& metrics : history) list.push_back(timeless(metrics));
  return list;
}

inline void run_to_end(Trainer& trainer) {
  while (trainer.finished().empty()) trainer.run_epoch();
}

// All strings over a and b of length 1 to 4. Valid: as many a as b, all a first.
inline LabelledDatasetPtr counted_strings() {
  std::vector<Word> words;
  std::vector<bool> labels;
  for (std::size_t length = 1; length <= 4; ++length)
    for (unsigned code = 0; code < 1u << length; ++code) {
      Word word;
      bool valid = length % 2 == 0;
      for (std::size_t k = 0; k < length; ++k) {
        word.push_back(static_cast<int>(code >> k & 1));
        valid = valid && word[k] == (k < length / 2 ? 0 : 1);
      }
      words.push_back(word);
      labels.push_back(valid);
    }
  return std::make_shared<LabelledDataset>(Alphabet({"a", "b"}), words, labels);
}

}  // namespace pushdown::testing_support
