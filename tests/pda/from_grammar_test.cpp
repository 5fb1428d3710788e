// The automaton of a grammar gives every short string the grammar's weight.
#include "pda/from_grammar.h"

#include <gtest/gtest.h>

#include "grammar/inside.h"
#include "grammar/oracle.h"
#include "grammar/text.h"
#include "pda/difference.h"
#include "pda/lang.h"
#include "pda/notation.h"
#include "pda/to_grammar.h"
#include "support/message.h"

namespace pushdown::from_grammar_test {
namespace {

using testing_support::message;

std::map<std::string, std::string> texts() {
  auto all = oracle::grammar_texts();
  all["dyck"] = "S -> S T [.4] | T [.6]\nT -> '(' S ')' [.4] | '(' ')' [.6]";
  all["unmarked reversal"] = "S -> '0' S '0' [.3] | '1' S '1' [.4] | [.3]";
  all["names with dots"] =
      "S -> 'a' A A.B B [.5] | 'b' A.A B [.5]\nA -> 'a' | 'b' A A\n"
      "A.A -> 'b'\nA.B -> 'b' A.B 'a' | 'a'\nB -> 'a' B end | 'b'\nend -> 'a'";
  // Names that mean no symbol in other notations of automata.
  all["lambda"] =
      "S -> '\xCE\xB5' S lambda [.3] | 'a' [.7]\nlambda -> 'b' lambda [.4] | 'epsilon' [.6]";
  return all;
}

TEST(FromGrammar, AcceptedRunsHaveTheWeightsOfTheGrammar) {
  for (const auto& [name, text] : texts()) {
    SCOPED_TRACE(name);
    const Grammar grammar(parse_grammar(text));
    const Pda pda = pda_from_grammar(grammar);
    EXPECT_TRUE(pda.at_bottom());
    for (const auto& word : oracle::all_words(grammar.alphabet().size(), 5)) {
      const double wanted = std::exp(log_probability(grammar, word));
      const auto automaton = on_string(pda, word);
      EXPECT_NEAR(std::exp(LangChart<Log>(automaton).accepted()), wanted, 1e-12)
          << grammar.alphabet().text(word);
    }
    // And a longer one.
    const Word word(pda.transitions().size() < 100 ? 30 : 8, 0);
    const double wanted = log_probability(grammar, word);
    const auto automaton = on_string(pda, word);
    const double got = LangChart<Log>(automaton).accepted();
    if (wanted == kMinusInfinity)
      EXPECT_EQ(got, wanted);
    else
      EXPECT_NEAR(got, wanted, 1e-8);
    EXPECT_EQ(to_text(Pda(parse_pda(to_text(pda)))), to_text(pda));
  }
}

TEST(FromGrammar, WeightsOfEqualAlternativesAreAdded) {
  const Grammar grammar(parse_grammar("S -> 'x' | 'x' | 'y' S | 'y' S"));
  const Pda pda = pda_from_grammar(grammar);
  EXPECT_EQ(pda.transitions().size(), 2u);
  const auto weight = [&](const char* text) {
    const auto automaton = on_string(pda, grammar.alphabet().parse(text));
    return std::exp(LangChart<Log>(automaton).accepted());
  };
  EXPECT_NEAR(weight("x"), 1.0 / 2, 1e-15);
  EXPECT_NEAR(weight("y y x"), 1.0 / 8, 1e-15);
  EXPECT_NEAR(weight("y"), 0, 0);
}

TEST(FromGrammar, NothingToReadIsOneSentence) {
  for (const char* text : {"S ->", "S -> 'a' [0] | [1]"})
    EXPECT_EQ(message([&] { pda_from_grammar(Grammar(parse_grammar(text))); }),
              "[pda.from_grammar] the grammar derives only the empty string, and an automaton "
              "needs a symbol to read");
}

TEST(FromGrammar, EqualNonterminalsAreOne) {
  // B and C are equal, and so are D and E once B and C are; F has another weight.
  const Grammar grammar(
      parse_grammar("S -> 'a' D [.3] | 'b' E [.3] | 'c' F [.4]\nD -> 'd' B [.5] | 'd' C [.5]\n"
                    "E -> 'd' C [1]\nF -> 'd' C [.5] | 'e' [.5]\nB -> 'b' B [.5] | 'b' [.5]\n"
                    "C -> 'b' C [.5] | 'b' [.5]"));
  const Pda pda = pda_from_grammar(grammar);
  EXPECT_EQ(pda.states(), (std::vector<std::string>{"S", "D", "F", "B", "end"}));
  for (const auto& word : oracle::all_words(grammar.alphabet().size(), 4)) {
    const auto automaton = on_string(pda, word);
    EXPECT_NEAR(std::exp(LangChart<Log>(automaton).accepted()),
                std::exp(log_probability(grammar, word)), 1e-15);
  }
}

TEST(FromGrammar, GrammarsOfAutomataDoNotGrow) {
  for (const char* text :
       {"%bottom _\n%at_bottom\nq, x --(--> q, push ( for all x\nq, x --[--> q, push [ for all x\n"
        "q, ( --)--> q, pop\nq, [ --]--> q, pop",
        "%bottom _\n%at_bottom\nq, x --a--> q, push a for all x for a in 0 1\n"
        "q, a --a--> r, pop for a in 0 1\nr, a --a--> r, pop for a in 0 1"}) {
    const Pda pda{parse_pda(text)};
    const Pda once = pda_from_grammar(grammar_from_pda(pda).grammar);
    EXPECT_LE(once.transitions().size(), 5 * pda.transitions().size());
    auto again = once;
    for (int k = 0; k < 3; ++k) {
      again = pda_from_grammar(grammar_from_pda(again).grammar);
      EXPECT_LE(again.transitions().size(), once.transitions().size()) << k;
      EXPECT_FALSE(difference(pda, again, {.up_to = 8}));
    }
  }
}

TEST(FromGrammar, TooLargeAnAutomatonIsRefused) {
  // Every nonterminal may be above every other one on the stack.
  std::string text;
  for (int i = 0; i < 400; ++i)
    text += fmt::format("N{0} -> 'a{0}' N{1} N{1} [0.2] | 'b{0}' [0.8]\n", i, (i + 1) % 400);
  EXPECT_CONTAINS(message([&] { pda_from_grammar(Grammar(parse_grammar(text))); }),
                  "of 800 rules and 800 in Greibach normal form, has more than 300000 transitions; "
                  "the grammar itself answers");
}

TEST(FromGrammar, RunsAreDerivations) {
  // Ambiguous: two derivations of a a a, one of them twice as heavy.
  const Grammar grammar(
      parse_grammar("S -> 'a' A [.2] | 'a' B A [.4] | 'a' [.4]\nA -> 'a' A | 'a'\n"
                    "B -> 'a'"));
  const auto automaton = on_string(pda_from_grammar(grammar), grammar.alphabet().parse("a a a"));
  std::vector<double> weights;
  for (const auto& run : all_runs(automaton, true, 1000))
    weights.push_back(std::exp(run.log_weight));
  std::sort(weights.begin(), weights.end());
  ASSERT_EQ(weights.size(), 2u);
  EXPECT_NEAR(weights[0], 0.2 * 0.5 * 0.5, 1e-15);
  EXPECT_NEAR(weights[1], 0.4 * 1 * 0.5, 1e-15);
  EXPECT_NEAR(best_run(automaton, true)->log_weight, std::log(0.2), 1e-12);
}

}  // namespace
}  // namespace pushdown::from_grammar_test
