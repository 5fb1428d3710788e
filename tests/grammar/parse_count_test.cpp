// label: long
#include "grammar/parse_count.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "base/random.h"
#include "grammar/inside.h"
#include "grammar/text.h"
#include "support/message.h"

namespace pushdown::parse_count_test {
namespace {

using testing_support::message;

Grammar parsed(const char* text) { return Grammar(parse_grammar(text)); }

TEST(ParseCount, BinaryTreesAreCatalanNumbers) {
  const Grammar grammar = parsed("S -> S S [0.4] | 'a' [0.6]");
  double catalan = 1;
  for (int n = 1; n <= 20; ++n) {
    EXPECT_EQ(parse_count(grammar, Word(n, 0)), catalan) << n;
    catalan = catalan * 2 * (2 * n - 1) / (n + 1);
  }
  EXPECT_EQ(parse_count(grammar, {}), 0);
}

TEST(ParseCount, CountsAboveTheLargestNumberAreFinite) {
  const Grammar grammar = parsed("S -> S S [0.4] | 'a' [0.6]");
  // log C(n - 1), the Catalan number.
  const auto log_catalan = [](int n) {
    return std::lgamma(2 * n - 1) - std::lgamma(n) - std::lgamma(n + 1);
  };
  for (const int n : {1, 2, 20, 500, 700})
    EXPECT_NEAR(log_parse_count(grammar, Word(n, 0)), log_catalan(n), 1e-9 * n);
  EXPECT_EQ(log_parse_count(grammar, {}), -std::numeric_limits<double>::infinity());
  EXPECT_LT(parse_count(grammar, Word(500, 0)), 1e308);
  EXPECT_EQ(message([&] { parse_count(grammar, Word(700, 0)); }),
            "[grammar.parse_count] the string has about 10^416.32 derivations, and a number is at "
            "most 1.8e308; log_parse_count returns the logarithm");
  // Beside a cycle that the string cannot pass, and beside one that it can.
  const Grammar cycle = parsed("S -> S S | 'a' | A\nA -> A | 'b'");
  const Word word(700, cycle.alphabet().id("a"));
  EXPECT_NEAR(log_parse_count(cycle, word), log_catalan(700), 1e-6);
  Word through = word;
  through.back() = cycle.alphabet().id("b");
  EXPECT_EQ(parse_count(cycle, through), std::numeric_limits<double>::infinity());
  EXPECT_EQ(log_parse_count(cycle, through), std::numeric_limits<double>::infinity());
}

TEST(ParseCount, AttachmentsOfPrepositionalPhrases) {
  const Grammar grammar =
      parsed("S -> NP VP\nVP -> 'v' NP | VP PP\nNP -> 'n' | NP PP\nPP -> 'p' NP\n");
  // v n p n p n ...: again Catalan numbers (Church and Patil 1982).
  const auto& alphabet = grammar.alphabet();
  Word word{alphabet.id("n"), alphabet.id("v"), alphabet.id("n")};
  for (const double count : {1, 2, 5, 14, 42}) {
    EXPECT_EQ(parse_count(grammar, word), count);
    word.push_back(alphabet.id("p"));
    word.push_back(alphabet.id("n"));
  }
}

TEST(ParseCount, EmptyAndUnaryRules) {
  EXPECT_EQ(parse_count(parsed("S -> A A A\nA -> 'a' |"), {0}), 3);
  EXPECT_EQ(parse_count(parsed("S -> A A A\nA -> 'a' |"), {}), 1);
  EXPECT_EQ(parse_count(parsed("S -> A | B\nA -> B | 'a'\nB -> 'a' |"), {0}), 3);
  EXPECT_EQ(parse_count(parsed("S -> A | B\nA -> B | 'a'\nB -> 'a' |"), {}), 2);
  EXPECT_EQ(parse_count(parsed("S -> E 'a' E\nE -> | F\nF ->"), {0}), 4);
  EXPECT_EQ(parse_count(parsed("S -> 'a' [1] | 'a' 'a' [0]"), {0, 0}), 0);
}

TEST(ParseCount, CyclesAreInfiniteOnlyIfTheyCanBePassed) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Grammar unary = parsed("S -> A | 'b'\nA -> B | 'a'\nB -> A | 'c' 'c'");
  const auto id = [&](const char* symbol) { return unary.alphabet().id(symbol); };
  EXPECT_EQ(parse_count(unary, {id("a")}), kInfinity);
  EXPECT_EQ(parse_count(unary, {id("c"), id("c")}), kInfinity);
  EXPECT_EQ(parse_count(unary, {id("b")}), 1);
  EXPECT_EQ(parse_count(unary, {id("c")}), 0);
  const Grammar empty = parsed("S -> S S [0.3] | 'a' [0.4] | [0.3]");
  EXPECT_EQ(parse_count(empty, {}), kInfinity);
  EXPECT_EQ(parse_count(empty, {0}), kInfinity);
}

// Leftmost derivations, one rule at a time; the grammars have no epsilon and no unary rules.
double derivations(const Grammar& grammar, const std::vector<Symbol>& form, const Word& word) {
  std::size_t at = 0;
  while (at < form.size() && form[at].terminal) {
    if (at >= word.size() || form[at].id != word[at]) return 0;
    ++at;
  }
  if (form.size() > word.size()) return 0;
  if (at == form.size()) return form.size() == word.size() ? 1 : 0;
  double total = 0;
  for (const Rule& rule : grammar.rules()) {
    if (rule.left != form[at].id) continue;
    std::vector<Symbol> next(form.begin(), form.begin() + static_cast<std::ptrdiff_t>(at));
    next.insert(next.end(), rule.right.begin(), rule.right.end());
    next.insert(next.end(), form.begin() + static_cast<std::ptrdiff_t>(at) + 1, form.end());
    total += derivations(grammar, next, word);
  }
  return total;
}

TEST(ParseCount, EqualsTheNumberOfDerivationsOfAllShortStrings) {
  for (const char* text : {"S -> S S | 'a' | 'a' S 'b' | T 'b' S\nT -> S 'a' | 'b'",
                           "S -> A B A | 'a' A\nA -> 'a' | A B | 'b' S\nB -> 'b' | B A B"}) {
    const Grammar grammar = parsed(text);
    double ambiguous = 0;
    for (std::size_t length = 1; length <= 6; ++length)
      for (int bits = 0; bits < 1 << length; ++bits) {
        Word word;
        for (std::size_t i = 0; i < length; ++i) word.push_back((bits >> i) & 1);
        const double count = parse_count(grammar, word);
        EXPECT_EQ(count, derivations(grammar, {{false, grammar.start()}}, word));
        EXPECT_EQ(count > 0, std::isfinite(log_probability(grammar, word)));
        ambiguous += count > 1;
      }
    EXPECT_GT(ambiguous, 5);
  }
}

}  // namespace
}  // namespace pushdown::parse_count_test
