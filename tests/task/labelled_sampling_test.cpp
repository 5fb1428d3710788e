// Labelled strings made from a grammar.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "grammar/length_table.h"
#include "labelled.h"

namespace pushdown::labelled_sampling_test {
namespace {

using namespace testing_support;

TEST(LabelledSampling, CountsLengthsLabelsAndDistinctness) {
  struct Case {
    Grammar grammar;
    bool (*oracle)(const Word&);
    std::int64_t positives;
  };
  // There are 2047 marked palindromes up to length 21, but only ten a^n b^n.
  for (const auto& [grammar, oracle, positives] :
       {Case{an_bn(), is_an_bn, 10}, Case{marked(), is_marked, 1987},
        Case{dyck2(), is_balanced, 1987}})
    for (const std::uint64_t seed : {1, 2}) {
      auto options = wanted(positives, 2021, 1, 21);
      options.difficult_low = 0.15;
      options.difficult_high = 0.3;
      if (positives < 100) options.difficult_high = 0.2;
      options.seed = seed;
      const auto data = make_labelled(grammar, options);
      EXPECT_EQ(data.positives(), positives);
      EXPECT_EQ(data.negatives(), 2021);
      EXPECT_EQ(set_of(data).size(), static_cast<std::size_t>(data.size()));
      for (std::int64_t i = 0; i < data.size(); ++i) {
        const auto& word = data.words()[i];
        ASSERT_EQ(oracle(word), data.labels()[i]) << grammar.alphabet().text(word);
        ASSERT_TRUE(word.size() >= 1 && word.size() <= 21);
      }
      EXPECT_TRUE(wrong_labels(data, grammar).empty());
      // The labels are mixed: neither half is in one block.
      EXPECT_NE(std::is_sorted(data.labels().begin(), data.labels().end()), true);
    }
}

TEST(LabelledSampling, TheLastStringsOfALengthAreFound) {
  // 2047 marked palindromes of length 1 to 21, one of them very improbable.
  const auto grammar = grammar_of("S -> 'a' S 'a' [.999] | 'b' S 'b' [1e-6] | 'c' [.0009]");
  EXPECT_EQ(make_labelled(grammar, wanted(2047, 0, 1, 21)).positives(), 2047);
  EXPECT_TRUE(
      contains(problem([&] { make_labelled(grammar, wanted(2048, 0, 1, 21)); }),
               "requested 2048 positives of length 1 to 21, but the language has only 2047"));
  auto repeated = wanted(5000, 0, 1, 21);
  repeated.distinct = "negatives";
  EXPECT_EQ(make_labelled(grammar, repeated).positives(), 5000);
}

TEST(LabelledSampling, AllNegativesOfAShortLengthAreFound) {
  // 3^1 + ... + 3^5 strings, of which 1 + 2 + 4 are marked palindromes.
  auto options = wanted(1, 356, 1, 5);
  options.negative_lengths = "uniform";
  EXPECT_EQ(make_labelled(marked(), options).negatives(), 356);
  options.negatives = 357;
  EXPECT_TRUE(contains(problem([&] { make_labelled(marked(), options); }),
                       "357 random negatives with the lengths of the interval, but "
                       "there are only 356"));
  options.distinct = "none";
  EXPECT_EQ(make_labelled(marked(), options).negatives(), 357);
}

TEST(LabelledSampling, LanguagesWithoutNegativesAreAnErrorAndNoEndlessLoop) {
  const auto unary = grammar_of("S -> 'a' S [.9] | 'a' [.1]");
  EXPECT_TRUE(contains(problem([&] { make_labelled(unary, wanted(3, 1, 1, 30)); }),
                       "1 random negatives with the lengths of the positives, but there "
                       "are only 0"));
  auto difficult = wanted(3, 1, 1, 30);
  difficult.difficult_low = difficult.difficult_high = 1;
  EXPECT_TRUE(contains(problem([&] { make_labelled(unary, difficult); }), "difficult negatives"));
  difficult.edits = {"insert", "delete"};
  EXPECT_TRUE(contains(problem([&] { make_labelled(unary, difficult); }), "none was found"));
  // All long strings over two symbols: too many to list.
  const auto all = grammar_of("S -> 'a' S [.4] | 'b' S [.4] | 'a' [.1] | 'b' [.1]");
  EXPECT_TRUE(
      contains(problem([&] { make_labelled(all, wanted(3, 1, 40, 41)); }), "in 1000 tries"));
  // Even lengths of one symbol: the odd lengths are the invalid strings.
  const auto even = grammar_of("S -> 'a' 'a' S [.9] | [.1]");
  auto odd = wanted(6, 5, 0, 10);
  EXPECT_TRUE(contains(problem([&] { make_labelled(even, odd); }), "there are only 0"));
  odd.negative_lengths = "uniform";
  const auto data = make_labelled(even, odd);
  for (std::int64_t i = 0; i < data.size(); ++i)
    EXPECT_EQ(data.words()[i].size() % 2 == 0, data.labels()[i]);
}

TEST(LabelledSampling, NoStringOfAnExcludedSetOccurs) {
  auto options = wanted(300, 300, 2, 14);
  options.difficult_low = options.difficult_high = 0.3;
  const auto train = std::make_shared<const LabelledDataset>(make_labelled(dyck2(), options));
  const auto taken = set_of(*train);
  for (const char* distinct : {"all", "none"}) {
    options.distinct = distinct;
    options.seed = 2;
    const auto free = make_labelled(dyck2(), options);
    EXPECT_TRUE(std::any_of(free.words().begin(), free.words().end(),
                            [&](const Word& word) { return taken.contains(word); }));
    const auto test = make_labelled(dyck2(), options, {train});
    EXPECT_EQ(test.size(), 600);
    for (const auto& word : test.words()) ASSERT_FALSE(taken.contains(word));
  }
  // Ten valid strings exist, and all are excluded.
  const auto all =
      std::make_shared<const LabelledDataset>(make_labelled(an_bn(), wanted(10, 0, 1, 20)));
  auto more = wanted(1, 0, 1, 20);
  more.distinct = "none";
  EXPECT_TRUE(contains(problem([&] { make_labelled(an_bn(), more, {all}); }),
                       "has only 0 beside the 10 excluded strings"));
  EXPECT_TRUE(
      contains(problem([&] { make_labelled(dyck2(), more, {all}); }),
               "an excluded dataset and the grammar have different symbols: 'a' and 'b'; "));
}

TEST(LabelledSampling, NegativesHaveTheLengthsOfThePositives) {
  auto options = wanted(2000, 2000, 1, 21);
  options.distinct = "none";
  const auto data = make_labelled(dyck2(), options);
  std::map<std::size_t, std::pair<double, double>> counts;
  for (std::int64_t i = 0; i < data.size(); ++i)
    ++(data.labels()[i] ? counts[data.words()[i].size()].first
                        : counts[data.words()[i].size()].second);
  EXPECT_EQ(counts.size(), 10u);  // 2, 4, .. 20
  for (const auto& [length, count] : counts) {
    // Five standard deviations of a binomial with mean 200.
    EXPECT_NEAR(count.first, 200, 5 * 13.5) << length;
    EXPECT_NEAR(count.second, count.first, 5 * 13.5) << length;
  }
  options.positive_lengths = "grammar";
  const auto natural = make_labelled(dyck2(), options);
  const LengthTable table(dyck2(), 21);
  double whole = 0, mean = 0, found = 0;
  for (int l = 1; l <= 21; ++l) {
    if (!table.has_strings(l)) continue;
    whole += std::exp(table.log_mass(l));
    mean += l * std::exp(table.log_mass(l));
  }
  for (std::int64_t i = 0; i < natural.size(); ++i)
    if (natural.labels()[i]) found += static_cast<double>(natural.words()[i].size());
  EXPECT_NEAR(found / 2000, mean / whole, 0.6);
}

TEST(LabelledSampling, DifficultNegativesAreThatManyEditsAway) {
  // With only replacements and one valid string, the distance to it is the number of remaining
  // changes.
  const auto grammar = an_bn();
  for (const int swaps : {1, 3}) {
    auto options = wanted(1, 15, 12, 12);
    options.difficult_low = options.difficult_high = 1;
    options.swaps = {swaps};
    options.edits = {"replace"};
    if (swaps == 1) options.negatives = 12;  // all that exist
    const auto data = make_labelled(grammar, options);
    std::set<int> distances;
    for (std::int64_t i = 0; i < data.size(); ++i) {
      int distance = 0;
      for (int k = 0; k < 12; ++k) distance += data.words()[i][k] != (k < 6 ? 0 : 1);
      distances.insert(distance);
    }
    EXPECT_EQ(distances, swaps == 1 ? (std::set<int>{0, 1}) : (std::set<int>{0, 1, 3}));
    options.negatives = swaps == 1 ? 13 : 300;
    EXPECT_TRUE(contains(problem([&] { make_labelled(grammar, options); }), "none was found"));
  }
  // A transposition keeps the symbols; an insertion or deletion changes the length by one.
  auto options = wanted(1, 30, 11, 13);
  options.difficult_low = options.difficult_high = 1;
  options.swaps = {1};
  options.edits = {"transpose"};
  const auto exchanged = make_labelled(an_bn(), options);
  for (const auto& word : exchanged.words()) EXPECT_EQ(std::count(word.begin(), word.end(), 0), 6);
  options.edits = {"insert", "delete"};
  options.negatives = 14;
  std::map<std::size_t, int> lengths;
  const auto near = make_labelled(an_bn(), options);
  for (const auto& word : near.words()) ++lengths[word.size()];
  EXPECT_EQ(lengths[11] + lengths[13], 14);
  EXPECT_GT(lengths[11], 0);
  EXPECT_GT(lengths[13], 0);
}

TEST(LabelledSampling, TheSeedDecides) {
  auto options = wanted(100, 100, 2, 20);
  options.difficult_low = 0.15;
  options.difficult_high = 0.3;
  const auto one = make_labelled(dyck2(), options), same = make_labelled(dyck2(), options);
  EXPECT_EQ(one.words(), same.words());
  EXPECT_EQ(one.labels(), same.labels());
  options.seed = 2;
  EXPECT_NE(one.words(), make_labelled(dyck2(), options).words());
}

TEST(LabelledSampling, WrongOptions) {
  const auto error = [](auto change) {
    auto options = wanted(1, 1, 2, 4);
    change(options);
    return problem([&] { make_labelled(dyck2(), options); });
  };
  using O = LabelledOptions&;
  EXPECT_EQ(error([](O) {}), "no error");
  EXPECT_TRUE(contains(error([](O o) { o.positives = -1; }), "at least 0, got -1 and 1"));
  EXPECT_TRUE(contains(error([](O o) { o.positives = o.negatives = 0; }), "must not both be 0"));
  EXPECT_TRUE(contains(error([](O o) { o.longest = 1; }), "got {2, 1}"));
  EXPECT_TRUE(contains(error([](O o) { o.shortest = -2; }), "got {-2, 4}"));
  EXPECT_TRUE(contains(error([](O o) { o.difficult_high = 1.5; }), "difficult must be a share"));
  EXPECT_TRUE(contains(error([](O o) { o.difficult_high = NAN; }), "difficult must be a share"));
  EXPECT_TRUE(contains(error([](O o) { o.difficult_high = 1, o.positives = 0; }),
                       "positives must be at least 1"));
  EXPECT_TRUE(contains(error([](O o) { o.swaps = {}; }), "at least one number"));
  EXPECT_TRUE(contains(error([](O o) { o.swaps = {0}; }), "at least 1, got 0"));
  EXPECT_TRUE(contains(error([](O o) { o.edits = {"swap"}; }), "edits must be one of 'replace'"));
  EXPECT_TRUE(contains(error([](O o) { o.edits = {}; }), "edits must list"));
  EXPECT_TRUE(contains(error([](O o) { o.distinct = "yes"; }), "distinct must be one of 'all'"));
  EXPECT_TRUE(contains(error([](O o) { o.shortest = o.longest = 3; }), "no strings of length 3"));
}

}  // namespace
}  // namespace pushdown::labelled_sampling_test
