#include "grammar/ambiguity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "grammar/oracle.h"
#include "grammar/text.h"

namespace pushdown::ambiguity_test {
namespace {

Grammar grammar_of(const std::string& text) { return Grammar(parse_grammar(text)); }

TEST(Ambiguity, IsFoundIfTheOracleHasSeveralDerivations) {
  constexpr int kLongest = 5;
  int ambiguous = 0;
  for (const auto& [name, text] : oracle::grammar_texts()) {
    SCOPED_TRACE(name);
    const auto grammar = grammar_of(text);
    const auto sums = oracle::sums(grammar, kLongest), best = oracle::maxima(grammar, kLongest);
    bool several = false;
    for (const auto& [word, p] : sums)
      several = several || (p > 0 && std::log(p / oracle::weight_of(best, word)) > 1e-5);
    // This number includes every short string.
    const auto found = find_ambiguous_string(grammar, kLongest, 2000, 1);
    ASSERT_EQ(found.has_value(), several);
    if (!found) continue;
    ++ambiguous;
    EXPECT_NEAR(std::exp(found->log_probability), oracle::weight_of(sums, found->word), 1e-9);
    EXPECT_NEAR(std::exp(found->log_best), oracle::weight_of(best, found->word), 1e-9);
  }
  EXPECT_GT(ambiguous, 3);
}

TEST(Ambiguity, IsNotFoundIfThereIsNone) {
  for (const char* text : {"S -> 'a' S 'a' [.4] | 'b' S 'b' [.4] | 'c' [.2]",
                           "S -> T S [.4] | T [.6]\nT -> '(' S ')' [.5] | '(' ')' [.5]"})
    EXPECT_FALSE(find_ambiguous_string(grammar_of(text), 14, 20, 1)) << text;
}

}  // namespace
}  // namespace pushdown::ambiguity_test
