#include "task/dataset.h"

#include <gtest/gtest.h>

#include <cmath>

#include "grammar/text.h"
#include "support/message.h"
#include "task/dataset_text.h"
#include "task/sampled_dataset.h"

namespace pushdown::dataset_test {
namespace {

using testing_support::message;

const Alphabet kAlphabet({"a", "b"});

TEST(Dataset, LowerBoundIsTheCrossEntropyPerSymbol) {
  const Dataset dataset(kAlphabet, {{0, 1, 1}, {1}},
                        std::vector<double>{std::log(.25), std::log(.5)});
  EXPECT_EQ(dataset.size(), 2);
  EXPECT_EQ(dataset.symbol_count(), 4);
  EXPECT_NEAR(dataset.lower_bound(), 3 * std::log(2.0) / 4, 1e-15);
}

TEST(Dataset, TheSourceIsAskedOncePerStringAndEventOnTheFirstUse) {
  int asked = 0;
  const Dataset dataset(kAlphabet, {{0}, {1}, {0}}, [&](const Word&, bool end_symbol) {
    ++asked;
    return end_symbol ? -1.0 : -0.5;
  });
  EXPECT_TRUE(dataset.has_log_probabilities());
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(dataset.lower_bound(), 1.0);
  EXPECT_EQ(dataset.lower_bound(), 1.0);
  EXPECT_EQ(asked, 3);
  EXPECT_FALSE(dataset.computed(false));
  EXPECT_EQ(dataset.lower_bound(false), 0.5);
  EXPECT_EQ(dataset.lower_bound(false), 0.5);
  EXPECT_EQ(asked, 6);
}

TEST(Dataset, LogProbabilitiesWithoutTheEndsAreKeptAsText) {
  const Dataset known(kAlphabet, {{0, 1}, {1}}, std::vector<double>{-1.5, -2},
                      std::vector<double>{-1.25, -1e-3});
  const Dataset again = parse_dataset(to_text(known), "text");
  EXPECT_EQ(again.log_probabilities(), known.log_probabilities());
  EXPECT_EQ(again.log_probabilities(false), known.log_probabilities(false));
  EXPECT_EQ(to_text(again), to_text(known));
  const Dataset whole(kAlphabet, {{0}}, std::vector<double>{-1});
  EXPECT_FALSE(whole.has_log_probabilities(false));
  EXPECT_NE(message([&] { whole.lower_bound(false); }).find("only the probabilities of whole"),
            std::string::npos);
  EXPECT_FALSE(parse_dataset(to_text(whole), "text").has_log_probabilities(false));
  const std::string head = "# pushdown data set 1\n# alphabet a b\n";
  for (const char* rows : {"-1 -2\ta\n-1\ta\n", "-1 x\ta\n", "-1 \ta\n", "- -1\ta\n-1 -1\ta\n"})
    EXPECT_THROW(parse_dataset(head + rows, "text"), std::invalid_argument) << rows;
}

TEST(Dataset, Errors) {
  EXPECT_THROW(Dataset(kAlphabet, {}), std::invalid_argument);
  EXPECT_THROW(Dataset(kAlphabet, {{0}, {2}}), std::invalid_argument);
  EXPECT_THROW(Dataset(kAlphabet, {{-1}}), std::invalid_argument);
  EXPECT_THROW(Dataset(kAlphabet, {{0}}, std::vector<double>{}), std::invalid_argument);
  EXPECT_THROW(Dataset(kAlphabet, {{0}}, std::vector<double>{0.5}), std::invalid_argument);
  EXPECT_THROW(Dataset(kAlphabet, {{0}}, std::vector<double>{std::nan("")}), std::invalid_argument);
  const Dataset unknown(kAlphabet, {{0}});
  EXPECT_FALSE(unknown.has_log_probabilities());
  EXPECT_THROW(unknown.lower_bound(), std::invalid_argument);
  const Dataset impossible(kAlphabet, {{0}}, [](const Word&, bool) { return -INFINITY; });
  EXPECT_THROW(impossible.lower_bound(), std::invalid_argument);
  const Dataset only_empty(kAlphabet, {{}}, std::vector<double>{0.0});
  EXPECT_THROW(only_empty.lower_bound(), std::invalid_argument);
}

TEST(Dataset, EqualLengthBatches) {
  const Dataset dataset(kAlphabet, {{0}, {0, 1}, {1}, {1}, {1, 1}, {}, {0}, {0}});
  EXPECT_EQ(equal_length_batches(dataset, 2),
            (std::vector<std::vector<std::int64_t>>{{0, 2}, {1, 4}, {3, 6}, {5}, {7}}));
  EXPECT_EQ(equal_length_batches(dataset, 100),
            (std::vector<std::vector<std::int64_t>>{{0, 2, 3, 6, 7}, {1, 4}, {5}}));
  EXPECT_THROW(equal_length_batches(dataset, 0), std::invalid_argument);
}

TEST(Dataset, BatchesOfSymbols) {
  const std::vector<Word> words{{0}, {0, 1}, {1}, {1}, {1, 1}, {}, {0}, {0}, {}};
  const std::vector<std::int64_t> all{0, 1, 2, 3, 4, 5, 6, 7, 8};
  using Batches = std::vector<std::vector<std::int64_t>>;
  EXPECT_EQ(batches_of_symbols(words, all, 3), (Batches{{0, 2, 3}, {1}, {4}, {5, 8}, {6, 7}}));
  EXPECT_EQ(batches_of_symbols(words, all, 1),
            (Batches{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}}));
  EXPECT_EQ(batches_of_symbols(words, {7, 4, 1}, 4), (Batches{{7}, {4, 1}}));
  EXPECT_THROW(batches_of_symbols(words, all, 0), std::invalid_argument);
}

TEST(SampledDataset, KnowsItsSource) {
  const Grammar grammar(parse_grammar("S -> '(' S ')' S [.4] | [.6]"));
  const Sampler sampler(grammar, 4, 12);
  const auto dataset = sample_dataset(sampler, 60, 10, 3);
  EXPECT_EQ(dataset.size(), 60);
  EXPECT_EQ(dataset.words(), sampler.sample_batches(60, 10, 3));
  EXPECT_EQ(dataset.lower_bound(), sampler.lower_bound(dataset.words()));
  const auto batches = equal_length_batches(dataset, 10);
  for (const auto& batch : batches) EXPECT_EQ(batch.size(), 10u);
}

TEST(DatasetText, RoundTrip) {
  const Alphabet alphabet({"(", "#", "é"});
  for (const bool known : {true, false}) {
    const std::vector<Word> words{{0, 1, 2}, {}, {1}};
    const auto dataset = known ? Dataset(alphabet, words, std::vector<double>{-1.0 / 3, -2e-17, 0})
                               : Dataset(alphabet, words);
    const auto again = parse_dataset(to_text(dataset), "x");
    EXPECT_EQ(again.alphabet(), alphabet);
    EXPECT_EQ(again.words(), words);
    ASSERT_EQ(again.has_log_probabilities(), known);
    if (known) {
      EXPECT_EQ(again.log_probabilities(), dataset.log_probabilities());
    }
  }
}

TEST(DatasetText, ErrorsNameTheLine) {
  const std::string head = "# pushdown data set 1\n# alphabet a b\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "d.txt: there are no strings"},
      {"a b\n", "d.txt:1: a dataset begins with"},
      {"# pushdown data set 1\na b\n", "d.txt:2: expected '# alphabet"},
      {"# pushdown data set 1\n# alphabet a a\n", "d.txt:2: [alphabet] symbol 'a' is listed twice"},
      {head, "there are no strings"},
      {head + "a b\n", "d.txt:3: expected a logarithm, a tab"},
      {head + "x\ta\n", "d.txt:3: expected a logarithm or -, got 'x'"},
      {head + "-1\ta\n-\tb\n", "d.txt:4: some strings have"},
      {head + "-\ta\n-1\tb\n", "d.txt:4: some strings have"},
      {head + "-\ta c\n", "d.txt:3: [alphabet] symbol 'c' is not in the alphabet"},
  };
  for (const auto& [text, expected] : cases) {
    SCOPED_TRACE(text);
    try {
      parse_dataset(text, "d.txt");
      ADD_FAILURE() << "no error";
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace pushdown::dataset_test
