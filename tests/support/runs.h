// Brute force: all runs of a weighted pushdown automaton with explicit stacks. For a few steps it
// is the oracle of the nondeterministic stack.
#pragma once
#include <map>
#include <utility>
#include <vector>

#include "tensor/torch.h"

namespace pushdown::testing_support {

// (state, stack contents bottom to top) -> total weight of the runs that end there.
using Configurations = std::map<std::pair<int, std::vector<int>>, double>;

// weights : n x (Q*S) x (2*Q*S + Q), float64. With the original bottom, a replace needs two
// elements on the stack and a pop three, counting the initial bottom; with the reexposed bottom,
// one and two. Returns the configurations after 0 .. n steps.
inline std::vector<Configurations> all_runs(const Tensor& weights, int states, int symbols,
                                            bool reexposed) {
  const int size = states * symbols;
  const std::size_t replace_height = reexposed ? 1 : 2, pop_height = reexposed ? 2 : 3;
  std::vector<Configurations> after{{{{0, {0}}, 1.0}}};
  for (std::int64_t t = 0; t < weights.size(0); ++t) {
    const Tensor step = weights[t].contiguous();
    const auto* w = step.data_ptr<double>();
    Configurations next;
    for (const auto& [configuration, weight] : after.back()) {
      const auto& [state, stack] = configuration;
      const double* row = w + (state * symbols + stack.back()) * (2 * size + states);
      for (int r = 0; r < states; ++r) {
        for (int y = 0; y < symbols; ++y) {
          auto pushed = stack;
          pushed.push_back(y);
          next[{r, pushed}] += weight * row[r * symbols + y];
          if (stack.size() >= replace_height) {
            auto replaced = stack;
            replaced.back() = y;
            next[{r, replaced}] += weight * row[size + r * symbols + y];
          }
        }
        if (stack.size() >= pop_height) {
          auto popped = stack;
          popped.pop_back();
          next[{r, popped}] += weight * row[2 * size + r];
        }
      }
    }
    after.push_back(std::move(next));
  }
  return after;
}

// Total weight of each (state, top symbol), normalised: C numbers.
inline std::vector<double> top_distribution(const Configurations& configurations, int states,
                                            int symbols) {
  std::vector<double> top(states * symbols);
  double total = 0;
  for (const auto& [configuration, weight] : configurations) {
    top[configuration.first * symbols + configuration.second.back()] += weight;
    total += weight;
  }
  for (auto& value : top) value = total > 0 ? value / total : 0;
  return top;
}

}  // namespace pushdown::testing_support
