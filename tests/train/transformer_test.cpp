// A transformer in all uses of a language model: trained, stored, resumed.
#include <gtest/gtest.h>

#include "toy.h"

namespace pushdown::transformer_test {
namespace {

using namespace testing_support;

LanguageModelPtr transformer(double dropout, const char* positions = "sinusoidal") {
  return std::make_shared<LanguageModel>(
      Alphabet({"0", "1", "#"}),
      Json{{"architecture", "transformer"},
           {"layers", {"attention", "superposition", "nondeterministic"}},
           {"hidden", 16},
           {"heads", 2},
           {"feedforward", 16},
           {"dropout", dropout},
           {"positions", positions},
           {"end_symbol", true},
           {"seed", 5}});
}

std::unique_ptr<Trainer> trainer(const LanguageModelPtr& model, int epochs, int chunk = 0) {
  return std::make_unique<Trainer>(
      model, reversal_strings(60, 1, 4), reversal_strings(20, 2, 4),
      Json{{"epochs", epochs},
           {"chunk", chunk},
           {"seed", 4},
           {"optimizer", {{"kind", "adam"}, {"learning_rate", 0.005}}}});
}

TEST(TransformerTraining, LowersTheLoss) {
  const auto model = transformer(0.05);
  const auto training = trainer(model, 12);
  while (training->finished().empty()) training->run_epoch();
  EXPECT_LT(training->history().back().train_cross_entropy,
            0.75 * training->history().front().train_cross_entropy);
  EXPECT_LT(*training->history().back().cross_entropy,
            0.75 * *training->history().front().cross_entropy);
}

void stop_and_continue(int chunk, const char* positions) {
  const Scratch folder;
  const auto whole = transformer(0.2, positions);
  const auto uninterrupted = trainer(whole, 3, chunk);
  while (uninterrupted->finished().empty()) uninterrupted->run_epoch();
  const auto stopped = trainer(transformer(0.2, positions), 3, chunk);
  for (int i = 0; i < 7; ++i) stopped->step();
  stopped->save(folder / "run");
  const auto resumed = resume_trainer(folder / "run");
  while (resumed->finished().empty()) resumed->run_epoch();
  EXPECT_TRUE(same(weights(*whole), weights(*resumed->model())));
  EXPECT_EQ(timeless(uninterrupted->history()), timeless(resumed->history()));

  resumed->save(folder / "done");
  const auto loaded = load_model(folder / "done", "last");
  EXPECT_TRUE(same(weights(*whole), weights(*loaded)));
  EXPECT_EQ(loaded->options(), whole->options());
  const auto data = reversal_strings(5, 6);
  EXPECT_EQ(evaluate(dynamic_cast<const LanguageModel&>(*loaded), *data, {})->all.cross_entropy,
            evaluate(*whole, *data, {})->all.cross_entropy);
}

TEST(TransformerTraining, ContinuesBitForBitAfterAStop) {
  for (const int chunk : {0, 3}) stop_and_continue(chunk, "sinusoidal");
  for (const char* positions : {"relative", "randomized"}) stop_and_continue(0, positions);
  stop_and_continue(3, "randomized");
}

TEST(StoredModels, DescriptionsWithoutArchitectureAreRecurrent) {
  Json description = describe_model(*small_model());
  description["options"].erase("architecture");
  EXPECT_EQ(model_from_description(description)->options()["architecture"], "recurrent");
}

}  // namespace
}  // namespace pushdown::transformer_test
