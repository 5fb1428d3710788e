#include "grammar/sampler.h"

#include <gtest/gtest.h>

#include <cmath>

#include "grammar/inside.h"
#include "grammar/oracle.h"
#include "grammar/semiring.h"
#include "grammar/text.h"

namespace pushdown::sampler_test {
namespace {

Grammar grammar_of(const std::string& text) { return Grammar(parse_grammar(text)); }

// Pearson's statistic of counts against probabilities that sum to one.
double chi_square(const oracle::Strings& probabilities, const std::map<Word, int>& counts,
                  int draws) {
  double statistic = 0;
  for (const auto& [word, p] : probabilities) {
    const auto found = counts.find(word);
    const double count = found == counts.end() ? 0.0 : found->second;
    statistic += (count - draws * p) * (count - draws * p) / (draws * p);
  }
  return statistic;
}

TEST(LengthTable, MassesEqualTheSumsOverStrings) {
  for (const auto& [name, text] : oracle::grammar_texts()) {
    SCOPED_TRACE(name);
    const auto grammar = grammar_of(text);
    std::vector<double> expected(6, 0.0);
    for (const auto& [word, p] : oracle::sums(grammar, 5)) expected[word.size()] += p;
    const LengthTable table(grammar, 5);
    for (int l = 0; l <= 5; ++l) {
      EXPECT_NEAR(std::exp(table.log_mass(l)), expected[l], 1e-12) << l;
      EXPECT_EQ(table.has_strings(l), expected[l] > 0) << l;
    }
    EXPECT_THROW(table.log_mass(6), std::invalid_argument);
    EXPECT_THROW(table.log_mass(-1), std::invalid_argument);
  }
}

TEST(LengthTable, SamplesFollowTheGrammarGivenTheLength) {
  constexpr int kDraws = 20000;
  for (const auto& [name, text] : oracle::grammar_texts()) {
    SCOPED_TRACE(name);
    const auto grammar = grammar_of(text);
    const LengthTable table(grammar, 3);
    const auto strings = oracle::sums(grammar, 3);
    for (int l = 0; l <= 3; ++l) {
      oracle::Strings given_length;
      double mass = 0;
      for (const auto& [word, p] : strings)
        if (static_cast<int>(word.size()) == l) given_length[word] = p, mass += p;
      Random random(5, "test");
      if (mass == 0) {
        EXPECT_THROW(table.sample(l, random), std::invalid_argument);
        continue;
      }
      for (auto& [word, p] : given_length) p /= mass;
      std::map<Word, int> counts;
      for (int i = 0; i < kDraws; ++i) ++counts[table.sample(l, random)];
      for (const auto& [word, count] : counts) EXPECT_TRUE(given_length.contains(word));
      const double freedom = static_cast<double>(given_length.size()) - 1;
      // Five standard deviations. Draws are seeded, so the test always gives the same result.
      EXPECT_LE(chi_square(given_length, counts, kDraws),
                freedom + 5 * std::sqrt(2 * freedom) + 1e-9)
          << "length " << l;
    }
  }
}

TEST(LengthTable, MassesBelowTheSmallestDouble) {
  // Mass of length l is 1e-8^(l-1) (1 - 1e-8) up to rounding, far out of range at l = 101.
  const auto grammar = grammar_of("S -> T S [1e-8] | T [0.99999999]\nT -> 'a' [.75] | 'b' [.25]");
  const LengthTable table(grammar, 101);
  EXPECT_NEAR(table.log_mass(101), 100 * std::log(1e-8) + std::log1p(-1e-8), 1e-9);
  Random random(3);
  int a = 0;
  for (int i = 0; i < 100; ++i) {
    const auto word = table.sample(101, random);
    ASSERT_EQ(word.size(), 101u);
    a += static_cast<int>(std::count(word.begin(), word.end(), 0));
  }
  EXPECT_NEAR(a / 10100.0, .75, .02);
  const double bits = -.75 * std::log(.75) - .25 * std::log(.25);
  EXPECT_NEAR(table.derivation_entropies()[101], 101 * bits, 1e-8);
}

TEST(LengthTable, EntropyIsThatOfTheStringsInUnambiguousGrammars) {
  const std::vector<std::string> texts = {
      "S -> 'a' S 'a' [.4] | 'b' S 'b' [.3] | '#' [.3]",
      "S -> S T [.5] | T [.5]\nT -> '(' S ')' [.6] | '(' ')' [.1] | 'x' [.3]",
      "S -> 'a' N S [.3] | 'b' 'c' N [.7]\nN -> [.6] | 'n' [.3] | M [.1]\nM -> 'm'",
  };
  for (const auto& text : texts) {
    SCOPED_TRACE(text);
    const auto grammar = grammar_of(text);
    const auto strings = oracle::sums(grammar, 7);
    const auto best = oracle::maxima(grammar, 7);
    std::vector<double> mass(8, 0.0), entropy(8, 0.0);
    for (const auto& [word, p] : strings) {
      mass[word.size()] += p;
      // The grammars really are unambiguous: the best derivation is the only one.
      EXPECT_NEAR(best.at(word), p, 1e-15);
    }
    for (const auto& [word, p] : strings)
      entropy[word.size()] -= p / mass[word.size()] * std::log(p / mass[word.size()]);
    const auto got = LengthTable(grammar, 7).derivation_entropies();
    for (int l = 0; l <= 7; ++l) EXPECT_NEAR(got[l], entropy[l], 1e-12) << l;
  }
}

TEST(Sampler, ProbabilitiesSumToOneAndMatchTheFormula) {
  const auto grammar = grammar_of("S -> 'a' S 'a' [.3] | 'b' S [.2] | 'a' [.1] | [.4]");
  const Sampler sampler(grammar, 1, 4);
  const auto strings = oracle::sums(grammar, 6);
  std::vector<double> mass(7, 0.0);
  for (const auto& [word, p] : strings) mass[word.size()] += p;
  double sum = 0;
  for (const auto& word : oracle::all_words(2, 6)) {
    const double p = oracle::weight_of(strings, word);
    const bool inside = p > 0 && word.size() >= 1 && word.size() <= 4;
    const double expected = inside ? p / mass[word.size()] / 4 : 0;
    const double got = std::exp(sampler.log_probability(word));
    EXPECT_NEAR(got, expected, 1e-14);
    sum += got;
  }
  EXPECT_NEAR(sum, 1, 1e-12);
}

TEST(Sampler, ChoosesUniformlyAmongTheLengthsThatHaveStrings) {
  const auto grammar = grammar_of("S -> 'a' S 'a' [.9] | '#' [.1]");
  const Sampler sampler(grammar, 2, 8);
  EXPECT_EQ(sampler.lengths(), (std::vector<int>{3, 5, 7}));
  std::map<std::size_t, int> counts;
  Random random(2);
  for (int i = 0; i < 9000; ++i) ++counts[sampler.sample(random).size()];
  EXPECT_EQ(counts.size(), 3u);
  for (const auto& [length, count] : counts) EXPECT_NEAR(count, 3000, 5 * std::sqrt(2000.0));
}

TEST(Sampler, BatchesShareALengthAndSeedsDecide) {
  const Sampler sampler(grammar_of("S -> 'a' S [.5] | 'b' S [.4] | 'b' [.1]"), 5, 50);
  const auto words = sampler.sample_batches(95, 10, 1);
  ASSERT_EQ(words.size(), 95u);
  std::set<std::size_t> lengths;
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(words[i].size(), words[i / 10 * 10].size());
    lengths.insert(words[i].size());
  }
  EXPECT_GT(lengths.size(), 3u);
  EXPECT_EQ(sampler.sample_batches(95, 10, 1), words);
  EXPECT_NE(sampler.sample_batches(95, 10, 2), words);
  const auto fewer = sampler.sample_batches(17, 10, 1);
  EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), words.begin()));
}

TEST(Sampler, LowerBoundTendsToTheExpectedOne) {
  auto source = parse_grammar("S -> S T [.5] | T [.5]\nT -> '(' S ')' [.6] | '(' ')' [.4]");
  source.unambiguous = true;
  const Sampler sampler(Grammar(source), 10, 20);
  const auto words = sampler.sample_batches(4000, 1, 7);
  double symbols = 0;
  for (const auto& word : words) symbols += static_cast<double>(word.size());
  const auto estimate = sampler.estimate_entropy(4000, 8);
  EXPECT_NEAR(estimate.value, sampler.entropy(), 5 * estimate.standard_error);
  EXPECT_LT(estimate.standard_error, .1);
  EXPECT_NEAR(sampler.lower_bound(words), sampler.expected_lower_bound(), .01);
}

TEST(Sampler, Errors) {
  const auto grammar = grammar_of("S -> 'a' S 'a' [.9] | '#' [.1]");
  EXPECT_THROW(Sampler(grammar, 5, 4), std::invalid_argument);
  EXPECT_THROW(Sampler(grammar, -1, 4), std::invalid_argument);
  try {
    Sampler(grammar, 4, 4);
    ADD_FAILURE();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("nearest lengths with strings are 3 and 5"),
              std::string::npos)
        << error.what();
  }
  const Sampler sampler(grammar, 3, 9);
  EXPECT_THROW(sampler.entropy(), std::invalid_argument);  // not declared unambiguous
  EXPECT_THROW(sampler.sample_batches(0, 10, 1), std::invalid_argument);
  EXPECT_THROW(sampler.sample_batches(1, 0, 1), std::invalid_argument);
  EXPECT_THROW(sampler.lower_bound({}), std::invalid_argument);
  EXPECT_THROW(sampler.lower_bound({{0, 0, 0}}), std::invalid_argument);
  EXPECT_THROW(sampler.log_probability({5}), std::invalid_argument);
  EXPECT_EQ(sampler.log_probability({1}), kMinusInfinity);  // in the language, too short
  Random random;
  EXPECT_THROW(sampler.sample_of_length(4, random), std::invalid_argument);
}

TEST(FreeSampler, FollowsTheStringsOfEndingDerivations) {
  constexpr int kDraws = 20000;
  for (const std::string name : {"supercritical", "nullable recursive start", "unary cycle"}) {
    SCOPED_TRACE(name);
    const auto grammar = grammar_of(oracle::grammar_texts().at(name));
    const FreeSampler sampler(grammar);
    auto strings = oracle::sums(grammar, 3);
    double short_mass = 0;
    for (auto& [word, p] : strings) short_mass += p /= grammar.termination_probability();
    std::map<Word, int> counts;
    Random random(4);
    int longer = 0;
    for (int i = 0; i < kDraws; ++i) {
      const auto word = sampler.sample(random);
      if (word.size() > 3)
        ++longer;
      else
        ++counts[word];
    }
    EXPECT_NEAR(longer, kDraws * (1 - short_mass), 5 * std::sqrt(kDraws * .25));
    const auto freedom = static_cast<double>(strings.size());
    EXPECT_LE(chi_square(strings, counts, kDraws), freedom + 5 * std::sqrt(2 * freedom));
  }
  const FreeSampler endless(grammar_of("S -> 'a' S [.999] | 'a' [.001]"));
  Random random(1);
  EXPECT_THROW(endless.sample(random, 3), std::invalid_argument);
}

}  // namespace
}  // namespace pushdown::sampler_test
