#include "grammar/best_parses.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "grammar/inside.h"
#include "grammar/parse_count.h"
#include "grammar/text.h"
#include "oracle.h"

namespace pushdown::best_parses_test {
namespace {

TEST(BestParses, AreAllDerivationsInOrder) {
  constexpr int kMost = 400;
  int finite = 0, infinite = 0;
  for (const auto& [name, text] : oracle::grammar_texts()) {
    SCOPED_TRACE(name);
    const Grammar grammar(parse_grammar(text));
    for (const auto& word : oracle::all_words(grammar.alphabet().size(), 4)) {
      const auto best = best_parse(grammar, word);
      const auto parses = best_parses(grammar, word, kMost);
      ASSERT_EQ(parses.empty(), !best.has_value());
      if (!best) continue;
      EXPECT_NEAR(parses[0].log_probability, best->log_probability, 1e-12);
      const double count = parse_count(grammar, word);
      EXPECT_EQ(parses.size(), std::min<double>(kMost, count));
      ++(std::isfinite(count) ? finite : infinite);
      double sum = 0;
      std::set<std::string> trees;
      for (std::size_t k = 0; k < parses.size(); ++k) {
        const auto& [tree, value] = parses[k];
        if (k > 0) {
          EXPECT_LE(value, parses[k - 1].log_probability);
        }
        EXPECT_EQ(leaves(tree), word);
        EXPECT_NEAR(derivation_log_probability(grammar, tree), value, 1e-9);
        EXPECT_TRUE(trees.insert(bracketed(grammar, tree)).second);
        sum += std::exp(value);
      }
      const double whole = std::exp(log_probability(grammar, word));
      EXPECT_LE(sum, whole * (1 + 1e-9));
      if (count <= kMost) {
        EXPECT_NEAR(sum, whole, 1e-9 * whole);
      }
    }
  }
  EXPECT_GT(finite, 50);
  EXPECT_GT(infinite, 100);
}

TEST(BestParses, CyclesThatRoundingMakesFreeEnd) {
  const Grammar grammar(parse_grammar("S -> A [1] | 'b' [1e-300]\nA -> S [1] | 'a' [1e-300]"));
  const auto parses = best_parses(grammar, grammar.alphabet().parse("a"), 5);
  ASSERT_FALSE(parses.empty());
  EXPECT_LE(parses.size(), 5u);
}

TEST(BestParses, EndlessDerivationsAreAnError) {
  const Grammar grammar(parse_grammar("S -> S [0.5] | 'a'"));
  EXPECT_EQ(best_parses(grammar, {0}, 2000).size(), 2000u);
  EXPECT_THROW(best_parses(grammar, {0}, 100'000), std::invalid_argument);
}

TEST(BestParses, BadInput) {
  const Grammar grammar(parse_grammar("S -> 'a' S | 'a'"));
  EXPECT_THROW(best_parses(grammar, {1}, 1), std::invalid_argument);
  EXPECT_THROW(best_parses(grammar, {0}, 0), std::invalid_argument);
  EXPECT_TRUE(best_parses(grammar, {}, 3).empty());
  EXPECT_EQ(best_parses(grammar, Word(800, 0), 3).size(), 1u);
}

}  // namespace
}  // namespace pushdown::best_parses_test
