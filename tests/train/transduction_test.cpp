// Training of transducers: measurements, learning, resuming, and refused input.
#include "train/problems/transduction.h"

#include <gtest/gtest.h>

#include "support/message.h"
#include "task/pair_list.h"
#include "task/pair_text.h"
#include "train/evaluation/transduction_accuracy.h"
#include "train/toy.h"

namespace pushdown::transduction_test {
namespace {

using namespace testing_support;

PairSourcePtr reversal_pairs(int symbols, int shortest, int longest) {
  return make_pairs(
      {{"kind", "reversal"}, {"symbols", symbols}, {"lengths", Json::array({shortest, longest})}});
}

TransducerPtr small_transducer(const PairSource& pairs) {
  return std::make_shared<Transducer>(pairs.source_alphabet(), pairs.target_alphabet(),
                                      Json{{"controller", {{"kind", "lstm"}, {"hidden", 16}}},
                                           {"stack", {{"kind", "stratification"}, {"size", 8}}},
                                           {"embedding", 8},
                                           {"output_embedding", 8},
                                           {"seed", 2}});
}

const Json kOptions{{"batch", 10},
                    {"epoch_batches", 20},
                    {"accuracy_every", 2},
                    {"accuracy_pairs", 30},
                    {"epochs", 4},
                    {"clip_norm", 1},
                    {"optimizer", {{"kind", "rmsprop"}, {"learning_rate", 0.005}}},
                    {"seed", 5}};

std::unique_ptr<Trainer> fresh(const Json& more = Json::object()) {
  Json options = kOptions;
  options.update(more);
  const auto train = reversal_pairs(3, 1, 4), test = reversal_pairs(3, 5, 6);
  return std::make_unique<Trainer>(transduction(small_transducer(*train), train, test), options);
}

// Coarse and fine accuracy of strings that are written symbol by symbol.
TEST(Transduction, AccuracyIsThatOfWriting) {
  auto trainer = fresh({{"epochs", 15}, {"accuracy_every", 0}});
  while (trainer->finished().empty()) trainer->run_epoch();
  const auto& model = dynamic_cast<const Transducer&>(*trainer->model());
  Random random(9);
  const auto pairs = reversal_pairs(3, 1, 5)->draw(60, random);
  EvaluationOptions options{7, 2};
  const auto found = evaluate(model, pairs, options);
  ASSERT_TRUE(found);
  double exact = 0, fine = 0;
  std::vector<std::int64_t> wrong;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto& target = pairs[i].target;
    const auto written = model.translate({pairs[i].source}, 20)[0];
    std::size_t leading = 0;
    while (leading < target.size() && leading < written.target.size() &&
           target[leading] == written.target[leading])
      ++leading;
    if (leading == target.size() && written.target.size() == leading && written.ended) ++leading;
    exact += leading == target.size() + 1;
    if (leading < target.size() + 1) wrong.push_back(static_cast<std::int64_t>(i));
    fine += static_cast<double>(leading) / static_cast<double>(target.size() + 1);
  }
  EXPECT_DOUBLE_EQ(found->all.coarse(), exact / 60);
  EXPECT_NEAR(found->all.fine(), fine / 60, 1e-12);
  EXPECT_EQ(found->wrong, wrong);
  // Some are correct and some are not; otherwise the test would compare little.
  EXPECT_GT(exact, 0);
  EXPECT_LT(exact, 60);
  std::int64_t binned = 0;
  for (const auto& bin : found->bins) binned += bin.pairs;
  EXPECT_EQ(binned, 60);
}

TEST(Transduction, LossFallsAndAccuraciesAreMeasuredWhenTheyAreDue) {
  auto trainer = fresh({{"epochs", 8}});
  while (trainer->finished().empty()) trainer->run_epoch();
  const auto& history = trainer->history();
  ASSERT_EQ(history.size(), 8u);
  EXPECT_LT(history.back().train_cross_entropy, 0.8 * history.front().train_cross_entropy);
  EXPECT_NEAR(*history[0].train_perplexity, std::exp(history[0].train_cross_entropy), 1e-9);
  for (const auto& epoch : history) {
    EXPECT_EQ(epoch.coarse.has_value(), epoch.epoch % 2 == 0);
    EXPECT_EQ(epoch.train_fine.has_value(), epoch.epoch % 2 == 0);
    // The test source has no influence on training.
    EXPECT_EQ(epoch.improved, epoch.best_cross_entropy == epoch.train_cross_entropy);
  }
}

// Gradient descent with the rate 1: the step is the gradient. The targets and ends of an update
// have a known number of symbols.
TEST(Transduction, ABatchOfItsOwnIsTheMeanOverTargetSymbolsAndEnds) {
  const auto step = [](const char* average) {
    const auto pairs = reversal_pairs(3, 4, 4);
    const auto model = small_transducer(*pairs);
    const auto before = weights(*model);
    Json options = kOptions;
    options.update({{"optimizer", {{"kind", "sgd"}, {"learning_rate", 1}}},
                    {"clip_norm", 0},
                    {"average", average}});
    Trainer(transduction(model, pairs, nullptr), options).step();
    return std::pair(before, weights(*model));
  };
  const auto [start, by_pair] = step("strings");
  const auto [same_start, by_symbol] = step("batches");
  ASSERT_TRUE(same(start, same_start));
  double greatest = 0;
  for (std::size_t i = 0; i < start.size(); ++i) {
    const Tensor whole = by_pair[i] - start[i], part = by_symbol[i] - start[i];
    EXPECT_LT((whole / 5 - part).abs().max().item<double>(), 1e-6);
    greatest = std::max(greatest, whole.abs().max().item<double>());
  }
  EXPECT_GT(greatest, 0.01);
}

TEST(Transduction, SourcesOfPairsAreKeptAsText) {
  const Alphabet letters({"a", "b", "#"}), others({"x", "y"});
  const std::vector<PairSourcePtr> sources{
      reversal_pairs(5, 2, 9),
      std::make_shared<PairList>(
          letters, others, std::vector<Pair>{{{0, 1}, {0}}, {{2}, {}}, {{}, {1, 0}}}, "three")};
  for (const auto& source : sources) {
    const auto again = parse_pair_source(to_text(*source), "file");
    EXPECT_EQ(again->source_alphabet(), source->source_alphabet());
    EXPECT_EQ(again->target_alphabet(), source->target_alphabet());
    EXPECT_EQ(again->describe(), source->describe());
    Random one(4), two(4);
    EXPECT_EQ(again->draw(20, one), source->draw(20, two));
    EXPECT_EQ(to_text(*again), to_text(*source));
  }
  EXPECT_CONTAINS(message<std::invalid_argument>([] { parse_pair_source("a ||| b\n", "file"); }),
                  "file:1");
  EXPECT_CONTAINS(message<std::invalid_argument>([] {
                    parse_pair_source(
                        "# pairs {\"kind\": \"list\", \"source_alphabet\": [\"a\"], "
                        "\"target_alphabet\": [\"b\"]}\na ||| a\n",
                        "file");
                  }),
                  "file:2");
}

TEST(Transduction, RefusesOtherAlphabets) {
  const auto train = reversal_pairs(3, 1, 4), other = reversal_pairs(4, 1, 4);
  EXPECT_CONTAINS(message<std::invalid_argument>(
                      [&] { transduction(small_transducer(*train), other, nullptr); }),
                  "the sources of the data and of the model");
  EXPECT_CONTAINS(
      message<std::invalid_argument>([&] { transduction(small_transducer(*train), train, other); }),
      "the sources of the data and of the model");
}

}  // namespace
}  // namespace pushdown::transduction_test
