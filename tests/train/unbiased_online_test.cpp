// UORO of networks of higher order in loops over numbers, compared with tensor operations with the
// same random signs.
// label: long
#include <gtest/gtest.h>

#include "train/gradients.h"
#include "train/learning/learning_pieces.h"

namespace pushdown::unbiased_online_test {
namespace {

using namespace testing_support;

constexpr double kEpsilon = 1e-5;

Recognizer make(Json options, const Json& more, double factor) {
  options.update(more);
  Recognizer model(Alphabet({"a", "b", "c"}), options);
  // With larger weights there are more pushes and pops.
  at::NoGradGuard guard;
  for (const auto& [name, parameter] : model.parameters()) parameter.mul_(factor);
  return model;
}

StringBatch strings(std::int64_t batch, std::int64_t length, std::uint64_t seed) {
  return random_strings(batch, length, 3, seed);
}

void expect_equal(const Recognizer& model, const Json& objective, const StringBatch& batch,
                  double tolerance) {
  const auto losses = make_objective(objective);
  Random one(7), other(7);
  const auto wanted = unbiased_online_by_tensors("uoro")->gradient(model, *losses, batch, one);
  const auto gradients = taken_gradients(model.parameters());
  const Route route = route_of(model, *losses, batch, other, "uoro");
  ASSERT_TRUE(std::holds_alternative<HigherOrderNetwork>(route)) << model.options();
  const auto found = unbiased_online_fast(model, *losses, batch,
                                          std::get<HigherOrderNetwork>(route), kEpsilon, other);
  const auto got = taken_gradients(model.parameters());
  const double scale = largest(gradients);
  EXPECT_GT(scale, 1e-3);
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_LT(deviation(got[i], gradients[i]), tolerance * (1 + scale))
        << model.options() << objective << model.parameters()[i].first;
  for (std::size_t b = 0; b < wanted.losses.size(); ++b) {
    EXPECT_NEAR(found.losses.at(b), wanted.losses[b], tolerance * (1 + wanted.losses[b]));
    EXPECT_NEAR(found.scores.at(b), wanted.scores[b], tolerance * (1 + scale));
  }
  // Both have drawn the same numbers.
  EXPECT_EQ(one.next(), other.next());
}

const std::vector<Json>& refinements() {
  static const std::vector<Json> all{
      {{"passes", 1}}, {{"passes", 4}, {"carry", "first"}}, {{"passes", 4}, {"carry", "last"}}};
  return all;
}

Json second_order(const std::string& activation, const std::string& start = "first") {
  return {{"controller",
           {{"kind", "second_order"}, {"hidden", 5}, {"activation", activation}, {"start", start}}},
          {"stack", {{"kind", "none"}}},
          {"dtype", "float64"},
          {"seed", 3}};
}

TEST(UnbiasedOnlineFast, IsThatOfTensorOperationsForSecondOrderNetworks) {
  for (const char* activation : {"sigmoid", "tanh", "scaled_tanh"})
    for (const Json& refinement : refinements())
      for (const Json& objective :
           std::vector<Json>{"stepwise", "final", {{"kind", "stepwise"}, {"average", true}}}) {
        const auto model = make(second_order(activation), refinement, 1.5);
        expect_equal(model, objective, strings(4, 8, 2), 1e-10);
      }
  Json other = second_order("sigmoid", "zero");
  other["end_symbol"] = false;
  expect_equal(make(other, Json::object(), 1), "stepwise", strings(3, 1, 2), 1e-12);
  other["dtype"] = "float32";
  expect_equal(make(other, refinements()[1], 1), "stepwise", strings(3, 6, 2), 1e-5);
}

TEST(UnbiasedOnlineFast, IsThatOfTensorOperationsForAnalogPushdownNetworks) {
  double deepest = 0, refused = 0, popped = 0;
  for (const char* order : {"second", "third"})
    for (const Json& refinement : refinements())
      for (const bool bottom : {false, true})
        for (const char* underflow : {"stop", "continue"})
          for (int seed = 1; seed <= 3; ++seed) {
            Json options{{"architecture", "nnpda"},
                         {"order", order},
                         {"states", 3},
                         {"bottom_reading", bottom},
                         {"underflow", underflow},
                         {"dtype", "float64"},
                         {"seed", seed},
                         {"end_symbol", seed != 2}};
            options["output"] = seed == 3 ? "affine" : "own";
            const auto model = make(options, refinement, 2);
            const auto batch = strings(6, 10, static_cast<std::uint64_t>(seed));
            if (seed == 3)
              expect_equal(model, "stepwise", batch, 1e-9);
            else
              expect_equal(model,
                           Json{{"kind", "state_and_length"}, {"illegal_underflow", "pop_more"}},
                           batch, 1e-9);
            at::NoGradGuard guard;
            const Tensor measures = model.run(batch.words).hiddens.narrow(2, 3, 2);
            const Tensor length = measures.select(2, 0);
            deepest = std::max(deepest, length.max().item<double>());
            refused = std::max(refused, measures.select(2, 1).max().item<double>());
            popped = std::max(popped, (-length.diff(1, 1)).max().item<double>());
          }
  // The strings cover all cases: full windows, pops, and refused pops.
  EXPECT_GT(deepest, 2);
  EXPECT_GT(popped, 0.1);
  EXPECT_GT(refused, 0.1);
}

TEST(UnbiasedOnlineFast, IsNotForOtherNetworks) {
  Json two_layers = second_order("tanh"), noisy = second_order("tanh"),
       learned = second_order("tanh"), moving = second_order("tanh"),
       stepwise = second_order("tanh");
  two_layers["controller"]["layers"] = 2;
  noisy["noise"] = 0.1;
  learned["initial_state"] = "learned";
  moving.update({{"passes", 2}, {"memory_in_passes", "moves"}});
  stepwise["kernels"] = false;
  const auto fast = [](const Recognizer& model) {
    Random random(1);
    return std::holds_alternative<HigherOrderNetwork>(
        route_of(model, *make_objective("stepwise"), strings(2, 3, 1), random, "uoro"));
  };
  for (const Json& options : std::vector<Json>{
           two_layers,
           noisy,
           learned,
           moving,
           stepwise,
           {{"controller", {{"kind", "elman"}}}},
           {{"controller", {{"kind", "second_order"}}}, {"stack", {{"kind", "superposition"}}}},
           {{"architecture", "nspda"}},
           {{"architecture", "nnpda"}, {"order", "full"}},
           {{"architecture", "nnpda"}, {"stack_derivative", "top_and_bottom"}}})
    EXPECT_FALSE(fast(make(options, Json::object(), 1))) << options;
  const auto frozen = make(second_order("tanh"), Json::object(), 1);
  EXPECT_TRUE(fast(frozen));
  frozen.network().parameters()[1].second.requires_grad_(false);
  EXPECT_FALSE(fast(frozen));
}

}  // namespace
}  // namespace pushdown::unbiased_online_test
