// Lang's algorithm, compared with all runs, the paper's recurrence and example, and the
// differentiable stack.
#include "pda/lang.h"

#include <gtest/gtest.h>

#include <set>

#include "pda/notation.h"
#include "pda/trace.h"
#include "random_pda.h"
#include "stack/stack.h"
#include "support/golden.h"
#include "support/runs.h"

namespace pushdown::lang_test {
namespace {

using namespace testing_support;

constexpr std::string_view kReversal =
    "%start q1\n%bottom ⊥\n%at_bottom\n"
    "q1, x --a--> q1, push a for all x for a in 0 1\n"
    "q1, a --a--> q2, pop for a in 0 1\n"
    "q2, a --a--> q2, pop for a in 0 1\n";

struct Case {
  int states, symbols, inputs, length;
  double density;
};

class LangAlgorithm : public testing::TestWithParam<Case> {
 protected:
  // Every convention, and both acceptance conditions.
  template <class F>
  void each(F f) {
    const auto c = GetParam();
    for (const std::uint64_t seed : {1, 2, 3})
      for (const bool reexposed : {true, false})
        for (const bool at_bottom : {true, false}) {
          SCOPED_TRACE(
              fmt::format("seed {} reexposed {} at_bottom {}", seed, reexposed, at_bottom));
          const Pda pda = random_pda(c.states, c.symbols, c.inputs, c.density, 2, at_bottom, seed);
          f(on_string(pda, random_word(c.inputs, c.length, seed + 10), reexposed));
        }
  }
};

TEST_P(LangAlgorithm, ForwardWeightsAreSumsOverAllRuns) {
  each([](const StringAutomaton& automaton) {
    const Trace trace(std::make_shared<StringAutomaton>(automaton));
    const auto runs = testing_support::all_runs(weight_tensor(automaton),
                                                static_cast<int>(automaton.states.size()),
                                                automaton.symbols(), automaton.reexposed);
    for (int t = 0; t <= automaton.length(); ++t) {
      std::vector<double> sums(automaton.configurations());
      for (const auto& [configuration, weight] : runs[t])
        sums[configuration.first * automaton.symbols() + configuration.second.back()] += weight;
      double total = 0;
      for (const double sum : sums) total += sum;
      for (int b = 0; b < automaton.configurations(); ++b) {
        EXPECT_NEAR(std::exp(trace.chart.forward(t, b)), sums[b], 1e-12 * (1 + sums[b]));
        EXPECT_NEAR(trace.share(t, b), total > 0 ? sums[b] / total : 0, 1e-12);
      }
    }
    double accepted = 0;
    for (const auto& [configuration, weight] : runs.back())
      if (!automaton.at_bottom || configuration.second == std::vector<int>{0})
        accepted += weight * automaton.accepting[configuration.first];
    EXPECT_NEAR(std::exp(trace.chart.accepted()), accepted, 1e-12 * (1 + accepted));
  });
}

TEST_P(LangAlgorithm, InnerWeightsFollowTheRecurrenceOfThePaper) {
  each([](const StringAutomaton& automaton) {
    const int n = automaton.length(), size = automaton.configurations();
    const int symbols = automaton.symbols(), states = static_cast<int>(automaton.states.size());
    const Tensor tensor = weight_tensor(automaton);
    const auto w = tensor.accessor<double, 3>();
    // gamma[i + 1][j][a][b] of Figure 3, whether or not (i, a) can be reached.
    using Grid = std::vector<std::vector<double>>;
    std::vector<std::vector<Grid>> gamma(
        n + 2, std::vector<Grid>(n + 1, Grid(size, std::vector<double>(size))));
    if (automaton.reexposed) gamma[0][0][0][0] = 1;
    for (int j = 1; j <= n; ++j)
      for (int i = -1; i < j; ++i)
        for (int a = 0; a < size; ++a)
          for (int r = 0; r < states; ++r)
            for (int y = 0; y < symbols; ++y) {
              const int b = r * symbols + y;
              double sum = i == j - 1 ? w[j - 1][a][b] : 0;
              for (int c = 0; c < size; ++c) {
                sum += gamma[i + 1][j - 1][a][c] * w[j - 1][c][size + b];
                for (int k = i + 1; k <= j - 2; ++k)
                  for (int t = 0; t < states; ++t)
                    sum += gamma[i + 1][k][a][t * symbols + y] *
                           gamma[k + 1][j - 1][t * symbols + y][c] * w[j - 1][c][2 * size + r];
              }
              gamma[i + 1][j][a][b] = sum;
            }
    const LangChart<Log> chart(automaton);
    std::set<std::tuple<int, int, int, int>> seen;
    for (const auto& edge : chart.edges()) {
      const double wanted = gamma[edge.from_time + 1][edge.time][edge.from][edge.to];
      EXPECT_NEAR(std::exp(edge.weight), wanted, 1e-12 * (1 + wanted));
      EXPECT_TRUE(seen.insert({edge.from_time, edge.time, edge.from, edge.to}).second);
    }
    // No edge from a reachable configuration is missing.
    for (int i = -1; i <= n; ++i)
      for (int j = std::max(i + 1, 0); j <= n; ++j)
        for (int a = 0; a < size; ++a)
          for (int b = 0; b < size; ++b) {
            const bool reached = i < 0 ? a == 0 : chart.forward(i, a) > kMinusInfinity;
            if (reached && gamma[i + 1][j][a][b] > 0) {
              EXPECT_TRUE(seen.contains({i, j, a, b})) << i << ' ' << j;
            }
          }
  });
}

TEST_P(LangAlgorithm, BestRunIsTheGreatestOfAllRuns) {
  each([](const StringAutomaton& automaton) {
    for (const bool accepted : {false, true}) {
      const auto runs = all_runs(automaton, accepted, 5'000'000);
      const auto best = best_run(automaton, accepted);
      ASSERT_EQ(best.has_value(), !runs.empty());
      // The sum over the single runs equals the total of the algorithm.
      const LangChart<Log> chart(automaton);
      double total = 0, wanted = 0;
      for (const auto& run : runs) total += std::exp(run.log_weight);
      for (int b = 0; b < automaton.configurations(); ++b)
        wanted += std::exp(accepted ? chart.accepted(b) : chart.forward(automaton.length(), b));
      EXPECT_NEAR(total, wanted, 1e-11 * (1 + total));
      if (!best) continue;
      double greatest = kMinusInfinity;
      for (const auto& run : runs) greatest = std::max(greatest, run.log_weight);
      EXPECT_NEAR(best->log_weight, greatest, 1e-12);
      // It is a run and has the reported weight.
      double weight = 0;
      int configuration = 0;
      const auto stacks = stacks_of(automaton, best->moves);
      for (std::size_t t = 0; t < best->moves.size(); ++t) {
        const auto& move = best->moves[t];
        weight += move.log_weight;
        EXPECT_EQ(move.configuration, configuration);
        ASSERT_FALSE(stacks[t + 1].empty());
        configuration = move.state * automaton.symbols() + stacks[t + 1].back();
      }
      if (accepted)
        weight += log_accepting(automaton, automaton.state_of(configuration), stacks.back());
      EXPECT_NEAR(weight, best->log_weight, 1e-12);
    }
  });
}

TEST_P(LangAlgorithm, WindowsLoseTheSameRunsEverywhere) {
  each([](const StringAutomaton& whole) {
    for (int window = 1; window <= whole.length() + 1; ++window) {
      auto automaton = whole;
      automaton.window = window;
      const LangChart<Log> chart(automaton);
      const auto runs = all_runs(automaton, false, 5'000'000);
      double total = 0, wanted = 0, greatest = kMinusInfinity;
      for (const auto& run : runs) {
        total += std::exp(run.log_weight);
        greatest = std::max(greatest, run.log_weight);
      }
      for (int b = 0; b < automaton.configurations(); ++b)
        wanted += std::exp(chart.forward(automaton.length(), b));
      EXPECT_NEAR(total, wanted, 1e-11 * (1 + total)) << window;
      const auto best = best_run(automaton, false);
      ASSERT_EQ(best.has_value(), !runs.empty());
      if (best) {
        EXPECT_NEAR(best->log_weight, greatest, 1e-12);
      }
    }
  });
}

TEST_P(LangAlgorithm, SharesAreTheReadingsOfTheDifferentiableStack) {
  each([](const StringAutomaton& whole) {
    auto automaton = whole;
    // Some case uses every window.
    automaton.window = (whole.configurations() + whole.reexposed) % 5;
    const Trace trace(std::make_shared<StringAutomaton>(automaton));
    const Json options{{"kind", "nondeterministic"},
                       {"states", automaton.states.size()},
                       {"symbols", automaton.symbols()},
                       {"reading", "state_symbol"},
                       {"window", automaton.window},
                       {"bottom", automaton.reexposed ? "reexposed" : "original"}};
    const Tensor readings =
        simulate_stack(options, {{"weights", weight_tensor(automaton).unsqueeze(0)}});
    Tensor shares = at::zeros_like(readings);
    for (int t = 0; t <= automaton.length(); ++t)
      for (int b = 0; b < automaton.configurations(); ++b) shares[0][t][b] = trace.share(t, b);
    EXPECT_LT(deviation(readings, shares), 1e-12);
  });
}

INSTANTIATE_TEST_SUITE_P(Sizes, LangAlgorithm,
                         testing::Values(Case{1, 2, 1, 6, 1.0}, Case{2, 2, 1, 5, 1.0},
                                         Case{2, 2, 2, 6, 0.4}, Case{3, 2, 2, 6, 0.2},
                                         Case{2, 3, 2, 6, 0.25}, Case{1, 3, 2, 6, 0.4},
                                         Case{3, 3, 1, 7, 0.05}, Case{2, 2, 2, 0, 0.5}));

TEST(LangExample, Figure2) {
  const Pda pda(parse_pda(kReversal));
  const auto automaton = on_string(pda, pda.alphabet().parse("0 1 1 0"));
  const LangChart<Log> chart(automaton);
  std::set<std::string> edges;
  const auto node = [&](int time, int b) {
    return time < 0 ? std::string("start")
                    : fmt::format("{},{},{}", time, automaton.states[automaton.state_of(b)],
                                  automaton.stack_symbols[automaton.top_of(b)]);
  };
  for (const auto& edge : chart.edges()) {
    edges.insert(node(edge.from_time, edge.from) + " " + node(edge.time, edge.to));
    EXPECT_EQ(edge.weight, 0);
  }
  const std::set<std::string> wanted{"start 0,q1,⊥",  "0,q1,⊥ 1,q1,0", "1,q1,0 2,q1,1",
                                     "2,q1,1 3,q1,1", "0,q1,⊥ 3,q2,0", "3,q1,1 4,q1,0",
                                     "start 4,q2,⊥"};
  EXPECT_EQ(edges, wanted);
  EXPECT_EQ(chart.accepted(), 0);

  const auto best = best_run(automaton, true);
  ASSERT_TRUE(best);
  const std::vector<std::vector<int>> stacks{{0}, {0, 1}, {0, 1, 2}, {0, 1}, {0}};
  EXPECT_EQ(stacks_of(automaton, best->moves), stacks);
  EXPECT_EQ(all_runs(automaton, true, 1000).size(), 1u);
  EXPECT_EQ(all_runs(automaton, false, 1000).size(), 2u);
  EXPECT_FALSE(best_run(on_string(pda, pda.alphabet().parse("0 1 0")), true));
}

TEST(LangExample, DotNamesEveryNodeAndEdge) {
  const Pda pda(parse_pda(kReversal));
  const Trace trace(std::make_shared<StringAutomaton>(on_string(pda, pda.alphabet().parse("0 0"))));
  const auto dot = trace_dot(trace);
  for (const char* part : {"label=\"0, q1, ⊥\"", "start -> n0_0 [label=\"⊥/1\"]",
                           "label=\"2, q2, ⊥\", peripheries=2", "rank=same", "[label=\"0/1\"]"})
    EXPECT_NE(dot.find(part), std::string::npos) << part << "\n" << dot;
}

TEST(LangLength, NothingUnderflows) {
  const Pda pda(
      parse_pda("%bottom _\n%start q\n%accepting r\n%at_bottom\n"
                "q, x --a/0.001--> q, push a for all x for a in 0 1\n"
                "q, x --c/0.5--> r, replace x for all x\nr, a --a/0.001--> r, pop for a in 0 1\n"));
  constexpr int kHalf = 1500;
  Word word = random_word(2, kHalf, 5);
  for (auto& id : word) id = pda.alphabet().id(std::to_string(id));
  Word back(word.rbegin(), word.rend());
  word.push_back(pda.alphabet().id("c"));
  word.insert(word.end(), back.begin(), back.end());
  const auto automaton = on_string(pda, word);
  const LangChart<Log> chart(automaton);
  const double wanted = 2 * kHalf * std::log(0.001) + std::log(0.5);
  EXPECT_NEAR(chart.accepted(), wanted, 1e-8);
  EXPECT_LT(chart.edges().size(), 4u * kHalf);  // linear if the automaton is deterministic
  const auto best = best_run(automaton, true);
  ASSERT_TRUE(best);
  EXPECT_NEAR(best->log_weight, wanted, 1e-8);
  EXPECT_EQ(stacks_of(automaton, best->moves)[kHalf].size(), kHalf + 1u);
  EXPECT_EQ(all_runs(automaton, true, 10000).size(), 1u);
  EXPECT_THROW(all_runs(automaton, true, 100), std::invalid_argument);
  EXPECT_THROW(all_runs(automaton, true, 0), std::invalid_argument);
}

TEST(LangErrors, SymbolsOutsideTheAlphabet) {
  const Pda pda(parse_pda(kReversal));
  EXPECT_THROW(on_string(pda, {0, 2}), std::invalid_argument);
  EXPECT_THROW(on_string(pda, {-1}), std::invalid_argument);
}

}  // namespace
}  // namespace pushdown::lang_test
