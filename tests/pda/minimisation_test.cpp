// Reachability compared with runs on all short strings, minimization compared with the language,
// isomorphism, and deterministic runs compared with Lang's algorithm.
#include "pda/minimisation.h"

#include <gtest/gtest.h>

#include "pda/deterministic_run.h"
#include "pda/lang.h"
#include "pda/notation.h"
#include "pda/reachability.h"
#include "random_pda.h"
#include "support/encodable_pda.h"

namespace pushdown::minimisation_test {
namespace {

using testing_support::all_words;
using testing_support::encodable_pda;

using Texts = std::vector<std::string>;

bool accepts(const Pda& pda, const Word& word) {
  return LangChart<Log>(on_string(pda, word)).accepted() > kMinusInfinity;
}

TEST(PdaMinimisation, KeepsTheLanguage) {
  int smaller = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Pda pda = encodable_pda(5, 2, 0.55, seed % 2 == 0, seed);
    const Pda small = minimal(pda), dead = minimal(pda, true);
    smaller += small.states().size() < pda.states().size();
    EXPECT_LE(small.states().size(), pda.states().size() + small.dead().back());
    EXPECT_TRUE(isomorphic(small, minimal(small)));
    const DeterministicRun run(pda), small_run(small), dead_run(dead);
    for (const auto& word : all_words(2, 7)) {
      const bool member = accepts(pda, word);
      EXPECT_EQ(run.accepts(word), member);
      EXPECT_EQ(small_run.accepts(word), member);
      EXPECT_EQ(dead_run.accepts(word), member);
    }
  }
  EXPECT_GT(smaller, 5);
}

TEST(PdaMinimisation, UnreachableStatesAreRemoved) {
  // Two unreachable states that are like each other and unlike any reachable state.
  const Pda pda(
      parse_pda("%bottom _\n%accepting q\nq, _ --a--> q, push a\nq, a --a--> q, pop\n"
                "lost, a --b--> gone, pop\ngone, a --b--> lost, pop\n"));
  EXPECT_EQ(minimal(pda).states(), Texts{"q"});
  EXPECT_EQ(minimal(pda, true).states(), Texts{"q"});
}

TEST(PdaMinimisation, MergesAndForgets) {
  // Two copies of a state, an unreachable state, and a trap.
  const Pda pda(
      parse_pda("%bottom _\n%accepting p r\n%at_bottom\nq, x --a--> q, push a for x in _ a\n"
                "q, a --b--> p, pop\np, a --b--> r, pop\nr, a --b--> p, pop\n"
                "lost, a --b--> p, pop\np, _ --b--> trap, replace _\n"
                "r, _ --b--> trap, replace _\nq, _ --b--> trap, replace _\n"
                "trap, x --y--> trap, replace x for all x for all y\n"));
  EXPECT_TRUE(isomorphic(minimal(pda), minimal(testing_support::equal_counts())));
  EXPECT_EQ(minimal(pda).states(), (std::vector<std::string>{"q", "p"}));
  EXPECT_EQ(minimal(pda, true).states(), (std::vector<std::string>{"q", "p", "trap"}));
  EXPECT_TRUE(minimal(pda, true).dead()[2]);
  EXPECT_FALSE(isomorphic(pda, testing_support::equal_counts()));
  EXPECT_FALSE(isomorphic(testing_support::marked_palindrome(), testing_support::equal_counts()));
  EXPECT_THROW(minimal(Pda(parse_pda("%bottom _\nq, _ --a--> q, push a\nq, _ --a--> q, pop"))),
               std::invalid_argument);
  EXPECT_THROW(minimal(Pda(parse_pda("%bottom _\nq, _ --a/0.5--> q, push a"))),
               std::invalid_argument);
}

TEST(PdaReachability, AgreesWithRunsOnShortStrings) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Pda pda = testing_support::random_pda(3, 3, 2, 0.04, 1, true, seed);
    const auto found = reachable(pda);
    // Every run on every short string. With three states these cover all cases.
    std::set<std::pair<int, int>> pairs{{0, 0}};
    std::set<int> at_bottom{0};
    for (const auto& word : all_words(2, 7)) {
      for (const auto& run : all_runs(on_string(pda, word), false, 1'000'000)) {
        const auto stack = stacks_of(on_string(pda, word), run.moves).back();
        const int state = run.moves.empty() ? 0 : run.moves.back().state;
        pairs.insert({state, stack.back()});
        if (stack.size() == 1 && stack[0] == 0) at_bottom.insert(state);
      }
    }
    EXPECT_EQ(found.pairs, pairs) << seed << "\n" << to_text(pda);
    EXPECT_EQ(found.at_bottom, at_bottom) << seed;
  }
  EXPECT_THROW(reachable(
                   0,
                   [](int state, int) {
                     return std::vector<PushdownMove>{{state + 1, StackAction::push, 1}};
                   },
                   100),
               std::invalid_argument);
}

TEST(PdaHints, DeadStatesAndStrengthsAreWritten) {
  const Pda pda(parse_pda("%bottom _\n%dead trap\n%strength 2.5\nq, _ --a--> trap, replace _\n"));
  EXPECT_EQ(pda.strength(), 2.5);
  EXPECT_TRUE(pda.dead()[1]);
  EXPECT_EQ(pda.accepting(), (std::vector<double>{1, 0}));
  EXPECT_EQ(to_text(Pda(parse_pda(to_text(pda)))), to_text(pda));
  EXPECT_EQ(to_text(Pda(pda.source())), to_text(pda));
  for (const auto* text :
       {"%strength 0", "%strength x", "%strength 1 2", "%strength 1\n%strength 2", "%dead",
        "%dead q", "%dead trap trap", "%dead trp\n%states q trap"})
    EXPECT_THROW(Pda(parse_pda(std::string(text) + "\n%bottom _\nq, _ --a--> trap, push a\n")),
                 std::invalid_argument)
        << text;
}

}  // namespace
}  // namespace pushdown::minimisation_test
