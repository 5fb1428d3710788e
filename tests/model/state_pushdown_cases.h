// Neural state pushdown automata of every kind, and the common parts of their tests.
#pragma once
#include <gtest/gtest.h>

#include "model/recognizer.h"
#include "model/state_pushdown.h"
#include "support/gradients.h"

namespace pushdown::testing_support {

struct StatePushdownCase {
  std::string order = "third", reading = "top", carry = "last";
  int passes = 1;
  bool hints = false;
};

inline std::vector<StatePushdownCase> state_pushdown_cases() {
  std::vector<StatePushdownCase> all;
  for (const auto* order : {"third", "second"})
    for (const auto* reading : {"top", "action"}) {
      all.push_back({order, reading, "last", 1, false});
      all.push_back({order, reading, "last", 3, true});
      all.push_back({order, reading, "first", 4, true});
    }
  return all;
}

inline std::string name_of(const StatePushdownCase& c) {
  return c.order + "_" + c.reading + "_" + c.carry + "_" + std::to_string(c.passes);
}

// Weights that are large enough for all actions to occur, and biases.
inline std::unique_ptr<Recognizer> make_model(const StatePushdownCase& c, int seed = 1,
                                              const Json& more = {}, int states = 4,
                                              int symbols = 3) {
  Json options{{"architecture", "nspda"}, {"order", c.order},   {"reading", c.reading},
               {"carry", c.carry},        {"passes", c.passes}, {"states", states},
               {"dtype", "float64"},      {"seed", seed},       {"evaluation_passes", c.passes}};
  if (more.is_object()) options.update(more);
  std::vector<std::string> names;
  for (int i = 0; i < symbols; ++i) names.emplace_back(1, static_cast<char>('a' + i));
  auto model = std::make_unique<Recognizer>(Alphabet(names), options);
  at::NoGradGuard guard;
  Random random(static_cast<std::uint64_t>(seed));
  for (const auto& [name, tensor] : model->parameters())
    if (name.ends_with("bias"))
      for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor[i].fill_(random.uniform(-0.3, 0.3));
  if (c.hints) {
    const auto& network = dynamic_cast<const StatePushdown&>(model->network());
    Tensor mask = at::zeros_like(network.hints());
    bool* hint = mask.data_ptr<bool>();
    for (std::int64_t i = 0; i < mask.numel(); ++i) hint[i] = random.uniform() < 0.5;
    network.set_hints(mask);
  }
  return model;
}

inline const StatePushdown& network_of(const Recognizer& model) {
  return dynamic_cast<const StatePushdown&>(model.network());
}

inline std::vector<int> word_of(const Tensor& words, std::int64_t b) {
  const Tensor row = words[b].contiguous();
  const auto* first = row.data_ptr<std::int64_t>();
  return {first, first + row.numel()};
}
inline Tensor alternating_labels(std::int64_t batch) {
  return at::arange(batch, at::kDouble).remainder(2);
}

// The training loss, by autograd.
inline Tensor loss_of(const Recognizer& model, const Tensor& words, const Tensor& labels,
                      bool every_pass = true) {
  Random noise(1);
  const Recognition said = model.run(words, &noise);
  const Tensor scores = said.scores.narrow(1, 1, said.scores.size(1) - 1);
  Tensor losses = (1 + scores.exp()).log() - scores * labels.unsqueeze(1);
  if (!every_pass) return losses.select(1, losses.size(1) - 1).sum();
  if (said.weights.defined()) losses = losses * said.weights;
  return losses.sum();
}

inline ValidityLosses differentiate(const Recognizer& model, const Tensor& words,
                                    const Tensor& labels, const char* algorithm,
                                    bool every_pass = true, int seed = 1) {
  Random random(static_cast<std::uint64_t>(seed));
  PassRequest request = model.request(model.input(words), 0, &random);
  request.answers = {.labels = labels,
                     .every_step = every_pass,
                     .output_weight = model.output_weight(),
                     .output_bias = model.output_bias()};
  request.algorithm = algorithm;
  return std::get<ByKernel>(model.network().route(request)).differentiate();
}

}  // namespace pushdown::testing_support
