#include "grammar/synchronous.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "grammar/inside.h"
#include "grammar/oracle.h"
#include "grammar/semiring.h"
#include "grammar/synchronous_oracle.h"
#include "grammar/synchronous_parse.h"
#include "grammar/synchronous_sampler.h"
#include "grammar/synchronous_text.h"
#include "support/message.h"

namespace pushdown::synchronous_test {
namespace {

using testing_support::message;

SynchronousGrammar grammar_of(const std::string& text) {
  return SynchronousGrammar(parse_synchronous(text));
}

std::string refusal(const std::string& text) {
  return message([&] { grammar_of(text); });
}

std::string shown(const SynchronousGrammar& grammar, const Pair& pair) {
  return grammar.source_alphabet().text(pair.source) + " ||| " +
         grammar.target_alphabet().text(pair.target);
}

Pair pair_from(const SynchronousGrammar& grammar, const std::string& source,
               const std::string& target) {
  return {grammar.source_alphabet().parse(source), grammar.target_alphabet().parse(target)};
}

// A subject, a verb and an object change places, with relative clauses.
const char* const kClauses =
    "A -> S1 V2 O3 | S1 O3 V2\nS -> S1 'rpi' S2 V3 | S1 'rpo' S2 V3 [1/3]\nS -> 's1' | 't1' [1/3]\n"
    "S -> 's2' | 't2' [1/3]\nV -> 'v' | 'w'\nO -> O1 O2 | O1 O2 [1/4]\nO -> 'o' | 'p' [3/4]";

TEST(Synchronous, ReadsRulesAndLinks) {
  const auto grammar = grammar_of(
      "#% synchronous\n#% name swap\n#% target_symbols 'y' 'x'\n# a comment\n"
      "A -> 'a' S12 T1 S3 | S3 'x' S12 T1 'y'   # the end\r\n"
      "S \xE2\x86\x92 | [3]\nS -> 's\\'s' | 'x' [1]\nT -> 't' |\n%start A\n");
  EXPECT_EQ(grammar.name(), "swap");
  ASSERT_EQ(grammar.rules().size(), 4u);
  EXPECT_EQ(grammar.nonterminals(), (std::vector<std::string>{"A", "S", "T"}));
  EXPECT_EQ(grammar.rules()[0].links, (std::vector<int>{2, 0, 1}));
  EXPECT_EQ(grammar.rules()[1].weight, 0.75);
  EXPECT_EQ(grammar.source_alphabet().symbols(), (std::vector<std::string>{"a", "s's", "t"}));
  EXPECT_EQ(grammar.target_alphabet().symbols(), (std::vector<std::string>{"y", "x"}));
  EXPECT_EQ(rule_text(grammar.source().rules[0]), "A -> 'a' S1 T2 S3 | S3 'x' S1 T2 'y'");
  EXPECT_EQ(grammar.source_side().rules()[3].origin, "text:8");
}

TEST(Synchronous, TextReadsBackAsTheSameGrammar) {
  auto texts = oracle::synchronous_texts();
  texts["clauses"] = kClauses;
  texts["directives"] =
      "#% name n\n#% source_symbols 'b' 'a'\nT -> 'a' 'b' | \"it's\"\n%start S\nS' -> T1 | T1\n"
      "S -> S'1 T2 | T2 S'1";
  for (const auto& [name, text] : texts) {
    SCOPED_TRACE(name);
    const auto grammar = grammar_of(text);
    const auto written = to_text(grammar);
    EXPECT_TRUE(says_synchronous(written));
    const auto again = grammar_of(written);
    EXPECT_EQ(to_text(again), written);
    EXPECT_EQ(again.name(), grammar.name());
    EXPECT_EQ(again.source_alphabet(), grammar.source_alphabet());
    EXPECT_EQ(again.target_alphabet(), grammar.target_alphabet());
    EXPECT_EQ(again.nonterminals()[again.start()], grammar.nonterminals()[grammar.start()]);
    for (std::size_t r = 0; r < grammar.rules().size(); ++r) {
      EXPECT_EQ(again.rules()[r].links, grammar.rules()[r].links);
      EXPECT_EQ(again.rules()[r].weight, grammar.rules()[r].weight);
    }
  }
  EXPECT_FALSE(says_synchronous("# synchronous\nS -> 'a'\n"));
}

TEST(Synchronous, AMalformedRuleIsNamedWithLineRuleAndSymbol) {
  const auto tail = std::string("\nS -> 's' | 's'\nT -> 't' | 't'");
  EXPECT_EQ(refusal("A -> S1 T2 | S1" + tail),
            "[grammar] text:1: in A -> S1 T2 | S1: T2 of the source side has no nonterminal of "
            "index 2 on the target side");
  EXPECT_EQ(refusal("A -> S1 | T2 S1" + tail),
            "[grammar] text:1: in A -> S1 | T2 S1: T2 of the target side has no nonterminal of "
            "index 2 on the source side");
  EXPECT_EQ(refusal("A -> S1 T1 | S1 T1" + tail),
            "[grammar] text:1: in A -> S1 T1 | S1 T1: index 1 occurs twice on the source side, at "
            "S1 and at T1");
  EXPECT_EQ(refusal("A -> S1 T2 | S1 T2 S1" + tail),
            "[grammar] text:1: in A -> S1 T2 | S1 T2 S1: index 1 occurs twice on the target side, "
            "at S1 and at S1");
  EXPECT_EQ(refusal("A -> S1 T2 | S2 T1" + tail),
            "[grammar] text:1: in A -> S1 T2 | S2 T1: index 1 is S on the source side and T on the "
            "target side");
  EXPECT_EQ(refusal("A -> S1 T | S1 T" + tail),
            "[grammar] text:1: in A -> S1 T | S1 T: T on the source side has no index; write T1 to "
            "link it, or 'T' for a terminal");
  EXPECT_EQ(refusal("#% name svo\n\nAll -> S1 T2 Alll3 | S1 T2 Alll3" + tail),
            "[grammar svo] text:3: in All -> S1 T2 Alll3 | S1 T2 Alll3: nonterminal Alll has no "
            "rules, did you mean 'All'?; write terminals in quotes");
  EXPECT_EQ(refusal("A -> S1 T2 'S' | S1 T2" + tail),
            "[grammar] text:1: in A -> S1 T2 'S' | S1 T2: 'S' is a terminal here but a nonterminal "
            "elsewhere");
  EXPECT_EQ(refusal("A -> S1 T2 | S1 T2\nS3 -> 's' | 's'" + tail),
            "[grammar] text:2: in S3 -> 's' | 's': nonterminal S3 must not end in a digit; final "
            "digits are an index");
}

TEST(Synchronous, EndlessAndUnreachableRulesAreRefused) {
  EXPECT_EQ(refusal("A -> 'a' | 'a'\nB -> 'b' | 'b'"),
            "[grammar] text:2: the start symbol A does not reach 'B'");
  EXPECT_EQ(refusal("A -> 'a' B1 | B1\nA -> 'a' | 'a'\nB -> B1 | 'b' B1"),
            "[grammar] text:3: no terminal string can be derived from 'B'");
  EXPECT_EQ(refusal("A -> A1 | A1"),
            "[grammar] text:1: the start symbol A derives no terminal string");
  EXPECT_EQ(
      refusal("A -> 'a' | 'x' [0]"),
      "[grammar] text:1: the weights of nonterminal A must have a positive finite sum, got 0");
  EXPECT_NE(refusal("A -> 'a' | 'x' [-1]").find("must be a number of at least 0, got -1"),
            std::string::npos);
  EXPECT_EQ(refusal("A -> 'a' | 'x' [.5]\nA -> 'b' | 'x'"),
            "[grammar.parse] text:1: some rules of A have a weight and some have none");
  EXPECT_EQ(refusal("%start B\nA -> 'a' | 'x'"), "[grammar] the start symbol B has no rules");
  EXPECT_EQ(refusal("#% source_symbols 'b'\nA -> 'a' | 'b'"),
            "[grammar] no rule uses the symbol 'b' of the alphabet");
}

TEST(Synchronous, TextErrorsNameFileAndLine) {
  const auto reading = [](const std::string& text) {
    return message([&] { parse_synchronous(text, "f.scfg"); });
  };
  EXPECT_EQ(reading("\nA -> 'a'"),
            "[grammar.parse] f.scfg:2: expected | and the target side after the source side, got "
            "the end of the line");
  EXPECT_EQ(reading("A -> 'a' | 'b' | 'c'"),
            "[grammar.parse] f.scfg:1: a rule must have two sides, got a third; each rule needs "
            "its own line");
  EXPECT_EQ(reading("A -> 'a' | 'b'\n  | 'c' | 'd'"),
            "[grammar.parse] f.scfg:2: expected a left side; the bar separates source and target, "
            "and each rule needs its own line");
  EXPECT_EQ(reading("A -> B01 | B1"),
            "[grammar.parse] f.scfg:1: the index of B01 must be a number from 1 to 999999 without "
            "leading zeros");
  EXPECT_EQ(reading("A -> B0 | B0"),
            "[grammar.parse] f.scfg:1: the index of B0 must be a number from 1 to 999999 without "
            "leading zeros");
  EXPECT_EQ(reading("A -> 7 | 7"),
            "[grammar.parse] f.scfg:1: expected a nonterminal with an index, got 7; write "
            "terminals in quotes");
  EXPECT_EQ(reading("A -> 'a|b"),
            "[grammar.parse] f.scfg:1: the terminal 'a|b has no closing quote");
  EXPECT_EQ(reading("A 'a' | 'b'"),
            "[grammar.parse] f.scfg:1: expected -> after A, got ''a' | 'b''");
  EXPECT_EQ(reading("A -> 'a' | 'b' [0.5"),
            "[grammar.parse] f.scfg:1: expected ']' after the weight, got the end of the line");
  EXPECT_EQ(reading("A -> 'a' [0.5] | 'b'"),
            "[grammar.parse] f.scfg:1: expected | and the target side after the source side, got "
            "'[0.5] | 'b''");
  EXPECT_EQ(reading("A -> 'a' | 'b' [1] x"),
            "[grammar.parse] f.scfg:1: expected the end of the line, got 'x'");
  EXPECT_EQ(reading("#% unambiguous\n"),
            "[grammar.parse] f.scfg:1: unknown comment directive '#% 'unambiguous''");
  EXPECT_EQ(reading("# nothing\n"), "[grammar.parse] f.scfg: there are no rules");
  EXPECT_EQ(reading("A -> '\xFF' | 'b'"), "[grammar.parse] f.scfg:1: byte 7 (0xff) is not UTF-8");
}

TEST(Synchronous, ProbabilitiesAreThoseOfBruteForce) {
  for (const auto& [name, text] : oracle::synchronous_texts()) {
    SCOPED_TRACE(name);
    const auto grammar = grammar_of(text);
    const std::size_t source = 3, target = 4;
    const auto weights = oracle::pair_weights(grammar, source, target);
    ASSERT_GT(weights.size(), 1u);
    for (const auto& u : oracle::all_words(grammar.source_alphabet().size(), source))
      for (const auto& v : oracle::all_words(grammar.target_alphabet().size(), target)) {
        const auto found = weights.find({u, v});
        const double weight = found == weights.end() ? 0.0 : found->second;
        const Pair pair{u, v};
        ASSERT_EQ(contains(grammar, pair), weight > 0) << shown(grammar, pair);
        const double p = std::exp(log_probability(grammar, pair));
        ASSERT_NEAR(p, weight, 1e-12 + 1e-9 * weight) << shown(grammar, pair);
      }
  }
}

TEST(Synchronous, ProbabilitiesOfASourceSumToThatOfItsProjection) {
  // Every source of the inversion grammar has finitely many targets.
  const auto grammar = grammar_of(oracle::synchronous_texts().at("inversion"));
  for (const auto& source : oracle::all_words(2, 5)) {
    const auto all = translations(grammar, source);
    ASSERT_TRUE(all.complete);
    double sum = 0;
    for (const auto& target : all.targets)
      sum += std::exp(log_probability(grammar, {source, target}));
    const double whole = std::exp(log_probability(grammar.source_side(), source));
    EXPECT_NEAR(sum, whole, 1e-12);
  }
}

TEST(Synchronous, TranslationsAreThoseOfBruteForce) {
  for (const auto& [name, text] : oracle::synchronous_texts()) {
    SCOPED_TRACE(name);
    const auto grammar = grammar_of(text);
    const std::size_t longest = 4;
    const auto weights = oracle::pair_weights(grammar, 3, longest);
    for (const auto& source : oracle::all_words(grammar.source_alphabet().size(), 3)) {
      std::set<Word> expected;
      for (const auto& [pair, weight] : weights)
        if (weight > 0 && pair.first == source) expected.insert(pair.second);
      const auto all = translations(grammar, source, 25);
      std::set<Word> found;
      for (const auto& target : all.targets) {
        EXPECT_TRUE(target.size() > 8 || contains(grammar, {source, target}));
        if (target.size() <= longest) found.insert(target);
      }
      if (all.complete) {
        EXPECT_EQ(found, expected);
      } else {
        // The shortest translations are among them.
        EXPECT_EQ(all.targets.size(), 25u);
        for (const auto& target : expected)
          EXPECT_TRUE(target.size() >= all.targets.back().size() || found.contains(target));
      }
    }
  }
}

TEST(Synchronous, TranslationsStopAtTheirLimit) {
  const auto endless = grammar_of(oracle::synchronous_texts().at("insertions without end"));
  const auto some = translations(endless, endless.source_alphabet().parse("a a"), 7);
  EXPECT_EQ(some.targets.size(), 7u);
  EXPECT_TRUE(
      std::is_sorted(some.targets.begin(), some.targets.end(), [](const Word& a, const Word& b) {
        return std::pair(a.size(), a) < std::pair(b.size(), b);
      }));
  EXPECT_FALSE(some.complete);
  const auto grammar = grammar_of(kClauses);
  const auto one = translations(grammar, grammar.source_alphabet().parse("s1 rpi s2 v v o o"), 1);
  ASSERT_TRUE(one.complete);
  ASSERT_EQ(one.targets.size(), 1u);
  EXPECT_EQ(grammar.target_alphabet().text(one.targets[0]), "t1 rpo t2 w p p w");
  EXPECT_TRUE(translations(grammar, grammar.source_alphabet().parse("s1 v"), 1).targets.empty());
  EXPECT_NE(message([&] { translations(grammar, {}, 0); }), "no error");
  EXPECT_NE(message([&] { translations(grammar, {99}, 1); }), "no error");
}

TEST(Synchronous, LongPairsAreParsed) {
  const auto grammar = grammar_of(kClauses);
  const SynchronousSampler sampler(grammar, {100, 128});
  Random random(5);
  for (int i = 0; i < 5; ++i) {
    auto pair = sampler.sample(random);
    EXPECT_TRUE(contains(grammar, pair));
    const double log_p = log_probability(grammar, pair);
    // The source determines its target here.
    EXPECT_NEAR(log_p, log_probability(grammar.source_side(), pair.source), 1e-9 * -log_p);
    std::swap(pair.target.front(), pair.target.back());
    EXPECT_FALSE(contains(grammar, pair));
    EXPECT_EQ(log_probability(grammar, pair), kMinusInfinity);
  }
}

TEST(Synchronous, TheForestHasLimits) {
  const auto grammar = grammar_of("S -> S1 S2 | S2 S1\nS -> 'a' | 'x'");
  EXPECT_NE(message([&] {
              contains(grammar, {Word(300, 0), Word(300, 0)});
            }).find("2 million derivations"),
            std::string::npos);
  EXPECT_NE(message([&] {
              contains(grammar, {Word(2001, 0), {}});
            }).find("at most 2000 symbols"),
            std::string::npos);
  EXPECT_NE(message([&] { contains(grammar, {{0}, {3}}); }), "no error");
  EXPECT_NE(message([&] {
              contains(grammar, {Word(150, 0), Word(150, 0)});
            }).find("million steps"),
            std::string::npos);
  std::string side;
  for (int i = 0; i < 1001; ++i) side += " 'a'";
  EXPECT_NE(refusal("S ->" + side + " |").find("a side must have at most 1000 symbols, got 1001"),
            std::string::npos);
}

TEST(Synchronous, ProbabilitiesOfAnyLength) {
  // e^-2993, far below the smallest double.
  const auto grammar = grammar_of("S -> 'a' S1 | S1 'x' 'x' [.05]\nS -> 'b' | [.95]");
  Word source(1000, 0);
  source.back() = 1;
  EXPECT_NEAR(log_probability(grammar, {source, Word(2 * 999, 0)}),
              999 * std::log(0.05) + std::log(0.95), 1e-8);
  EXPECT_EQ(log_probability(grammar, {source, Word(2 * 999 - 1, 0)}), kMinusInfinity);
}

TEST(Synchronous, ADerivationGivesItsPair) {
  const auto grammar = grammar_of(kClauses);
  // A(S(S(s1) rpi S(s2) V) V O(o))
  EXPECT_EQ(shown(grammar, grammar.pair_of({0, 1, 2, 3, 4, 4, 6})),
            "s1 rpi s2 v v o ||| t1 rpo t2 w p w");
  for (const auto& wrong : std::vector<std::vector<int>>{
           {}, {0}, {0, 1, 2, 3, 4, 4}, {0, 1, 2, 3, 4, 4, 6, 6}, {2}, {0, -1}, {0, 99}})
    EXPECT_EQ(message([&] { grammar.pair_of(wrong); }),
              "[grammar.derivation] these rules do not form a leftmost derivation");
  EXPECT_EQ(grammar.pair_of({0, 2, 4, 6}), pair_from(grammar, "s1 v o", "t1 p w"));
}

}  // namespace
}  // namespace pushdown::synchronous_test
