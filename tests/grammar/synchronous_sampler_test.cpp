#include "grammar/synchronous_sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "grammar/inside.h"
#include "grammar/oracle.h"
#include "grammar/synchronous_oracle.h"
#include "grammar/synchronous_parse.h"
#include "grammar/synchronous_text.h"
#include "grammar/text.h"
#include "support/message.h"

namespace pushdown::synchronous_sampler_test {
namespace {

using testing_support::message;

SynchronousGrammar grammar_of(const std::string& text) {
  return SynchronousGrammar(parse_synchronous(text));
}

using Counts = std::map<std::pair<Word, Word>, double>;

Counts counts_of(const SynchronousSampler& sampler, int draws, std::uint64_t seed) {
  Random random(seed, "pairs");
  Counts counts;
  for (int i = 0; i < draws; ++i) {
    auto pair = sampler.sample(random);
    ++counts[{std::move(pair.source), std::move(pair.target)}];
  }
  return counts;
}

// Pearson's statistic of counts and expected counts, with rare cells merged. Fails if it is more
// than five standard deviations too large.
void expect_fit(const Counts& counts, const Counts& expected) {
  double chi = 0, cells = -1, rest = 0, rest_count = 0;
  for (const auto& [pair, e] : expected) {
    const auto found = counts.find(pair);
    const double n = found == counts.end() ? 0 : found->second;
    if (e < 8) {
      rest += e, rest_count += n;
      continue;
    }
    chi += (n - e) * (n - e) / e;
    ++cells;
  }
  if (rest >= 8) chi += (rest_count - rest) * (rest_count - rest) / rest, ++cells;
  ASSERT_GE(cells, 1);
  EXPECT_LT(chi, cells + 5 * std::sqrt(2 * cells));
}

TEST(DerivationSampling, GivesTheStringsOfTheLengthTable) {
  for (const auto& [name, text] : oracle::grammar_texts()) {
    SCOPED_TRACE(name);
    const Grammar grammar(parse_grammar(text));
    const auto weights = oracle::sums(grammar, 4);
    const LengthTable table(grammar, 4);
    Random random(11);
    for (int length = 0; length <= 4; ++length) {
      if (!table.has_strings(length)) continue;
      const int draws = 3000;
      Counts counts, expected;
      for (int i = 0; i < draws; ++i)
        ++counts[{yield_of(grammar, table.sample_derivation(length, random)), {}}];
      for (const auto& [word, weight] : weights)
        if (static_cast<int>(word.size()) == length)
          expected[{word, {}}] = draws * weight / std::exp(table.log_mass(length));
      for (const auto& [word, n] : counts) EXPECT_TRUE(expected.contains(word));
      if (expected.size() > 1) expect_fit(counts, expected);
    }
  }
}

TEST(DerivationSampling, WorksInLogarithmsWhereDoublesEnd) {
  // The mass of length 400 is about 1e-520.
  const Grammar grammar(parse_grammar("S -> 'a' S [.05] | 'b' S 'b' [.0] | 'c' [.95]"));
  const LengthTable table(grammar, 400);
  Random random(1);
  const auto rules = table.sample_derivation(400, random);
  EXPECT_EQ(rules.size(), 400u);
  EXPECT_EQ(yield_of(grammar, rules).size(), 400u);
  EXPECT_NE(message([&] { table.sample_derivation(0, random); }), "no error");
}

TEST(SynchronousSampler, UniformLengthsThenTheGrammarsDistribution) {
  for (const auto& [name, text] : oracle::synchronous_texts()) {
    SCOPED_TRACE(name);
    const auto grammar = grammar_of(text);
    const SynchronousSampler sampler(grammar, {0, 3});
    const int draws = 6000;
    const auto counts = counts_of(sampler, draws, 3);
    // Long targets are too many to enumerate: compare those up to 6 symbols.
    const auto weights = oracle::pair_weights(grammar, 3, 6);
    std::map<std::size_t, double> lengths;
    Counts expected;
    for (const auto& [pair, n] : counts) {
      lengths[pair.first.size()] += n;
      EXPECT_TRUE(contains(grammar, {pair.first, pair.second}));
    }
    for (const auto& [pair, weight] : weights) {
      if (weight == 0) continue;
      const double mass = std::exp(
          LengthTable(grammar.source_side(), 3).log_mass(static_cast<int>(pair.first.size())));
      expected[pair] = draws * weight / mass / static_cast<double>(sampler.lengths().size());
    }
    expect_fit(counts, expected);
    ASSERT_EQ(lengths.size(), sampler.lengths().size());
    const double each = draws / static_cast<double>(lengths.size());
    for (const auto& [length, n] : lengths) EXPECT_NEAR(n, each, 5 * std::sqrt(each));
  }
}

// The procedure of the paper: draw from the grammar, stop when a string grows too long, reject the
// others.
Counts rejection(const SynchronousGrammar& grammar, LengthInterval source, LengthInterval target,
                 int draws) {
  const FreeSampler sampler(grammar.source_side());
  Random random(9);
  Counts counts;
  for (int kept = 0; kept < draws;) {
    const auto rules = sampler.derivation(random, source.longest);
    if (!rules) continue;
    auto pair = grammar.pair_of(*rules);
    if (!source.contains(pair.source.size()) || !target.contains(pair.target.size())) continue;
    ++counts[{std::move(pair.source), std::move(pair.target)}];
    ++kept;
  }
  return counts;
}

TEST(SynchronousSampler, ModeGrammarIsThePapersRejection) {
  for (const auto* name : {"supercritical", "rank four, not binarisable", "inversion"}) {
    SCOPED_TRACE(name);
    const auto grammar = grammar_of(oracle::synchronous_texts().at(name));
    const LengthInterval source{2, 4}, target{2, 4};
    const SynchronousSampler sampler(grammar, source, PairLengths::grammar, target);
    const int draws = 4000;
    const auto drawn = counts_of(sampler, draws, 5);
    const auto weights = oracle::pair_weights(grammar, 4, 4);
    Counts expected;
    double sum = 0;
    for (const auto& [pair, weight] : weights)
      if (source.contains(pair.first.size()) && target.contains(pair.second.size()))
        sum += expected[pair] = weight;
    for (auto& [pair, value] : expected) value *= draws / sum;
    expect_fit(drawn, expected);
    expect_fit(rejection(grammar, source, target, draws), expected);
  }
}

TEST(SynchronousSampler, PairsOfLongSourcesAreMembers) {
  const auto grammar = grammar_of(oracle::synchronous_texts().at("rank three"));
  const SynchronousSampler sampler(grammar, {20, 60});
  Random random(2);
  for (int i = 0; i < 20; ++i) {
    const auto pair = sampler.sample(random);
    EXPECT_GE(pair.source.size(), 20u);
    EXPECT_LE(pair.source.size(), 60u);
    EXPECT_TRUE(contains(grammar, pair));
  }
}

TEST(SynchronousSampler, TheSeedDecides) {
  const SynchronousSampler sampler(grammar_of(oracle::synchronous_texts().at("inversion")),
                                   {5, 20});
  EXPECT_EQ(counts_of(sampler, 50, 4), counts_of(sampler, 50, 4));
  EXPECT_NE(counts_of(sampler, 50, 4), counts_of(sampler, 50, 6));
}

TEST(SynchronousSampler, ImpossibleLengthsAreRefused) {
  const auto grammar = grammar_of("S -> 'a' 'a' S1 | 'x' S1\nS -> 'a' | 'x'");
  EXPECT_EQ(message([&] {
              SynchronousSampler(grammar, {4, 4});
            }),
            "[grammar.sampler] there are no strings of length 4; the nearest lengths with "
            "strings are 3 and 5");
  EXPECT_NE(message([&] { SynchronousSampler(grammar, {5, 4}); }), "no error");
  EXPECT_NE(message([&] { SynchronousSampler(grammar, {-1, 4}); }), "no error");
  EXPECT_NE(message([&] {
              SynchronousSampler(grammar, {1, 4}, PairLengths::uniform, {{3, 2}});
            }),
            "no error");
  // A source of length 2n - 1 has a target of length n: no pair fits, and the search ends.
  EXPECT_EQ(message([&] {
              SynchronousSampler(grammar, {9, 9}, PairLengths::uniform, {{6, 7}});
            }),
            "[grammar.synchronous] none of 100000 pairs with sources of length 9 to 9 had a target "
            "of length 6 to 7");
  // Of the lengths 1, 3, 5, ... only 9 has a target of length 5.
  const SynchronousSampler some(grammar, {1, 15}, PairLengths::uniform, {{5, 5}});
  Random random(1);
  EXPECT_EQ(some.sample(random).source.size(), 9u);
}

}  // namespace
}  // namespace pushdown::synchronous_sampler_test
