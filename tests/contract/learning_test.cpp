// The learning algorithms that are exact, on every recognizer whose state is a list of tensors,
// and with every objective.
// label: long
#include <gtest/gtest.h>

#include "base/parallel.h"
#include "cases.h"
#include "support/golden.h"
#include "support/gradients.h"
#include "train/kinds.h"
#include "train/learning/learning.h"

namespace pushdown::learning_contract_test {
namespace {

using namespace testing_support;

Recognizer make(Json options, const Json& more) {
  options["dtype"] = "float64";
  options["seed"] = 7;
  options.update(more);
  Recognizer model(Alphabet({"a", "b", "c"}), options);
  // With larger weights, more gradient flows from step to step.
  const at::NoGradGuard guard;
  for (const auto& [name, tensor] : model.parameters()) tensor.mul_(2);
  return model;
}

Json with_kernels(Json options, bool kernels) {
  options["kernels"] = kernels;
  return options;
}

// An objective that a network's own kernels do not know.
class OutsideObjective : public Objective {
 public:
  Tensor losses(const ObjectiveBatch& batch) const override {
    return make_objective("stepwise")->losses(batch);
  }
};

struct Learned {
  std::vector<Tensor> gradients;
  ValidityLosses values;
};
Learned learned(const Recognizer& model, const Json& learning, const Json& objective,
                const Tensor& words, const Tensor& viable = {}) {
  Random random(1);
  Learned found;
  const OutsideObjective outside;
  const auto known = objective == "outside" ? nullptr : make_objective(objective);
  found.values = make_learning(learning)->gradient(
      model, known == nullptr ? outside : *known,
      {words, at::arange(words.size(0), at::kDouble).remainder(2), viable}, random);
  found.gradients = taken_gradients(model.parameters());
  return found;
}

void expect_same(const Recognizer& model, const Learned& got, const Learned& wanted,
                 const std::string& where) {
  for (std::size_t i = 0; i < wanted.gradients.size(); ++i)
    EXPECT_LT(deviation(got.gradients[i], wanted.gradients[i]), 1e-9)
        << where << ", " << model.parameters()[i].first;
  for (std::size_t b = 0; b < wanted.values.losses.size(); ++b) {
    EXPECT_NEAR(got.values.losses.at(b), wanted.values.losses[b], 1e-10) << where;
    const double score = got.values.scores.at(b), wanted_score = wanted.values.scores[b];
    // The scores of strings that stop early are not numbers.
    EXPECT_EQ(std::isnan(score), std::isnan(wanted_score)) << where;
    if (!std::isnan(wanted_score)) {
      EXPECT_NEAR(score, wanted_score, 1e-10) << where;
    }
  }
}

// Definitions, whose states are lists of tensors.
std::vector<Json> cases() {
  std::vector<Json> all;
  for (Json options : recognizer_cases()) {
    // Algorithms that go forward in time draw other numbers.
    if (options.contains("noise") || options.contains("dropout")) continue;
    if (options.contains("stack") &&
        options["stack"]["kind"].get<std::string>().ends_with("nondeterministic")) {
      // The definition is slow: one small stack of a kind.
      if (options["stack"].size() > 1) continue;
      options["stack"].update({{"fast", false}, {"states", 1}});
      if (options["stack"]["kind"] != "nondeterministic") options["stack"]["size"] = 2;
    }
    if (options.value("architecture", "") != "transformer" && options.value("output", "") != "own")
      all.push_back(std::move(options));
  }
  return all;
}

class ExactLearning : public testing::TestWithParam<Json> {};

TEST_P(ExactLearning, IsBackpropagation) {
  for (const auto& [objective, more, length] :
       {std::tuple{"stepwise", Json::object(), 4},
        {"final", Json{{"passes", 2}, {"end_symbol", false}}, 3},
        {"stepwise", Json{{"passes", 2}, {"carry", "first"}}, 3}}) {
    const auto model = make(GetParam(), more);
    const Tensor words = random_words(2, length);
    const auto wanted = learned(model, "bptt", objective, words);
    // With its end symbol, a string of four symbols has five. A first state that depends on the
    // parameters is estimated by uoro.
    std::vector<Json> all{"rtrl", {{"kind", "tbptt"}, {"window", 5}}};
    const auto first = model.network().initial(1, 1)->tensors();
    if (std::none_of(first.begin(), first.end(),
                     [](const Tensor& tensor) { return tensor.requires_grad(); }))
      all.push_back({{"kind", "uoro"}, {"truncation", 5}});
    for (const Json& exact : all)
      for (const char* asked : {objective, "outside"})
        if (asked == objective || objective == std::string("stepwise"))
          expect_same(model, learned(model, exact, asked, words), wanted, exact.dump());
    // Losses and scores are exact for every gradient.
    for (const Json& other : {Json("uoro"), Json{{"kind", "tbptt"}, {"window", 2}}}) {
      auto got = learned(model, other, objective, words);
      for (const Tensor& gradient : got.gradients)
        EXPECT_TRUE(gradient.isfinite().all().item<bool>()) << other;
      got.gradients = wanted.gradients;
      expect_same(model, got, wanted, other.dump());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, ExactLearning, testing::ValuesIn(cases()));

// Every objective with the networks that it can train, and every option of a recognizer.
class ObjectiveLearning : public testing::TestWithParam<Json> {};

TEST_P(ObjectiveLearning, IsBackpropagation) {
  const bool lengths = GetParam()["kind"] == "state_and_length";
  for (const bool end : {true, false})
    for (const std::int64_t passes : {1, 2})
      for (const char* decision : {"last", "mean", "every"}) {
        Json options = small_network("elman", "superposition");
        // All orders of such automata.
        if (lengths)
          options = {{"architecture", "nnpda"},
                     {"states", 2},
                     {"order", decision[0] == 'l'   ? "third"
                               : decision[0] == 'm' ? "second"
                                                    : "full"},
                     {"stack_derivative", end ? "exact" : "top_and_bottom"},
                     {"output", "own"}};
        const Json more{{"end_symbol", end},
                        {"passes", passes},
                        {"evaluation_passes", passes},
                        {"decision", lengths ? "last" : decision},
                        {"next_symbol", !lengths}};
        const auto model = make(options, more);
        const Tensor words = random_words(3, 4), viable = at::full({3}, 3, at::kLong);
        const auto wanted = learned(model, "bptt", GetParam(), words, viable);
        for (const Json& exact : {Json("rtrl"), Json{{"kind", "tbptt"}, {"window", 5}},
                                  Json{{"kind", "uoro"}, {"truncation", 5}}})
          expect_same(model, learned(model, exact, GetParam(), words, viable), wanted,
                      exact.dump());
        if (!lengths) {
          const auto definition = make(with_kernels(options, false), more);
          for (const Json& learning : {Json("bptt"), Json{{"kind", "tbptt"}, {"window", 3}}})
            expect_same(model, learned(model, learning, GetParam(), words),
                        learned(definition, learning, GetParam(), words), "definition");
        }
        // No symbol at the borders of pieces is missed or counted twice.
        for (const int window : {1, 2, 3}) {
          auto got = learned(model, Json{{"kind", "tbptt"}, {"window", window}}, GetParam(), words,
                             viable);
          got.gradients = wanted.gradients;
          expect_same(model, got, wanted, std::to_string(window));
        }
        // The model decides by the value that is compared with the threshold.
        if (passes == 1 && !lengths) {
          const at::NoGradGuard guard;
          const Tensor decided = model.decisions(words);
          for (std::int64_t b = 0; b < 3; ++b)
            EXPECT_TRUE(std::abs(wanted.values.scores[b] - decided[b].item<double>()) < 1e-12 ||
                        (decision[0] == 'e' && std::isnan(decided[b].item<double>())));
        }
        if (lengths) continue;
        const Tensor none = random_words(2, 0);
        for (const char* kind : {"rtrl", "uoro", "tbptt"})
          expect_same(model, learned(model, kind, GetParam(), none),
                      learned(model, "bptt", GetParam(), none), kind);
      }
}

INSTANTIATE_TEST_SUITE_P(Registry, ObjectiveLearning,
                         testing::ValuesIn(registry_variants(objective_kinds())));

// Every learning algorithm with every value of its options.
class LearningKinds : public testing::TestWithParam<Json> {};

TEST_P(LearningKinds, AddToTheGradientsOfTrainedParameters) {
  // Networks of higher order have a faster way.
  for (const char* stack : {"superposition", "none"}) {
    const auto model = make(small_network("second_order", stack), {{"passes", 2}});
    const Tensor words = random_words(5, 4);
    const auto once = learned(model, GetParam(), "stepwise", words);
    set_thread_count(3);
    const auto again = learned(model, GetParam(), "stepwise", words);
    set_thread_count(1);
    EXPECT_EQ(again.values.losses, once.values.losses);
    for (std::size_t i = 0; i < once.gradients.size(); ++i) {
      EXPECT_TRUE(again.gradients[i].equal(once.gradients[i])) << i;
      model.parameters()[i].second.mutable_grad() = once.gradients[i].clone();
    }
    const auto twice = learned(model, GetParam(), "stepwise", words);
    for (std::size_t i = 0; i < once.gradients.size(); ++i)
      EXPECT_LT(deviation(twice.gradients[i], 2 * once.gradients[i]), 1e-9) << i;
    model.parameters()[1].second.requires_grad_(false);
    Random random(1);
    make_learning(GetParam())
        ->gradient(model, *make_objective("stepwise"), {words, at::ones({5}, at::kDouble), {}},
                   random);
    EXPECT_FALSE(model.parameters()[1].second.grad().defined());
    EXPECT_TRUE(model.parameters()[0].second.grad().defined());
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, LearningKinds,
                         testing::ValuesIn(registry_variants(learning_kinds())));

}  // namespace
}  // namespace pushdown::learning_contract_test
