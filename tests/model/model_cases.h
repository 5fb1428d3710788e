// Language models with every kind of stack, and their gradients.
#pragma once
#include <gtest/gtest.h>

#include "model/language_model.h"
#include "support/gradients.h"

namespace pushdown::testing_support {

struct ModelCase {
  Json controller, stack;
};
inline void PrintTo(const ModelCase& given, std::ostream* out) {
  *out << given.controller << ' ' << given.stack;
}

inline Json automaton_options(int states, int symbols, const char* reading, const char* bottom,
                              bool normalized) {
  return {{"kind", "nondeterministic"}, {"states", states}, {"symbols", symbols},
          {"reading", reading},         {"bottom", bottom}, {"normalized", normalized}};
}

inline std::vector<ModelCase> model_cases() {
  const std::vector<Json> controllers{
      {{"kind", "elman"}, {"hidden", 5}, {"activation", "sigmoid"}, {"layers", 2}},
      {{"kind", "lstm"}, {"hidden", 20}},
      {{"kind", "gru"}, {"hidden", 7}, {"layers", 3}}};
  const std::vector<Json> stacks{{{"kind", "none"}},
                                 {{"kind", "superposition"}, {"size", 4}},
                                 {{"kind", "stratification"}, {"size", 3}, {"memories", 2}},
                                 {{"kind", "stratification_queue"}, {"size", 17}},
                                 {{"kind", "stratification_deque"},
                                  {"size", 2},
                                  {"push", "expectation"},
                                  {"pop", "fixed"},
                                  {"read", "expectation"},
                                  {"max_strength", 2}},
                                 automaton_options(2, 2, "symbol", "original", true),
                                 automaton_options(2, 3, "state_symbol", "reexposed", false),
                                 {{"kind", "vector_nondeterministic"}, {"size", 3}},
                                 {{"kind", "vector_nondeterministic"},
                                  {"states", 3},
                                  {"symbols", 1},
                                  {"size", 2},
                                  {"normalized", true},
                                  {"bottom", "original"},
                                  {"bottom_vector", "one"}}};
  std::vector<ModelCase> all;
  for (const auto& controller : controllers)
    for (const auto& stack : stacks) all.push_back({controller, stack});
  return all;
}

inline LanguageModel make_model(const ModelCase& given, const std::string& dtype,
                                bool kernels = true, int seed = 3, bool end_symbol = false,
                                const std::string& device = "cpu") {
  return LanguageModel(Alphabet({"a", "b", "c"}), Json{{"controller", given.controller},
                                                       {"stack", given.stack},
                                                       {"dtype", dtype},
                                                       {"kernels", kernels},
                                                       {"end_symbol", end_symbol},
                                                       {"device", device},
                                                       {"seed", seed}});
}

inline std::vector<Tensor> gradients_of(const LanguageModel& model) {
  std::vector<Tensor> list;
  for (const auto& [name, tensor] : model.parameters())
    list.push_back(tensor.grad().defined() ? tensor.grad().cpu().clone()
                                           : at::zeros_like(tensor).cpu());
  return list;
}

inline void expect_gradients(const LanguageModel& model, const std::vector<Tensor>& wanted,
                             double bound, const std::string& what) {
  const auto got = gradients_of(model);
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_LT(deviation(got[i], wanted[i]), bound) << model.parameters()[i].first << ", " << what;
}

}  // namespace pushdown::testing_support
