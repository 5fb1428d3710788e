// The automaton of a network is the automaton that its stack runs.
#include "model/network_automaton.h"

#include <gtest/gtest.h>

#include "model/stack_rnn.h"
#include "pda/trace.h"
#include "support/golden.h"
#include "support/message.h"

namespace pushdown::network_automaton_test {
namespace {

using namespace testing_support;

LanguageModel model_with(const Json& stack) {
  LanguageModel model(Alphabet({"0", "1", "#"}),
                      Json{{"controller", {{"kind", "lstm"}, {"hidden", 6}}},
                           {"stack", stack},
                           {"dtype", "float64"},
                           {"seed", 3}});
  // Far from uniform weights.
  at::NoGradGuard guard;
  for (const auto& [name, tensor] : model.parameters())
    if (name.starts_with("stack.")) tensor.mul_(20);
  return model;
}

TEST(NetworkAutomaton, SharesAreTheReadingsOfTheStackInTheNetwork) {
  const Word word{0, 1, 1, 2, 1, 0, 0};
  for (const std::string bottom : {"original", "reexposed"})
    for (const int window : {0, 3}) {
      const bool normalized = (window == 0) == (bottom == "original");
      const auto model = model_with({{"kind", "nondeterministic"},
                                     {"states", 2},
                                     {"symbols", 3},
                                     {"bottom", bottom},
                                     {"reading", "state_symbol"},
                                     {"window", window},
                                     {"normalized", normalized}});
      const Trace trace(std::make_shared<StringAutomaton>(network_automaton(model, word)));
      // The network step by step.
      at::NoGradGuard guard;
      const StackRnn& rnn = *model.network().stack_rnn();
      auto state = rnn.controller().initial(1);
      auto stack = rnn.stack().initial(1, 8);
      for (int t = 0; t <= static_cast<int>(word.size()); ++t) {
        const Tensor reading = rnn.stack().reading(stack);
        for (int b = 0; b < 6; ++b)
          EXPECT_NEAR(reading[0][b].item<double>(), trace.share(t, b), 1e-10) << t << ' ' << b;
        if (t == static_cast<int>(word.size())) break;
        Tensor symbol = at::zeros({1, 3}, at::kDouble);
        symbol[0][word[t]] = 1;
        auto [hidden, next] = rnn.controller().step(at::cat({symbol, reading}, 1), state);
        state = next;
        stack = rnn.stack().update(stack, hidden);
      }
      const auto best = best_run(*trace.automaton, true);
      ASSERT_TRUE(best);
      EXPECT_EQ(best->moves.size(), word.size());
      double greatest = kMinusInfinity;
      const auto shorter = network_automaton(model, {0, 1, 1});
      for (const auto& run : all_runs(shorter, true, 1'000'000))
        greatest = std::max(greatest, run.log_weight);
      EXPECT_NEAR(best_run(shorter, true)->log_weight, greatest, 1e-12);
    }
}

TEST(NetworkAutomaton, VectorStacksHaveOneToo) {
  const auto model = model_with({{"kind", "vector_nondeterministic"}, {"states", 2}});
  const auto automaton = network_automaton(model, {0, 2, 1});
  EXPECT_TRUE(automaton.reexposed);
  EXPECT_TRUE(best_run(automaton, true));
  EXPECT_EQ(network_automaton(model, {}).length(), 0);
}

TEST(NetworkAutomaton, OtherNetworksAreRefused) {
  for (const char* kind : {"none", "superposition"})
    EXPECT_CONTAINS(message<std::invalid_argument>([&] {
                      network_automaton(model_with({{"kind", kind}}), {0, 1});
                    }),
                    "must have a nondeterministic stack");
  EXPECT_THROW(network_automaton(model_with({{"kind", "nondeterministic"}}), {3}),
               std::invalid_argument);
}

}  // namespace
}  // namespace pushdown::network_automaton_test
