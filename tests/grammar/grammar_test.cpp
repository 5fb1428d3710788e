#include "grammar/grammar.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "grammar/fixed_point.h"
#include "grammar/inside.h"
#include "grammar/normal_form.h"
#include "grammar/text.h"
#include "grammar/useless_symbols.h"

namespace pushdown::grammar_test {
namespace {

TEST(Grammar, WeightsAreNormalisedPerLeftSide) {
  const Grammar grammar(parse_grammar("S -> 'a' S [6] | 'b' [2]\n"));
  EXPECT_DOUBLE_EQ(grammar.rules()[0].weight, 0.75);
  EXPECT_DOUBLE_EQ(grammar.rules()[1].weight, 0.25);
  EXPECT_TRUE(grammar.warnings().empty());
}

TEST(Grammar, ProbabilitiesThatDoNotSumToOneAreReported) {
  const auto warnings = [](const std::string& text) {
    return Grammar(parse_grammar(text)).warnings();
  };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(warnings("S -> 'x' T [1]\nT -> 'x' [0.5] | 'y' [0.4]"),
            (Lines{"text:2: the weights of nonterminal T sum to 0.9, not 1; each is divided by the "
                   "sum"}));
  EXPECT_EQ(warnings("S -> 'x' [0.9]").size(), 1u);
  EXPECT_EQ(warnings("S -> 'x' [1] | 'y' [0.5]").size(), 1u);
  // Rounded probabilities, counts, and rules that an option switches off.
  for (const char* text :
       {"S -> 'x' [.333333] | 'y' [.333333] | 'z' [.333333]", "S -> 'x' [3] | 'y' [0.5]",
        "S -> 'x' | 'y'", "S -> 'x' [1] | 'y' [1] | 'z' [0]"})
    EXPECT_EQ(warnings(text), Lines{}) << text;
  std::string many = "S ->";
  for (int i = 0; i < 8; ++i) many += fmt::format(" A{}", i);
  for (int i = 0; i < 8; ++i) many += fmt::format("\nA{} -> 'a' [0.5]", i);
  const auto lines = warnings(many);
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[5], "grammar: 3 more nonterminals have weights that do not sum to 1");
}

TEST(Grammar, AlphabetOrderCanBeGiven) {
  auto source = parse_grammar("S -> 'b' S 'c' | 'a'");
  source.symbols = {"a", "c"};
  EXPECT_EQ(Grammar(source).alphabet().symbols(), (std::vector<std::string>{"a", "c", "b"}));
  source.symbols = {"z"};
  EXPECT_THROW(Grammar{source}, std::invalid_argument);
  source.symbols = {"a", "a"};
  EXPECT_THROW(Grammar{source}, std::invalid_argument);
}

TEST(Grammar, ErrorsNameOriginAndSymbol) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"S -> 'a' Bx\nB -> 'b'", "text:1: nonterminal Bx has no rules, did you mean 'B'?"},
      {"S -> a S 'b' | 'a'", "nonterminal a has no rules; the terminal is written 'a'"},
      {"S -> 'a'\nT -> 'b'", "text:2: the start symbol S does not reach 'T'"},
      {"S -> 'a' | T\nT -> T 'b'", "text:2: no terminal string can be derived from 'T'"},
      {"S -> S 'b' | T\nT -> T", "text:1: the start symbol S derives no terminal string"},
      {"S -> 'a' [-1] | 'b' [2]",
       "text:1: the weight of a rule of S must be a number of at least 0"},
      {"S -> 'a' [0] | 'b' [0]",
       "text:1: the weights of nonterminal S must have a positive finite sum, got 0"},
      {"S -> 'a' S [1] | 'a' [0]", "derives no terminal string"},
      {"S -> 'a' Bx\n | Cx B\nB -> 'b' Dx",
       "text:1: nonterminals 'Bx' (text:1), 'Cx' (text:2), 'Dx' (text:3) have no rules"},
      {"S -> 'a' | T\nT -> T 'b'\nU -> 'c'\nV -> V",
       "text:3: the start symbol S does not reach 'U' (text:3), 'V' (text:4); no terminal string "
       "can be derived from 'T' (text:2), 'V' (text:4)"},
      {"%start X\nS -> 'a'", "the start symbol X has no rules"},
  };
  for (const auto& [text, expected] : cases) {
    SCOPED_TRACE(text);
    try {
      Grammar grammar(parse_grammar(text));
      ADD_FAILURE() << "no error";
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(Grammar(GrammarSource{}), std::invalid_argument);
  GrammarSource source;
  source.rules = {{"S", {{true, "a b"}}, 1}};
  EXPECT_THROW(Grammar{source}, std::invalid_argument);
  source.rules = {{"S", {{true, "\xff"}}, 1}};
  EXPECT_THROW(Grammar{source}, std::invalid_argument);
  source.rules = {{"S T", {{true, "a"}}, 1}};
  EXPECT_THROW(Grammar{source}, std::invalid_argument);
  source.rules = {{"S", {{true, "a"}}, std::nan("")}};
  EXPECT_THROW(Grammar{source}, std::invalid_argument);
}

TEST(Grammar, UselessSymbolsAreRemoved) {
  auto source = parse_grammar(
      "S -> 'a' S [.4] | 'b' [.4] | T 'x' [.1] | Ux [.1]\nT -> T 'y'\nV -> 'z' S\nW -> V | T | "
      "'b'");
  source.symbols = {"z", "b", "y"};
  std::vector<std::string> removed;
  const Grammar grammar(without_useless_symbols(source, removed));
  EXPECT_EQ(removed, (std::vector<std::string>{"Ux (text:1) has no rules",
                                               "T (text:2) derives no terminal string",
                                               "V (text:3) is not reached from the start symbol",
                                               "W (text:4) is not reached from the start symbol"}));
  EXPECT_EQ(to_text(grammar), "#% symbols 'b' 'a'\nS -> 'a' S [0.5] | 'b' [0.5]\n");
  removed.clear();
  EXPECT_EQ(without_useless_symbols(grammar.source(), removed).rules.size(), 2u);
  EXPECT_TRUE(removed.empty());
  EXPECT_THROW(Grammar(without_useless_symbols(parse_grammar("S -> S"), removed)),
               std::invalid_argument);
}

TEST(Grammar, SupercriticalIsAWarningWithTheTerminationProbability) {
  // x = p x^2 + 1 - p has the least root (1-p)/p when p > 1/2.
  const Grammar grammar(parse_grammar("S -> S S [.8] | 'a' [.2]"));
  EXPECT_NEAR(grammar.termination_probability(), 0.25, 1e-15);
  ASSERT_EQ(grammar.warnings().size(), 1u);
  EXPECT_NE(grammar.warnings()[0].find("0.25"), std::string::npos);
  // Critical: the branching terminates with probability one, but only just.
  EXPECT_EQ(Grammar(parse_grammar("S -> S S [.5] | 'a' [.5]")).termination_probability(), 1.0);
  // The gender grammar of Grefenstette et al. 2015 as printed: .625 x^2 - .875 x + .25 = 0.
  const Grammar gender(
      parse_grammar("A -> B 'd'\nB -> B B [.25] | 's' 's' [.25] | B V [.5]\n"
                    "V -> 'w' B [.75] | 'w' [.25]"));
  EXPECT_NEAR(gender.termination_probability(), 0.4, 1e-14);
}

TEST(FixedPoint, PartsAreSolvedInOrder) {
  // x0 = .5 x1 + .25, x1 = .5 x1 x1 + .375 (least root .5), x2 = x2 (least solution 0).
  const auto x = least_fixed_point(
      3, {{0, .5, {1, -1}}, {0, .25}, {1, .5, {1, 1}}, {1, .375}, {2, 1.0, {2, -1}}});
  EXPECT_NEAR(x[0], .5, 1e-15);
  EXPECT_NEAR(x[1], .5, 1e-15);
  EXPECT_EQ(x[2], 0.0);
}

TEST(FixedPoint, StrongComponentsComeAfterTheComponentsTheyReach) {
  const auto parts = strong_components({{1}, {2}, {1, 3}, {}, {0}});
  EXPECT_EQ(parts, (std::vector<std::vector<int>>{{3}, {2, 1}, {0}, {4}}));
}

// The same elimination over all entries.
std::vector<double> dense_solution(int size, const SparseMatrix& rows, std::vector<double> b) {
  std::vector<double> a(static_cast<std::size_t>(size) * size);
  for (int i = 0; i < size; ++i)
    for (const auto& [j, entry] : rows[i]) a[i * size + j] = entry;
  for (int p = 0; p < size; ++p)
    for (int i = p + 1; i < size; ++i) {
      const double factor = a[i * size + p] / a[p * size + p];
      for (int j = p; j < size; ++j) a[i * size + j] -= factor * a[p * size + j];
      b[i] -= factor * b[p];
    }
  for (int p = size - 1; p >= 0; --p) {
    for (int k = p + 1; k < size; ++k) b[p] -= a[p * size + k] * b[k];
    b[p] /= a[p * size + p];
  }
  return b;
}

TEST(FixedPoint, SkipsOnlyZeros) {
  Random random(5);
  for (int round = 0; round < 50; ++round) {
    const int size = 1 + static_cast<int>(random.below(30));
    SparseMatrix rows = identity_matrix(size);
    for (int k = 0; k < 2 * size; ++k)
      rows[random.below(size)].emplace_back(static_cast<int>(random.below(size)),
                                            -random.uniform() / 8);
    add_up(rows);
    std::vector<double> b(size);
    for (double& value : b) value = random.uniform();
    const auto expected = dense_solution(size, rows, b);
    solve_m_matrix(rows, b, 1);
    EXPECT_EQ(b, expected);
  }
}

TEST(Grammar, UnaryLoopsNearOneLoseNoDigits) {
  const auto probability = [](const char* text, const char* word) {
    const Grammar grammar(parse_grammar(text));
    return std::exp(log_probability(grammar, grammar.alphabet().parse(word)));
  };
  const char* loop = "S -> S [0.9999999999999] | 'a' [1e-13]";
  EXPECT_NEAR(probability(loop, "a"), 1, 1e-12);
  const double d = 1e-13;
  const char* cycle =
      "S -> T [0.9999999999999] | 'a' [1e-13]\n"
      "T -> S [0.9999999999999] | 'b' [1e-13]";
  EXPECT_NEAR(probability(cycle, "a"), 1 / (2 - d), 1e-12);
  EXPECT_NEAR(probability(cycle, "b"), (1 - d) / (2 - d), 1e-12);
  // The empty string, directly and beside a nonterminal.
  const char* empty = "S -> S [0.9999999999999] | [5e-14] | 'a' [5e-14]";
  EXPECT_NEAR(probability(empty, ""), 0.5, 1e-12);
  EXPECT_NEAR(probability(empty, "a"), 0.5, 1e-12);
  EXPECT_NEAR(probability("S -> S E [0.9999999999999] | 'a' [1e-13]\nE ->", "a"), 1, 1e-12);
  // Supercritical: .7 x^2 + .3 = x.
  const char* branching = "S -> S [0.9999999999] | S S [7e-11] | 'a' [3e-11]";
  EXPECT_NEAR(Grammar(parse_grammar(branching)).termination_probability(), 3.0 / 7, 1e-12);
  EXPECT_NEAR(probability(branching, "a a"), 0.7 * 0.09, 1e-12);
  // Where the loop depends on a rounded mass of the empty string, a warning tells.
  const auto rounded = Grammar(parse_grammar(
      "S -> S E [0.9999999999999] | 'a' [1e-13]\nE -> [0.9999999999999] | 'c' [1e-13]"));
  ASSERT_EQ(rounded.warnings().size(), 1u);
  EXPECT_EQ(rounded.warnings()[0],
            "grammar: rules with one symbol, beside symbols that may be empty, form loops with a "
            "probability near 1; probabilities of strings have about 2 digits");
  for (const char* text : {loop, cycle, empty, branching})
    EXPECT_EQ(Grammar(parse_grammar(text)).warnings().size(), text == branching ? 1u : 0u);
}

TEST(Grammar, LongRulesTakeTimeAndMemoryByTheirLength) {
  // A chain of 20,000 remainders in one part of the system, and one of 2,000 unary rules.
  std::string text = "S -> 'a' [0.5]\nS ->";
  for (int i = 0; i < 20000; ++i) text += i % 2 == 0 ? " 'a'" : " 'b'";
  const Grammar one(parse_grammar(text + " S [0.5]\n"));
  EXPECT_EQ(one.normal_form().size, 20000);
  std::string chain;
  for (int i = 0; i < 2000; ++i) chain += fmt::format("A{} -> A{}\n", i, i + 1);
  const Grammar deep(parse_grammar(chain + "A2000 -> 'a'\n"));
  EXPECT_DOUBLE_EQ(deep.normal_form().mass[deep.start()], 1);
}

TEST(FixedPoint, SolvesMMatrices) {
  std::vector<double> b{1, 2};
  EXPECT_GT(solve_m_matrix({{{0, 1}, {1, -.5}}, {{0, -.25}, {1, 1}}}, b, 1), 0);
  EXPECT_NEAR(b[0] - .5 * b[1], 1, 1e-15);
  EXPECT_NEAR(-.25 * b[0] + b[1], 2, 1e-15);
  EXPECT_LE(solve_m_matrix({{{0, 1}, {1, -2}}, {{0, -1}, {1, 1}}}, b, 1),
            0);  // spectral radius above one
}

}  // namespace
}  // namespace pushdown::grammar_test
