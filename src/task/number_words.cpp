#include "task/number_words.h"

#include "base/check.h"
#include "base/utf8.h"
#include "task/running_text.h"
#include "task/word_counts.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "task.number_examples";

}  // namespace

Alphabet number_vocabulary(const NumberExamples& examples, std::int64_t limit) {
  WordCounts counts;
  for (const auto& example : examples)
    for (const auto word : words_between_blanks(example.prefix)) counts.add(word);
  return counts.vocabulary(kWhere, {kUnknownWord}, limit);
}

Word prefix_ids(const NumberExample& example, const Alphabet& vocabulary) {
  const auto unknown = vocabulary.find(kUnknownWord);
  check(unknown.has_value(), kWhere, "a vocabulary needs the word {}", kUnknownWord);
  Word ids;
  for (const auto word : words_between_blanks(example.prefix))
    ids.push_back(vocabulary.find(word).value_or(*unknown));
  return ids;
}

LabelledDataset number_dataset(const NumberExamples& examples, const Alphabet& vocabulary) {
  check(!examples.empty(), kWhere, "there are no examples");
  std::vector<Word> words;
  std::vector<bool> labels;
  for (const auto& example : examples) {
    words.push_back(prefix_ids(example, vocabulary));
    labels.push_back(example.plural);
  }
  return LabelledDataset(vocabulary, std::move(words), std::move(labels), {},
                         LabelMeaning::observed_class);
}

}  // namespace pushdown
