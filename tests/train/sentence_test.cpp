#include <gtest/gtest.h>

#include "support/message.h"
#include "train/problems/sentence_modelling.h"
#include "train/problems/text_reader.h"
#include "train/toy.h"

namespace pushdown::sentence_test {
namespace {

using namespace testing_support;

TokenFilePtr sentences(const Path& path, int count, std::uint64_t seed,
                       const std::vector<std::string>& words = {"<unk>", "a", "b", "c"}) {
  Random random(seed, "toy sentences");
  TokenFileWriter writer(path, Alphabet(words));
  for (int i = 0; i < count; ++i) {
    Word word(random.below(5));
    for (auto& id : word) id = 1 + static_cast<int>(random.below(3));
    writer.add(word);
  }
  writer.commit(Json::object());
  return std::make_shared<TokenFile>(path);
}

LanguageModelPtr model_of(const TokenFilePtr& file, const Json& more = Json::object()) {
  Json options{{"controller", {{"kind", "lstm"}, {"hidden", 4}}},
               {"stack", {{"kind", "stratification"}, {"size", 2}}},
               {"embedding", 3},
               {"end_symbol", true},
               {"dtype", "float64"},
               {"seed", 3}};
  options.update(more);
  return std::make_shared<LanguageModel>(file->alphabet(), options);
}

TEST(SentenceModelling, PerplexityCountsTheEndsOfSentences) {
  const Scratch scratch;
  const auto file = sentences(scratch / "a.tokens", 30, 1);
  const auto model = model_of(file);
  double sum = 0;
  std::int64_t words = 0;
  for (std::int64_t i = 0; i < file->size(); ++i) {
    // One by one, word by word.
    const auto sentence = file->sentence(i);
    ReadingState state = model->begin(1);
    for (std::size_t t = 0; t <= sentence.size(); ++t, ++words) {
      const auto next = model->next(state);
      const int outcome = t < sentence.size() ? sentence[t] : 4;
      sum -= next.first.log_softmax(1)[0][outcome].item<double>();
      if (t < sentence.size())
        state = model->read(at::full({1, 1}, outcome, at::kLong), next.second).second;
    }
  }
  for (const std::int64_t batch : {1, 7, 100}) {
    EvaluationOptions options;
    options.batch = batch;
    const auto found = evaluate(*model, *file, options);
    EXPECT_EQ(found->words, words);
    EXPECT_EQ(found->words, file->word_count() + file->size());
    EXPECT_NEAR(found->cross_entropy, sum / static_cast<double>(words), 1e-12);
    EXPECT_NEAR(found->perplexity, std::exp(sum / static_cast<double>(words)), 1e-10);
  }
}

TEST(SentenceModelling, OutcomeLogitsAreThoseOfTheWholeSoftmax) {
  const Scratch scratch;
  const auto model = model_of(sentences(scratch / "a.tokens", 5, 1));
  const Tensor words = at::tensor({1, 2, 3, 3, 1, 1}, at::kLong).view({2, 3});
  const Tensor outcomes = at::tensor({0, 4, 2, 3}, at::kLong).view({2, 2});
  const Tensor whole = model->logits(words).select(1, 3).gather(1, outcomes);
  EXPECT_TRUE(at::allclose(model->outcome_logits(words, outcomes), whole, 0, 1e-12));
  EXPECT_CONTAINS(
      message<std::invalid_argument>([&] { model->outcome_logits(words, outcomes + 1); }),
      "outcomes are 0 to 4");
}

TEST(SentenceModelling, LearnsAndKnowsItsFiles) {
  const Scratch scratch;
  const auto train = sentences(scratch / "train.tokens", 60, 1),
             valid = sentences(scratch / "valid.tokens", 20, 2);
  const auto fresh = [&] {
    return std::make_unique<Trainer>(
        sentence_modelling(model_of(train), train, valid),
        Json{{"batch", 8}, {"epochs", 4}, {"optimizer", {{"learning_rate", 0.02}}}});
  };
  auto whole = fresh();
  while (whole->finished().empty()) whole->run_epoch();
  EXPECT_LT(whole->history().back().train_cross_entropy,
            whole->history().front().train_cross_entropy - 0.05);
  EXPECT_NEAR(*whole->history().back().perplexity, std::exp(*whole->history().back().cross_entropy),
              1e-9);
  // The run's record of a file that has been replaced.
  const auto folder = scratch / "gone";
  fresh()->save(folder);
  sentences(scratch / "train.tokens", 60, 5);
  EXPECT_CONTAINS(message<std::runtime_error>([&] { resume_trainer(folder); }),
                  "has changed since");
}

TEST(SentenceModelling, MismatchedInputIsRefused) {
  const Scratch scratch;
  const auto file = sentences(scratch / "a.tokens", 5, 1),
             other = sentences(scratch / "b.tokens", 5, 1, {"<unk>", "a", "b", "d"});
  const auto refusal = [](auto action) { return message<std::invalid_argument>(action); };
  EXPECT_CONTAINS(refusal([&] { sentence_modelling(model_of(file), other, nullptr); }),
                  "word 4 is 'd' in the text and 'c' in the model");
  EXPECT_CONTAINS(refusal([&] { sentence_modelling(model_of(file), file, other); }), "'d'");
  EXPECT_CONTAINS(refusal([&] {
                    sentence_modelling(model_of(file, {{"end_symbol", false}}), file, nullptr);
                  }),
                  "end_symbol = true");
  EXPECT_CONTAINS(refusal([&] { evaluate(*model_of(other), *file, {}); }), "'c'");
}

}  // namespace
}  // namespace pushdown::sentence_test
