#include "task/number_words.h"

#include <gtest/gtest.h>

#include "support/message.h"

namespace pushdown::number_words_test {
namespace {

const NumberExamples kExamples{
    {"The cat", false}, {"the cats", true}, {"the sheep", false}, {"the sheep", true}};

TEST(NumberWords, TheVocabularyIsThatOfThePrefixes) {
  EXPECT_EQ(number_vocabulary(kExamples, 0).symbols(),
            (std::vector<std::string>{"<unk>", "the", "sheep", "The", "cat", "cats"}));
  EXPECT_EQ(number_vocabulary(kExamples, 3).symbols(),
            (std::vector<std::string>{"<unk>", "the", "sheep"}));
  EXPECT_EQ(testing_support::message([] { number_vocabulary(kExamples, 1); }),
            "[task.number_examples] vocabulary must be 0 (all words) or at least 2, because it "
            "includes <unk>, got 1");
}

TEST(NumberWords, OnePrefixCanHaveBothNumbers) {
  const auto dataset = number_dataset(kExamples, Alphabet({"cat", "<unk>", "the", "sheep"}));
  EXPECT_EQ(dataset.words(), (std::vector<Word>{{1, 0}, {2, 1}, {2, 3}, {2, 3}}));
  EXPECT_EQ(dataset.labels(), (std::vector<bool>{false, true, false, true}));
  EXPECT_EQ(dataset.meaning(), LabelMeaning::observed_class);
  // As text, as a part, and converted back.
  const auto again = parse_labelled(to_text(dataset), "a file");
  EXPECT_EQ(again.meaning(), LabelMeaning::observed_class);
  EXPECT_EQ(again.words(), dataset.words());
  EXPECT_EQ(again.labels(), dataset.labels());
  EXPECT_EQ(again.subset({2, 3}).meaning(), LabelMeaning::observed_class);
  EXPECT_NE(testing_support::message([] {
              number_dataset(kExamples, Alphabet({"cat"}));
            }).find("needs the word <unk>"),
            std::string::npos);
}

}  // namespace
}  // namespace pushdown::number_words_test
