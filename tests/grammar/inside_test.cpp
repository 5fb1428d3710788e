#include "grammar/inside.h"

#include <gtest/gtest.h>

#include <cmath>

#include "grammar/best_parses.h"
#include "grammar/chart.h"
#include "grammar/normal_form.h"
#include "grammar/oracle.h"
#include "grammar/text.h"

namespace pushdown::inside_test {
namespace {

constexpr std::size_t kLongest = 5;

class EachGrammar : public testing::TestWithParam<std::string> {
 protected:
  Grammar grammar_{parse_grammar(oracle::grammar_texts().at(GetParam()))};
  std::vector<Word> words_ = oracle::all_words(grammar_.alphabet().size(), kLongest);
};

TEST_P(EachGrammar, LogProbabilityEqualsTheSumOverDerivations) {
  const auto strings = oracle::sums(grammar_, kLongest);
  int inside = 0;
  for (const auto& word : words_) {
    const double expected = oracle::weight_of(strings, word);
    const double got = std::exp(log_probability(grammar_, word));
    EXPECT_NEAR(got, expected, 1e-13 + 1e-11 * expected) << grammar_.alphabet().text(word);
    EXPECT_EQ(got == 0, expected == 0);
    inside += expected > 0;
  }
  EXPECT_GT(inside, 2);
}

TEST_P(EachGrammar, ClosedRulesHaveNoEpsilonOrUnaryRulesAndTheSameStrings) {
  const auto rules = closed_rules(grammar_.normal_form());
  // Iterating the closed rules on tables of strings is a separate oracle.
  std::vector<oracle::Strings> table(grammar_.normal_form().size);
  for (std::size_t round = 0; round <= kLongest; ++round) {
    std::vector<oracle::Strings> next(table.size());
    for (const auto& rule : rules) {
      ASSERT_TRUE(rule.right.size() == 2 || (rule.right.size() == 1 && rule.right[0].terminal));
      oracle::Strings partial{{{}, rule.weight}};
      for (const auto symbol : rule.right) {
        const auto below = symbol.terminal ? oracle::Strings{{{symbol.id}, 1.0}} : table[symbol.id];
        oracle::Strings longer;
        for (const auto& [left, p] : partial)
          for (const auto& [right, q] : below) {
            Word word = left;
            word.insert(word.end(), right.begin(), right.end());
            if (word.size() <= kLongest) longer[word] += p * q;
          }
        partial = longer;
      }
      for (const auto& [word, p] : partial) next[rule.left][word] += p;
    }
    table = std::move(next);
  }
  const auto expected = oracle::sums(grammar_, kLongest);
  for (const auto& word : words_) {
    const double p = oracle::weight_of(expected, word);
    if (word.empty()) {
      EXPECT_NEAR(grammar_.normal_form().empty_mass, p, 1e-13);
    } else {
      EXPECT_NEAR(oracle::weight_of(table[grammar_.start()], word), p, 1e-13);
    }
  }
}

TEST_P(EachGrammar, LogarithmsGiveTheSameChart) {
  const auto& form = grammar_.normal_form();
  const int symbols = grammar_.alphabet().size();
  const ChartRules<Real> real(form, symbols, 1);
  const ChartRules<Log> log(form, symbols, 0);
  const auto& word = words_.back();
  const auto a = inside_chart(real, word);
  const auto b = inside_chart(log, word);
  const auto outside_a = outside_charts(real, word, a);
  const auto outside_b = outside_charts(log, word, b);
  const int n = static_cast<int>(word.size());
  for (int s = 0; s < form.size; ++s)
    for (int i = 0; i < n; ++i)
      for (int j = i + 1; j <= n; ++j) {
        const double scale = std::ldexp(1.0, j - i), rest = std::ldexp(1.0, n - j + i);
        EXPECT_NEAR(a.at(s, i, j) / scale, std::exp(b.at(s, i, j)), 1e-14);
        EXPECT_NEAR(outside_a.after.at(s, i, j) / rest, std::exp(outside_b.after.at(s, i, j)),
                    1e-13);
        EXPECT_NEAR(outside_a.before.at(s, i, j) / rest, std::exp(outside_b.before.at(s, i, j)),
                    1e-13);
      }
}

TEST_P(EachGrammar, InsideTimesOutsideIsTheWholeAtEverySymbol) {
  // Every derivation has exactly one node that makes each symbol.
  const ChartRules<Real> rules(grammar_.normal_form(), grammar_.alphabet().size(), 0);
  for (const auto& word : words_) {
    if (word.empty() || log_probability(grammar_, word) == kMinusInfinity) continue;
    const auto inside = inside_chart(rules, word);
    const auto outside = outside_charts(rules, word, inside);
    const int n = static_cast<int>(word.size());
    const double whole = inside.at(grammar_.start(), 0, n);
    for (int i = 0; i < n; ++i) {
      double sum = 0;
      for (const auto& r : rules.lexical[word[i]])
        sum += outside.before.at(r.left, i, i + 1) * r.weight;
      for (int j = i + 2; j <= n; ++j)
        for (const auto& r : rules.terminal_left[word[i]])
          sum += outside.before.at(r.left, i, j) * r.weight * inside.at(r.nonterminal, i + 1, j);
      for (int j = 0; j < i; ++j)
        for (const auto& r : rules.terminal_right[word[i]])
          sum += outside.before.at(r.left, j, i + 1) * r.weight * inside.at(r.nonterminal, j, i);
      if (i + 1 < n)
        for (const auto& r : rules.terminal_pairs[word[i]])
          if (r.second == word[i + 1]) sum += outside.before.at(r.left, i, i + 2) * r.weight;
      if (i > 0)
        for (const auto& r : rules.terminal_pairs[word[i - 1]])
          if (r.second == word[i]) sum += outside.before.at(r.left, i - 1, i + 1) * r.weight;
      EXPECT_NEAR(sum / whole, 1, 1e-11) << grammar_.alphabet().text(word) << " at " << i;
    }
  }
}

TEST_P(EachGrammar, ExpectedCountsFlowFromLeftToRightSides) {
  for (const auto& word : words_) {
    if (log_probability(grammar_, word) == kMinusInfinity) continue;
    const auto counts = expected_rule_counts(grammar_, word);
    std::vector<double> lefts(grammar_.nonterminals().size()), rights(lefts.size());
    std::vector<double> symbols(grammar_.alphabet().size());
    rights[grammar_.start()] = 1;
    for (std::size_t r = 0; r < counts.size(); ++r) {
      EXPECT_GE(counts[r], 0);
      lefts[grammar_.rules()[r].left] += counts[r];
      for (const auto symbol : grammar_.rules()[r].right)
        (symbol.terminal ? symbols : rights)[symbol.id] += counts[r];
    }
    for (std::size_t a = 0; a < lefts.size(); ++a)
      EXPECT_NEAR(lefts[a], rights[a], 1e-9 * (1 + lefts[a]));
    for (int s = 0; s < grammar_.alphabet().size(); ++s)
      EXPECT_NEAR(symbols[s], static_cast<double>(std::count(word.begin(), word.end(), s)), 1e-10);
  }
}

TEST_P(EachGrammar, ExpectedCountsAreTheDerivativesByTheWeights) {
  // Weights are normalised, so raising the log of weight r by d changes log G by
  // d (count[r] - weight[r] * sum of the counts of the same left side).
  const Word* longest = nullptr;
  for (const auto& word : words_)
    if (log_probability(grammar_, word) > kMinusInfinity) longest = &word;
  for (const Word& word : {words_.front(), *longest}) {
    if (log_probability(grammar_, word) == kMinusInfinity) continue;
    const auto counts = expected_rule_counts(grammar_, word);
    for (std::size_t r = 0; r < counts.size(); ++r) {
      double side = 0;
      for (std::size_t s = 0; s < counts.size(); ++s)
        if (grammar_.rules()[s].left == grammar_.rules()[r].left) side += counts[s];
      constexpr double kStep = 1e-5;
      double ends[2];
      for (const int sign : {0, 1}) {
        auto source = grammar_.source();
        source.rules[r].weight *= std::exp(sign ? kStep : -kStep);
        ends[sign] = log_probability(Grammar(source), word);
      }
      EXPECT_NEAR((ends[1] - ends[0]) / (2 * kStep), counts[r] - grammar_.rules()[r].weight * side,
                  2e-7 * (1 + side))
          << grammar_.rule_text(grammar_.rules()[r]);
    }
  }
}

void expect_valid(const Grammar& grammar, const ParseTree& tree) {
  if (tree.symbol.terminal) {
    EXPECT_TRUE(tree.children.empty());
    return;
  }
  const auto& rule = grammar.rules().at(tree.rule);
  EXPECT_EQ(rule.left, tree.symbol.id);
  ASSERT_EQ(rule.right.size(), tree.children.size());
  for (std::size_t k = 0; k < rule.right.size(); ++k) {
    EXPECT_EQ(rule.right[k], tree.children[k].symbol);
    expect_valid(grammar, tree.children[k]);
  }
}

TEST_P(EachGrammar, BestParseIsTheBestDerivationByTheOriginalRules) {
  const auto best = oracle::maxima(grammar_, kLongest);
  for (const auto& word : words_) {
    const double expected = oracle::weight_of(best, word);
    const auto parse = best_parse(grammar_, word);
    ASSERT_EQ(parse.has_value(), expected > 0) << grammar_.alphabet().text(word);
    if (!parse) continue;
    EXPECT_NEAR(parse->log_probability, std::log(expected), 1e-12);
    EXPECT_NEAR(derivation_log_probability(grammar_, parse->tree), std::log(expected), 1e-12);
    EXPECT_EQ(leaves(parse->tree), word);
    EXPECT_EQ(parse->tree.symbol.id, grammar_.start());
    expect_valid(grammar_, parse->tree);
  }
}

std::vector<std::string> grammar_names() {
  std::vector<std::string> names;
  for (const auto& [name, text] : oracle::grammar_texts()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Grammars, EachGrammar, testing::ValuesIn(grammar_names()),
                         [](const auto& info) {
                           auto name = info.param;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

TEST(Inside, LongStringsDoNotUnderflow) {
  const Grammar grammar(parse_grammar("S -> 'a' S [1e-7] | 'b' S [0.5] | 'b' [0.4999999]"));
  // G(a^300 b) = 1e-2100 * 0.4999999, far below the smallest double.
  Word word(300, 0);
  word.push_back(1);
  EXPECT_NEAR(log_probability(grammar, word), 300 * std::log(1e-7) + std::log(0.4999999), 1e-9);
  word.back() = 0;
  EXPECT_EQ(log_probability(grammar, word), kMinusInfinity);
  const auto parse = best_parse(grammar, Word(300, 1));
  EXPECT_NEAR(parse->log_probability, 299 * std::log(0.5) + std::log(0.4999999), 1e-9);
  const auto counts = expected_rule_counts(grammar, [&] {
    auto inside = word;
    inside.back() = 1;
    return inside;
  }());
  EXPECT_NEAR(counts[0], 300, 1e-8);
}

TEST(Inside, PalindromesOfLength601) {
  const Grammar grammar(parse_grammar("S -> '0' S '0' [30/61] | '1' S '1' [30/61] | '#' [1/61]"));
  Word word(601, 0);
  word[7] = word[593] = 1;
  word[300] = 2;
  EXPECT_NEAR(log_probability(grammar, word), 300 * std::log(30.0 / 61) - std::log(61.0), 1e-9);
}

TEST(Inside, EmptyStringsOnlyThroughACriticalNonterminal) {
  // N derives only the empty string, with probability one although it is critical.
  const Grammar grammar(parse_grammar("S -> 'a' N 'b' N\nN -> N N [.5] | [.5]"));
  EXPECT_NEAR(log_probability(grammar, {0, 1}), 0, 1e-14);
  EXPECT_EQ(grammar.termination_probability(), 1.0);
}

TEST(Inside, RefusesSymbolsOutsideTheAlphabet) {
  const Grammar grammar(parse_grammar("S -> 'a'"));
  EXPECT_THROW(log_probability(grammar, {1}), std::invalid_argument);
  EXPECT_THROW(log_probability(grammar, {-1}), std::invalid_argument);
  EXPECT_THROW(best_parse(grammar, {7}), std::invalid_argument);
  EXPECT_THROW(expected_rule_counts(grammar, {0, 0}), std::invalid_argument);
  EXPECT_EQ(log_probability(grammar, {}), kMinusInfinity);
}

TEST(ParseTree, IsPrintedInBracketsAndIndented) {
  const Grammar grammar(parse_grammar("S -> '(' S ')' S [.4] | [.6]"));
  const auto parse = best_parse(grammar, grammar.alphabet().parse("( )"));
  ASSERT_TRUE(parse);
  EXPECT_EQ(bracketed(grammar, parse->tree), "(S '(' (S) ')' (S))");
  EXPECT_EQ(indented(grammar, parse->tree), "S\n  '('\n  S\n  ')'\n  S\n");
}

}  // namespace
}  // namespace pushdown::inside_test
