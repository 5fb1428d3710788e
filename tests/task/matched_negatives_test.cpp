// Invalid strings that simple classifiers cannot tell from valid ones.
#include <gtest/gtest.h>

#include <map>

#include "labelled.h"
#include "task/string_floor.h"

namespace pushdown::matched_negatives_test {
namespace {

using namespace testing_support;

LabelledOptions matched(std::int64_t positives, std::int64_t negatives, int shortest, int longest) {
  auto options = wanted(positives, negatives, shortest, longest);
  options.negative_kind = "matched";
  return options;
}

TEST(MatchedNegatives, LabelsLengthsAndFloors) {
  struct Case {
    Grammar grammar;
    bool (*oracle)(const Word&);
    bool
        counts_alike;  // strings outside the language with the symbols and neighbours of valid ones
  };
  for (const auto& [grammar, oracle, counts_alike] :
       {Case{an_bn(), is_an_bn, false}, Case{marked(), is_marked, true},
        Case{dyck2(), is_balanced, true}}) {
    SCOPED_TRACE(grammar.alphabet().text({0, 1}));
    auto options = matched(300, 300, 22, 60);
    options.distinct = "none";
    const auto data = make_labelled(grammar, options);
    EXPECT_EQ(data.positives(), 300);
    EXPECT_EQ(data.negatives(), 300);
    std::map<std::size_t, int> balance;
    for (std::int64_t i = 0; i < data.size(); ++i) {
      ASSERT_EQ(oracle(data.words()[i]), data.labels()[i]);
      balance[data.words()[i].size()] += data.labels()[i] ? 1 : -1;
    }
    for (const auto& [length, more] : balance) EXPECT_EQ(more, 0) << length;
    auto others = wanted(300, 300, 1, 21);
    others.distinct = "none";
    const auto usual = make_labelled(grammar, others);
    others.shortest = 22;
    others.longest = 60;
    const auto easy = string_floor(usual, make_labelled(grammar, others));
    const auto hard = string_floor(usual, data);
    EXPECT_LT(easy.error, 10);
    EXPECT_GT(hard.error, 45) << hard.classifier;
    EXPECT_EQ(hard.errors.back().first, "counts_compared");
    if (counts_alike)
      EXPECT_GT(hard.errors.back().second, 45);
    else
      EXPECT_LT(hard.errors.back().second, 5);
  }
}

TEST(MatchedNegatives, SeedExcludedSetsAndDistinctness) {
  const auto options = matched(200, 200, 2, 20);
  const auto one = make_labelled(dyck2(), options);
  EXPECT_EQ(one.words(), make_labelled(dyck2(), options).words());
  EXPECT_EQ(set_of(one).size(), 400u);
  auto other = options;
  other.seed = 2;
  const auto train = std::make_shared<const LabelledDataset>(one);
  const auto two = make_labelled(dyck2(), other, {train});
  const auto taken = set_of(one);
  for (const auto& word : two.words()) EXPECT_FALSE(taken.contains(word));
}

TEST(MatchedNegatives, Errors) {
  const auto error = [](const Grammar& grammar, auto change) {
    auto options = matched(2, 2, 2, 6);
    change(options);
    return problem([&] { make_labelled(grammar, options); });
  };
  using O = LabelledOptions&;
  EXPECT_EQ(error(dyck2(), [](O) {}), "no error");
  EXPECT_TRUE(contains(error(dyck2(), [](O o) { o.negative_kind = "hard"; }),
                       "negative_kind must be one of 'usual'"));
  EXPECT_TRUE(contains(error(dyck2(), [](O o) { o.positives = 0; }), "at least 1"));
  EXPECT_TRUE(contains(error(dyck2(), [](O o) { o.difficult_high = 1; }), "omit difficult"));
  EXPECT_TRUE(contains(error(dyck2(), [](O o) { o.negative_lengths = "uniform"; }),
                       "omit negative_lengths"));
  EXPECT_TRUE(contains(error(grammar_of("S -> 'a' S [.9] | 'a' [.1]"), [](O) {}),
                       "2 matched negatives with the lengths of the positives, but after "
                       "0 no other invalid string of such a length was found"));
}

}  // namespace
}  // namespace pushdown::matched_negatives_test
