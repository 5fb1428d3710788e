// Trainers that can share updates.
#pragma once
#include <gtest/gtest.h>

#include "support/golden.h"
#include "train/shared_updates.h"
#include "train/toy.h"

namespace pushdown::testing_support {

struct GroupChoices {
  Json optimizer{{"kind", "adam"}};
  Json stack{{"kind", "nondeterministic"}, {"states", 2}, {"symbols", 2}};
  bool end_symbol = false;
  std::string device = "cpu";
  Json more = Json::object();  // options of the trainer
};

inline LanguageModelPtr model_of(int k, const GroupChoices& choices) {
  return std::make_shared<LanguageModel>(Alphabet({"0", "1", "#"}),
                                         Json{{"controller", {{"kind", "lstm"}, {"hidden", 5}}},
                                              {"stack", choices.stack},
                                              {"dtype", "float64"},
                                              {"end_symbol", choices.end_symbol},
                                              {"device", choices.device},
                                              {"seed", k}});
}

// Trainer k of a group: it has its own parameters, learning rate, order, strings, batch and epochs.
inline std::unique_ptr<Trainer> member(int k, const GroupChoices& choices = {}) {
  Json options{{"batch", 4 + k},
               {"epochs", 2 + k % 2},
               {"seed", 10 + k},
               {"clip_norm", k == 1 ? 0.0 : 0.3},
               {"optimizer", choices.optimizer}};
  options["optimizer"]["learning_rate"] = 0.002 * (k + 1);
  options.update(choices.more);
  return std::make_unique<Trainer>(model_of(k, choices), reversal_strings(30 + 6 * k, 1 + k),
                                   reversal_strings(20, 2), options);
}

struct TrainerGroup {
  std::vector<std::unique_ptr<Trainer>> owned;
  std::vector<Trainer*> trainers;
  explicit TrainerGroup(int count, const GroupChoices& choices = {}) {
    for (int k = 0; k < count; ++k)
      trainers.push_back(owned.emplace_back(member(k, choices)).get());
  }
};

inline void expect_same_weights(const Trainer& got, const Trainer& wanted, double bound) {
  for (std::size_t i = 0; i < wanted.model()->parameters().size(); ++i) {
    const auto& [name, tensor] = wanted.model()->parameters()[i];
    EXPECT_LT(deviation(got.model()->parameters()[i].second.detach().cpu(), tensor.detach()), bound)
        << name;
  }
}

}  // namespace pushdown::testing_support
