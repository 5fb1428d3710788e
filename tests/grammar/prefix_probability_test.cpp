// Probabilities of next symbols, given that a string goes on, against sums over all strings.
#include "grammar/prefix_probability.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "grammar/oracle.h"
#include "grammar/sampler.h"
#include "grammar/semiring.h"
#include "grammar/text.h"

namespace pushdown::prefix_probability_test {
namespace {

Word begin_of(const Word& word, std::size_t length) {
  return Word(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(length));
}

TEST(PrefixProbability, EqualsSumsOverStrings) {
  for (const auto& [name, text] : oracle::grammar_texts()) {
    SCOPED_TRACE(name);
    const Grammar grammar(parse_grammar(text));
    constexpr int kLongest = 6;
    const auto strings = oracle::sums(grammar, kLongest);
    for (const int shortest : {0, 2, 5}) {
      std::vector<double> masses(kLongest + 1, 0.0);
      for (const auto& [word, p] : strings) masses[word.size()] += p;
      std::vector<int> lengths;
      for (int l = shortest; l <= kLongest; ++l)
        if (masses[l] > 0) lengths.push_back(l);
      if (lengths.empty()) continue;
      // The probabilities of the strings that go on after a prefix.
      std::map<Word, double> going_on;
      oracle::Strings drawn;
      for (const auto& [word, p] : strings) {
        if (static_cast<int>(word.size()) < shortest || p == 0) continue;
        drawn[word] = p / masses[word.size()] / static_cast<double>(lengths.size());
        for (std::size_t t = 0; t <= word.size(); ++t) going_on[begin_of(word, t)] += drawn[word];
      }
      const Sampler sampler(grammar, shortest, kLongest);
      const LengthTable table(grammar, kLongest);
      int looked = 0;
      for (const auto& [word, p] : drawn) {
        if (++looked > 120) break;
        const auto found = next_symbol_log_probabilities(table, lengths, word);
        ASSERT_EQ(found.size(), word.size());
        for (std::size_t t = 0; t < word.size(); ++t) {
          const Word before = begin_of(word, t);
          const auto ended = drawn.find(before);
          const double more = going_on[before] - (ended == drawn.end() ? 0.0 : ended->second);
          EXPECT_NEAR(found[t], std::log(going_on[begin_of(word, t + 1)] / more), 1e-9)
              << grammar.alphabet().text(word) << " at " << t;
        }
        EXPECT_NEAR(sampler.log_probability(word, false),
                    std::accumulate(found.begin(), found.end(), 0.0), 1e-12);
      }
      EXPECT_GT(looked, 0);
    }
  }
}

// Unmarked reversal over two symbols: after h of 2 h symbols all are determined, but the length is
// not known. The sums over lengths are explicit.
TEST(PrefixProbability, OfUnmarkedReversal) {
  const Grammar grammar(parse_grammar("S -> 'a' S 'a' [.4] | 'b' S 'b' [.4] | [.2]"));
  constexpr int kShortest = 2, kLongest = 20;
  const Sampler sampler(grammar, kShortest, kLongest);
  const double share = 1.0 / static_cast<double>(sampler.lengths().size());
  // The probability of the strings longer than t that begin with w_1 .. w_t.
  const auto longer = [&](const Word& word, int t) {
    double sum = 0;
    for (const int length : sampler.lengths()) {
      if (length <= t) continue;
      const int half = length / 2;
      bool fits = true;
      for (int i = half; i < t; ++i) fits = fits && word[i] == word[length - 1 - i];
      if (fits) sum += share * std::pow(0.5, std::min(t, half));
    }
    return sum;
  };
  Random random(1, "test");
  for (int i = 0; i < 20; ++i) {
    const Word word = sampler.sample(random);
    double expected = 0;
    for (int t = 0; t < static_cast<int>(word.size()); ++t) {
      // The strings that begin with one symbol more, which may be their last.
      double one_more = longer(word, t + 1);
      if (const Word begin = begin_of(word, static_cast<std::size_t>(t) + 1);
          sampler.log_probability(begin) > kMinusInfinity)
        one_more += std::exp(sampler.log_probability(begin));
      expected += std::log(one_more / longer(word, t));
    }
    EXPECT_NEAR(sampler.log_probability(word, false), expected, 1e-10);
    EXPECT_GT(sampler.log_probability(word, false), sampler.log_probability(word));
  }
}

// Masses far outside the range of a double give the same values in logarithms. Given the length,
// the two grammars have the same strings with the same probabilities.
TEST(PrefixProbability, OutsideTheRangeOfADouble) {
  const Grammar usual(parse_grammar("S -> 'a' S 'b' [.5] | 'b' S 'a' [.25] | 'c' [.25]"));
  const Grammar small(parse_grammar("S -> 'a' S 'b' [2e-20] | 'b' S 'a' [1e-20] | 'c' [1]"));
  const Sampler a(usual, 21, 61), b(small, 21, 61);
  EXPECT_LT(b.log_mass(61), -1000);
  Random random(2, "test");
  for (int i = 0; i < 5; ++i) {
    const Word word = a.sample(random);
    EXPECT_NEAR(b.log_probability(word, false), a.log_probability(word, false), 1e-8);
  }
}

TEST(PrefixProbability, OfStringsThatCannotBeDrawn) {
  const Sampler sampler(Grammar(parse_grammar("S -> 'a' S 'b' [.5] | 'a' 'b' [.5]")), 2, 4);
  EXPECT_EQ(sampler.log_probability({0, 0}, false), kMinusInfinity);
  EXPECT_EQ(sampler.log_probability({0, 0, 0, 1, 1, 1}, false), kMinusInfinity);
  // After a, both symbols may follow; everything else is certain.
  EXPECT_NEAR(sampler.log_probability({0, 1}, false), std::log(0.5), 1e-12);
  EXPECT_NEAR(sampler.log_probability({0, 0, 1, 1}, false), std::log(0.5), 1e-12);
  EXPECT_NEAR(sampler.lower_bound({{0, 1}, {0, 0, 1, 1}}, false), 2 * std::log(2.0) / 6, 1e-12);
  EXPECT_THROW(sampler.lower_bound({{0, 0}}, false), std::invalid_argument);
}

}  // namespace
}  // namespace pushdown::prefix_probability_test
