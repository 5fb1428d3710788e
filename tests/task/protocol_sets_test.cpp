// The datasets of Mali et al. (2021) in their full sizes: counts, lengths, labels compared with the
// definitions of the languages, the share of difficult strings, and that the sets share no string.
#include <gtest/gtest.h>

#include "labelled.h"

namespace pushdown::protocol_sets_test {
namespace {

using namespace testing_support;

Grammar dyck(int types) {
  std::string symbols = "#% symbols", rules = "S -> S S [.25] | [.25]";
  for (int i = 0; i < types; ++i) {
    symbols += fmt::format(" '({0}' '){0}'", i);
    rules += fmt::format(" | '({0}' S '){0}' [{1}]", i, 0.5 / types);
  }
  return Grammar(parse_grammar(symbols + "\n" + rules));
}

struct Sizes {
  std::int64_t train, valid, test;
};
struct Language {
  const char* name;
  Grammar grammar;
  bool (*oracle)(const Word&);
  Sizes sizes;
  int n120, n160;  // the first lengths from 120 and 160 on that have strings
};

std::vector<Language> languages() {
  const Sizes usual{6230, 1000, 3000};
  std::vector<Language> all;
  all.push_back({"D2", dyck(2), is_balanced, usual, 120, 160});
  all.push_back({"D3", dyck(3), is_balanced, usual, 120, 160});
  all.push_back({"D6", dyck(6), is_balanced, {15000, 2000, 4000}, 120, 160});
  all.push_back({"palindrome", marked(), is_marked, usual, 121, 161});
  return all;
}

std::vector<LabelledDatasetPtr> sets_of(const Language& language, std::uint64_t seed) {
  const auto& [train, valid, test] = language.sizes;
  struct Wanted {
    std::int64_t strings;
    int shortest, longest;
  };
  std::vector<LabelledDatasetPtr> sets;
  for (const auto& [strings, shortest, longest] :
       {Wanted{train, 1, 55}, Wanted{valid, 21, 70}, Wanted{test, 56, 102},
        Wanted{1500, language.n120, language.n120}, Wanted{1500, language.n160, language.n160}}) {
    auto options = wanted(strings / 2, strings / 2, shortest, longest);
    options.difficult_low = 0.15;
    options.difficult_high = 0.3;
    options.seed = 10 * seed + sets.size();
    sets.push_back(
        std::make_shared<const LabelledDataset>(make_labelled(language.grammar, options, sets)));
  }
  return sets;
}

// The share of invalid strings that differ from a valid string of the same length in at most six
// positions, which three transpositions can change.
double near_share(const LabelledDataset& data) {
  std::map<std::size_t, std::vector<const Word*>> positives;
  for (std::int64_t i = 0; i < data.size(); ++i)
    if (data.labels()[i]) positives[data.words()[i].size()].push_back(&data.words()[i]);
  double near = 0;
  for (std::int64_t i = 0; i < data.size(); ++i) {
    if (data.labels()[i]) continue;
    const Word& word = data.words()[i];
    const auto& others = positives[word.size()];
    near += std::any_of(others.begin(), others.end(), [&](const Word* other) {
      int apart = 0;
      for (std::size_t k = 0; k < word.size() && apart <= 6; ++k) apart += word[k] != (*other)[k];
      return apart <= 6;
    });
  }
  return near / static_cast<double>(data.negatives());
}

TEST(ProtocolSets, CountsLengthsLabelsAndNothingShared) {
  for (const auto& language : languages()) {
    SCOPED_TRACE(language.name);
    const auto sets = sets_of(language, 1);
    std::set<Word> all;
    std::size_t strings = 0;
    const std::vector<std::pair<int, int>> lengths{{1, 55},
                                                   {21, 70},
                                                   {56, 102},
                                                   {language.n120, language.n120},
                                                   {language.n160, language.n160}};
    const std::vector<std::int64_t> sizes{language.sizes.train, language.sizes.valid,
                                          language.sizes.test, 1500, 1500};
    for (std::size_t s = 0; s < sets.size(); ++s) {
      const auto& data = *sets[s];
      EXPECT_EQ(data.size(), sizes[s]);
      EXPECT_EQ(data.positives(), sizes[s] / 2);
      EXPECT_GE(data.shortest(), lengths[s].first);
      EXPECT_LE(data.longest(), lengths[s].second);
      EXPECT_TRUE(wrong_labels(data, language.grammar).empty());
      for (std::int64_t i = 0; i < data.size(); ++i)
        ASSERT_EQ(language.oracle(data.words()[i]), data.labels()[i]);
      all.insert(data.words().begin(), data.words().end());
      strings += static_cast<std::size_t>(data.size());
    }
    EXPECT_EQ(all.size(), strings);
  }
}

TEST(ProtocolSets, TheShareOfDifficultNegativesIsDrawnBetween15And30Percent) {
  const auto all = languages();
  for (const std::size_t l : {0, 3}) {
    std::set<double> shares;
    for (const std::uint64_t seed : {1, 2, 3}) {
      const auto sets = sets_of(all[l], seed);
      // Long random strings differ from all others in many positions.
      for (const std::size_t s : {2, 3, 4}) {
        const double share = near_share(*sets[s]);
        EXPECT_GE(share, 0.149) << all[l].name << seed << s;
        EXPECT_LE(share, 0.301) << all[l].name << seed << s;
        shares.insert(share);
      }
    }
    EXPECT_GT(shares.size(), 6u);
    EXPECT_GT(*shares.rbegin() - *shares.begin(), 0.05);
  }
}

}  // namespace
}  // namespace pushdown::protocol_sets_test
