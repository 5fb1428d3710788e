#include "pda/to_grammar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "grammar/inside.h"
#include "grammar/oracle.h"
#include "grammar/parse_count.h"
#include "pda/lang.h"
#include "pda/notation.h"
#include "random_pda.h"
#include "support/message.h"

namespace pushdown::to_grammar_test {
namespace {

using testing_support::message;

double log_weight(const Pda& pda, const Word& word) {
  const auto automaton = on_string(pda, word);
  return LangChart<Log>(automaton).accepted();
}

// Compares log W(w) = log G(w) + log Z - |w| log c, and derivations with runs, on short strings.
// Returns the number of accepted ones.
int expect_same_weights(const Pda& pda, std::size_t longest) {
  const auto made = grammar_from_pda(pda);
  int accepted = 0;
  for (const auto& word : oracle::all_words(pda.alphabet().size(), longest)) {
    const double wanted = log_weight(pda, word);
    Word own;
    bool known = true;
    for (const int symbol : word) {
      const auto id = made.grammar.alphabet().find(pda.alphabet().symbol(symbol));
      known = known && id.has_value();
      own.push_back(id.value_or(0));
    }
    const double got = !known ? kMinusInfinity
                              : log_probability(made.grammar, own) + made.log_total -
                                    static_cast<double>(word.size()) * made.log_factor;
    if (wanted == kMinusInfinity) {
      EXPECT_EQ(got, wanted) << pda.alphabet().text(word);
      continue;
    }
    ++accepted;
    EXPECT_NEAR(got, wanted, 1e-9) << pda.alphabet().text(word);
    EXPECT_EQ(parse_count(made.grammar, own),
              all_runs(on_string(pda, word), true, 1'000'000).size());
  }
  return accepted;
}

TEST(ToGrammar, GivesStringsTheWeightsOfTheAutomaton) {
  int accepted = 0, converted = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const bool at_bottom = seed % 2 == 0;
    // Small weights have a finite total, large ones have none.
    const auto pda = testing_support::random_pda(1 + static_cast<int>(seed % 3), 2, 2, 0.12,
                                                 seed % 4 < 2 ? 0.2 : 1.5, at_bottom, seed);
    try {
      accepted += expect_same_weights(pda, 5);
      ++converted;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("accepts no string"), std::string::npos)
          << error.what();
      for (const auto& word : oracle::all_words(2, 5))
        EXPECT_EQ(log_weight(pda, word), kMinusInfinity);
    }
  }
  EXPECT_GT(converted, 30);
  EXPECT_GT(accepted, 500);
}

TEST(ToGrammar, TheReversalAutomaton) {
  const Pda pda(
      parse_pda("%bottom Z\n%at_bottom\nq1, x --a--> q1, push a for all x for a in 0 1\n"
                "q1, a --a--> q2, pop for a in 0 1\nq2, a --a--> q2, pop for a in 0 1"));
  EXPECT_GT(expect_same_weights(pda, 8), 20);
  const auto made = grammar_from_pda(pda);
  // sum over the lengths of (2 c^2)^k is finite for c = 1/2, so c is 1/4.
  EXPECT_DOUBLE_EQ(made.log_factor, -2 * std::numbers::ln2);
  EXPECT_NEAR(made.grammar.termination_probability(), 1, 1e-12);
  EXPECT_FALSE(made.grammar.unambiguous());
}

TEST(ToGrammar, DeterministicAutomataGiveUnambiguousGrammars) {
  const Pda pda(
      parse_pda("%bottom Z\n%accepting q2\nq1, x --a--> q1, push a for x in a Z\n"
                "q1, a --b--> q2, pop\nq2, a --b--> q2, pop"));
  EXPECT_TRUE(grammar_from_pda(pda).grammar.unambiguous());
  EXPECT_GT(expect_same_weights(pda, 7), 5);
}

TEST(ToGrammar, ProbabilitiesAreKept) {
  const Pda pda(
      parse_pda("%bottom Z\n%accepting q/0.5\nq, Z --a/0.25--> q, replace Z\nq, Z --b/0.25--> q, "
                "replace Z"));
  const auto made = grammar_from_pda(pda);
  EXPECT_EQ(made.log_factor, 0);
  EXPECT_NEAR(made.log_total, 0, 1e-15);
}

TEST(ToGrammar, NamesAreValidAndErrorsAreClear) {
  EXPECT_NO_THROW(grammar_from_pda(Pda(parse_pda(
      "%bottom '->'\n'q->1', '->' --a--> \"a'b\", push |\n\"a'b\", | --a--> \"a'b\", pop"))));
  EXPECT_EQ(message([] {
              grammar_from_pda(Pda(parse_pda("%bottom Z\n%accepting r\nq, Z --a--> q, push Z")));
            }),
            "[pda.grammar] the automaton accepts no string, and a grammar derives at least one");
}

}  // namespace
}  // namespace pushdown::to_grammar_test
