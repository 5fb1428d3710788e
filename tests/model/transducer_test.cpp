// Transducers: their inputs and predictions, and that writing symbol by symbol gives the most
// likely symbols of one pass.
#include "model/transducer.h"

#include <gtest/gtest.h>

#include "support/gradient.h"
#include "support/message.h"

namespace pushdown::transducer_test {
namespace {

using namespace testing_support;

Transducer small(const Json& more = Json::object()) {
  Json options{{"controller", {{"kind", "lstm"}, {"hidden", 6}}},
               {"stack", {{"kind", "stratification"}, {"size", 3}}},
               {"embedding", 4},
               {"output_embedding", 5},
               {"dtype", "float64"},
               {"seed", 3}};
  options.update(more);
  return Transducer(Alphabet({"a", "b", "c"}), Alphabet({"x", "a"}), options);
}

const std::vector<Word> kSources{{0, 1, 2}, {}, {2, 2, 1, 0, 0}};
const std::vector<Word> kTargets{{1}, {0, 0, 1, 1}, {}};

TEST(Transducer, ReadsTheJointSequenceAndPredictsTargetAndEnd) {
  const auto model = small();
  const auto joint = model.joint(kSources, kTargets);
  // Source ids 0 to 2, start 3, separator 4, target ids 5 and 6; the separator is also the padding.
  // The longest joint sequence is that of the third pair.
  const std::vector<std::int64_t> inputs{3, 2, 2, 1, 0, 0, 4,  //
                                         3, 0, 1, 2, 4, 6, 4,  //
                                         3, 4, 5, 5, 6, 6, 4};
  EXPECT_TRUE(at::equal(joint.inputs, at::tensor(inputs, at::kLong).view({3, 7})));
  EXPECT_EQ(joint.lengths, (std::vector<std::int64_t>{7, 6, 6}));
  EXPECT_TRUE(at::equal(joint.targets, at::tensor({1, 2, 0, 0, 1, 1, 2, 2}, at::kLong)));
  EXPECT_TRUE(at::equal(joint.places, at::tensor({13, 14, 18, 19, 20, 21, 22, 7}, at::kLong)));
  EXPECT_EQ(joint.predictions, (std::vector<std::int64_t>{2, 5, 1}));
}

// All targets of at most n symbols and the prefixes of longer ones share the whole probability.
TEST(Transducer, ProbabilitiesOfTargetsSumToOne) {
  const auto model = small();
  at::NoGradGuard guard;
  const Word source{1, 0};
  constexpr int kLongest = 4;
  double sum = 0;
  std::vector<Word> targets{{}};
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Word target = targets[i];
    const auto losses = model.losses(model.joint({source}, {target}));
    const bool longest = target.size() == kLongest;
    // The longest ones with any continuation.
    const auto counted = longest ? losses.narrow(0, 0, kLongest) : losses;
    sum += std::exp(-counted.sum().item<double>());
    for (int id = 0; id < 2 && !longest; ++id) {
      targets.push_back(target);
      targets.back().push_back(id);
    }
  }
  EXPECT_NEAR(sum, 1, 1e-9);
}

TEST(Transducer, GradientsAreThoseOfDifferences) {
  for (const int interface : {0, 5}) {
    const auto model = small({{"output_embedding", interface}});
    std::vector<Tensor> leaves;
    for (const auto& [name, parameter] : model.parameters()) leaves.push_back(parameter);
    const auto joint = model.joint(kSources, kTargets);
    EXPECT_LT(gradient_error(leaves, [&] { return model.losses(joint).sum(); }), 1e-6);
  }
}

// Up to its end or the limit, each symbol is the most likely one after those before it.
TEST(Transducer, WritesTheLikeliestSymbols) {
  bool some_ended = false, some_not = false;
  for (std::int64_t seed = 0; seed < 12; ++seed) {
    const auto model = small({{"seed", seed}});
    at::NoGradGuard guard;
    for (const auto& [name, parameter] : model.parameters()) parameter.mul_(3);
    constexpr std::int64_t kLongest = 6;
    const auto written = model.translate(kSources, kLongest);
    ASSERT_EQ(written.size(), kSources.size());
    for (std::size_t i = 0; i < kSources.size(); ++i) {
      const auto& [target, ended] = written[i];
      const Tensor best = model.logits(model.joint({kSources[i]}, {target})).argmax(1);
      for (std::size_t t = 0; t < target.size(); ++t)
        EXPECT_EQ(best[static_cast<std::int64_t>(t)].item<std::int64_t>(), target[t]);
      const bool ends = best[-1].item<std::int64_t>() == model.end_outcome();
      EXPECT_EQ(ends, ended);
      if (!ended) {
        EXPECT_EQ(static_cast<std::int64_t>(target.size()), kLongest);
      }
      (ended ? some_ended : some_not) = true;
      // The result is the same alone and in a batch.
      EXPECT_EQ(model.translate({kSources[i]}, kLongest)[0].target, target);
    }
  }
  EXPECT_TRUE(some_ended);
  EXPECT_TRUE(some_not);
}

// The parameters of the paper's Table 2 (hidden 512: 1.9e6 for stack and queue, all but the
// embeddings of the symbols).
// One symbol after each symbol of the source, without separator, end and target in the input.
TEST(Transducer, WritesAlongWithTheSource) {
  const auto model = small({{"alignment", "along"}, {"output_embedding", 0}});
  const std::vector<Word> sources{{0, 1, 2}, {}, {2, 2, 1, 0, 0}},
      targets{{1, 0, 1}, {}, {0, 0, 1, 1, 0}};
  const auto joint = model.joint(sources, targets);
  const std::vector<std::int64_t> inputs{3, 2, 2, 1, 0, 0,  //
                                         3, 0, 1, 2, 3, 3,  //
                                         3, 3, 3, 3, 3, 3};
  EXPECT_TRUE(at::equal(joint.inputs, at::tensor(inputs, at::kLong).view({3, 6})));
  EXPECT_EQ(joint.lengths, (std::vector<std::int64_t>{6, 4, 1}));
  EXPECT_TRUE(at::equal(joint.targets, at::tensor({1, 0, 1, 0, 0, 1, 1, 0}, at::kLong)));
  EXPECT_TRUE(at::equal(joint.places, at::tensor({9, 10, 11, 2, 3, 4, 5, 6}, at::kLong)));
  EXPECT_EQ(joint.predictions, (std::vector<std::int64_t>{3, 0, 5}));
  at::NoGradGuard guard;
  const Tensor logits = model.logits(joint);
  EXPECT_EQ(logits.sizes(), (std::vector<std::int64_t>{8, 2}));
  // A prediction depends on the source up to its symbol, and on no target.
  const Tensor other = model.logits(model.joint({{0, 1, 0}}, {{0, 0, 0}}));
  EXPECT_TRUE(at::allclose(other.narrow(0, 0, 2), logits.narrow(0, 0, 2), 1e-9, 1e-12));
  EXPECT_FALSE(at::allclose(other[2], logits[2]));
  const auto written = model.translate(sources, 10);
  const Tensor best = logits.argmax(1);
  for (std::size_t b = 0, place = 0; b < sources.size(); ++b) {
    EXPECT_TRUE(written[b].ended);
    ASSERT_EQ(written[b].target.size(), sources[b].size());
    for (const int symbol : written[b].target)
      EXPECT_EQ(symbol, best[place++].item<std::int64_t>());
  }
  const auto cut = model.translate(sources, 4);
  EXPECT_TRUE(cut[0].ended);
  EXPECT_FALSE(cut[2].ended);
  EXPECT_EQ(cut[2].target, Word(written[2].target.begin(), written[2].target.end() - 1));
  EXPECT_THROW(model.joint({{0, 1}}, {{0}}), std::invalid_argument);
}

TEST(Transducer, HasThePapersNumberOfParameters) {
  const Transducer model(Alphabet({"a"}), Alphabet({"b"}),
                         Json{{"controller", {{"kind", "lstm"}, {"hidden", 512}}},
                              {"stack", {{"kind", "stratification"}, {"size", 256}}},
                              {"embedding", 64}});
  std::int64_t count = 0;
  for (const auto& [name, parameter] : model.parameters())
    if (!name.starts_with("embedding") && !name.starts_with("output")) count += parameter.numel();
  EXPECT_NEAR(static_cast<double>(count), 1.9e6, 0.05e6);
}

TEST(Transducer, RefusesInvalidInput) {
  const auto model = small();
  EXPECT_CONTAINS(message([&] { model.joint({}, {}); }), "at least 1");
  EXPECT_CONTAINS(message([&] { model.joint({{0}}, {{2}}); }), "target symbol ids must be 0 to 1");
  EXPECT_CONTAINS(message([&] { model.translate({{3}}, 5); }), "source symbol ids");
  EXPECT_CONTAINS(message([&] { small({{"output_embeding", 3}}); }), "output_embedding");
}

}  // namespace
}  // namespace pushdown::transducer_test
