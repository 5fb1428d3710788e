#include <gtest/gtest.h>

#include "support/message.h"
#include "task/corpus.h"
#include "train/problems/text_modelling.h"
#include "train/problems/text_reader.h"
#include "train/toy.h"

namespace pushdown::text_test {
namespace {

using namespace testing_support;

const Alphabet& vocabulary() {
  static const Alphabet words({"<unk>", "<eos>", "a", "b", "c"});
  return words;
}

RunningTextPtr text(int size, std::uint64_t seed) {
  Random random(seed, "toy text");
  Word words;
  for (int i = 0; i < size; ++i)
    words.push_back(i % 5 == 4 ? 1 : 2 + static_cast<int>(random.below(3)));
  return std::make_shared<RunningText>(vocabulary(), words);
}

const Json kLstm{{"controller", {{"kind", "lstm"}, {"hidden", 4}}}};
const Json kDiffStk{
    {"controller", {{"kind", "mrnn"}, {"hidden", 4}, {"activation", "scaled_tanh"}}},
    {"stack",
     {{"kind", "parallel_superposition"},
      {"stacks", 1},
      {"read_depth", 3},
      {"no_op", true},
      {"bias", true}}},
    {"coupling", "state"},
    {"noise", 0.1},
    {"carry_forward", "counter"}};
const Json kTape{{"controller", {{"kind", "elman"}, {"hidden", 4}}},
                 {"stack", {{"kind", "baby_ntm"}, {"size", 2}, {"cells", 6}}},
                 {"coupling", "state"}};
const Json kSuperposition{
    {"controller", {{"kind", "gru"}, {"hidden", 4}}},
    {"stack", {{"kind", "superposition"}, {"size", 2}, {"no_op", false}, {"depth", 4}}}};

LanguageModelPtr word_model(Json options, const std::string& dtype = "float64") {
  options.update(Json{{"embedding", 3}, {"end_symbol", false}, {"dtype", dtype}, {"seed", 5}});
  return std::make_shared<LanguageModel>(vocabulary(), options);
}

// The loss of every word of a text with one stream, from one long read.
Tensor losses_at_once(const LanguageModel& model, const RunningTextPtr& text) {
  at::NoGradGuard no_grad;
  const Word& words = text->words();
  const Tensor ids =
      at::tensor(std::vector<std::int64_t>(words.begin(), words.end()), at::kLong).unsqueeze(0);
  const Tensor scores = model.logits(ids).log_softmax(2);
  return scores.gather(2, ids.unsqueeze(2)).neg().flatten();
}

TEST(TextReader, PiecesWithCarriedStateAreOneLongRead) {
  at::NoGradGuard no_grad;
  const auto words = text(23, 1);
  for (const Json& options : {kLstm, kDiffStk, kTape, kSuperposition}) {
    const auto model = word_model(options);
    const Tensor whole = losses_at_once(*model, words);
    for (const std::int64_t chunk : {1, 4, 7, 23, 100}) {
      const TextReader reader("test", *model, words, 1, chunk, 0);
      ReadingState state = reader.begin();
      std::vector<Tensor> pieces;
      for (std::int64_t p = 0; p < reader.pieces().count(); ++p) {
        auto [losses, next] = reader.losses(p, state, nullptr);
        pieces.push_back(losses.flatten());
        state = next;
      }
      EXPECT_TRUE(at::allclose(at::cat(pieces), whole, 1e-12, 1e-12)) << chunk;
    }
    EvaluationOptions evaluation;
    evaluation.batch = 1;
    evaluation.chunk = 6;
    evaluation.stack_chunks = 0;
    const auto result = evaluate(*model, words, evaluation);
    EXPECT_EQ(result->words, 23);
    EXPECT_NEAR(result->cross_entropy, whole.mean().item<double>(), 1e-12);
    EXPECT_NEAR(result->perplexity, std::exp(whole.mean().item<double>()), 1e-12);
  }
}

TEST(TextReader, StreamsAreTextsOfTheirOwn) {
  const auto words = text(23, 1);
  const auto model = word_model(kDiffStk);
  // 8, 8 and 7 words.
  Tensor sum = at::zeros({}, at::kDouble);
  for (const auto& [first, size] : {std::pair{0, 8}, {8, 8}, {16, 7}}) {
    const Word part(words->words().begin() + first, words->words().begin() + first + size);
    sum += losses_at_once(*model, std::make_shared<RunningText>(vocabulary(), part)).sum();
  }
  EvaluationOptions evaluation;
  evaluation.batch = 3;
  evaluation.chunk = 3;
  evaluation.stack_chunks = 0;
  EXPECT_NEAR(evaluate(*model, words, evaluation)->cross_entropy, sum.item<double>() / 23, 1e-12);
}

TEST(TextReader, PerplexityByHand) {
  // With all weights 0 and a bias of log p, every word has its own probability.
  const auto model = word_model(kLstm);
  const std::vector<double> p{0.05, 0.25, 0.4, 0.2, 0.1};
  for (const auto& [name, tensor] : model->parameters()) {
    at::NoGradGuard no_grad;
    Tensor own = tensor;
    own.zero_();
    if (name == "output.bias") own.copy_(at::tensor(p, at::kDouble).log());
  }
  const auto words = std::make_shared<RunningText>(vocabulary(), Word{2, 3, 1, 4});
  EvaluationOptions evaluation;
  evaluation.batch = 2;
  EXPECT_NEAR(evaluate(*model, words, evaluation)->perplexity,
              std::pow(0.4 * 0.2 * 0.25 * 0.1, -0.25), 1e-12);
}

TEST(TextReader, AnUntrainedModelsPerplexityIsAboutTheVocabulary) {
  std::vector<std::string> symbols{"<unk>", "<eos>"};
  for (int i = 2; i < 400; ++i) symbols.push_back("w" + std::to_string(i));
  Random random(3, "words");
  Word words;
  for (int i = 0; i < 500; ++i) words.push_back(static_cast<int>(random.below(400)));
  const auto all = std::make_shared<RunningText>(Alphabet(symbols), words);
  const LanguageModel model(Alphabet(symbols), Json{{"controller", {{"kind", "lstm"}}},
                                                    {"embedding", 10},
                                                    {"end_symbol", false},
                                                    {"seed", 1}});
  EXPECT_NEAR(evaluate(model, all, {})->perplexity, 400, 20);
}

TEST(TextReader, AStackThatIsEmptiedDoesNotGrow) {
  at::NoGradGuard no_grad;
  const auto words = text(60, 1);
  const auto model = word_model(kDiffStk);
  const auto sizes = [&](std::int64_t stack_chunks) {
    const TextReader reader("test", *model, words, 1, 5, stack_chunks);
    ReadingState state = reader.begin();
    std::vector<std::size_t> bytes;
    for (std::int64_t p = 0; p < reader.pieces().count(); ++p) {
      state = reader.losses(p, state, nullptr).second;
      bytes.push_back(state.state->bytes());
    }
    return bytes;
  };
  const auto never = sizes(0), second = sizes(2);
  for (std::size_t p = 1; p < never.size(); ++p) EXPECT_GT(never[p], never[p - 1]);
  for (std::size_t p = 4; p < second.size(); ++p) EXPECT_EQ(second[p], second[p - 2]);
  // The state of the controller continues: the same words have other predictions than at the
  // beginning.
  const TextReader reader("test", *model, words, 1, 5, 1);
  const ReadingState later = reader.losses(0, reader.begin(), nullptr).second;
  EXPECT_FALSE(at::allclose(reader.losses(1, later, nullptr).first,
                            reader.losses(1, reader.begin(), nullptr).first));
}

TEST(TextReader, InvalidInputIsRefused) {
  const auto model = word_model(kLstm);
  const auto other =
      std::make_shared<RunningText>(Alphabet({"<unk>", "<eos>", "a", "x", "c"}), Word{2, 3});
  EXPECT_EQ(message<std::invalid_argument>([&] { evaluate(*model, other, {}); }),
            "[train.evaluate] the text and the model have different vocabularies: word 4 is 'x' in "
            "the text and 'b' in the model");
  const auto longer =
      std::make_shared<RunningText>(Alphabet({"<unk>", "<eos>", "a", "b", "c", "d"}), Word{2, 3});
  EXPECT_EQ(
      message<std::invalid_argument>([&] { evaluate(*model, longer, {}); }),
      "[train.evaluate] the text and the model have different vocabularies, of 6 and 5 words");
  const LanguageModel ending(vocabulary(), Json{{"end_symbol", true}});
  EXPECT_CONTAINS(message<std::invalid_argument>([&] { evaluate(ending, text(9, 1), {}); }),
                  "end_symbol = false");
  EXPECT_EQ(message<std::invalid_argument>([&] { text_modelling(model, nullptr, nullptr); }),
            "[train.trainer] there is no text");
  const auto attention = std::make_shared<LanguageModel>(
      vocabulary(),
      Json{{"architecture", "transformer"}, {"hidden", 4}, {"heads", 1}, {"end_symbol", false}});
  EXPECT_CONTAINS(
      message<std::invalid_argument>([&] { text_modelling(attention, text(9, 1), nullptr); }),
      "whose state can be stored in a checkpoint");
}

// ---- Training ----

const Json kOptions{
    {"batch", 3}, {"chunk", 4},     {"epochs", 3},     {"optimizer", {{"learning_rate", 0.01}}},
    {"seed", 2},  {"clip_norm", 0}, {"clip_value", 15}};

std::unique_ptr<Trainer> fresh(const Json& model, const Json& more = Json::object()) {
  Json options = kOptions;
  options.update(more);
  return std::make_unique<Trainer>(
      text_modelling(word_model(model, "float32"), text(92, 1), text(31, 2)), options);
}

TEST(TextModelling, TheGradientIsThatOfThePieceAlone) {
  const auto model = word_model(kTape);
  const auto words = text(24, 1);
  const auto problem = text_modelling(model, words, nullptr);
  Json options{{"batch", 2}, {"chunk", 6}, {"stack_chunks", 0}};
  problem->configure(options);
  EXPECT_TRUE(problem->in_order());
  EXPECT_EQ(problem->phases(2)[0].batches, (std::vector<std::vector<std::int64_t>>{{0}, {1}}));
  Random random(1);
  problem->differentiate({0}, random);
  for (const auto& [name, tensor] : model->parameters()) Tensor(tensor).mutable_grad() = Tensor();
  const auto sum = problem->differentiate({1}, random);
  EXPECT_EQ(sum.units, 12);

  // The same by finite differences, with a fixed state before the piece.
  const TextReader reader("test", *model, words, 2, 6, 0);
  at::NoGradGuard no_grad;
  const ReadingState before = reader.losses(0, reader.begin(), nullptr).second;
  const auto loss = [&] { return reader.losses(1, before, nullptr).first.sum().item<double>(); };
  EXPECT_NEAR(sum.loss, loss(), 1e-12);
  constexpr double kStep = 1e-5;
  for (const auto& [name, tensor] : model->parameters()) {
    const Tensor gradient = tensor.grad();
    ASSERT_TRUE(gradient.defined()) << name;
    auto* value = tensor.data_ptr<double>();
    for (std::int64_t i = 0; i < tensor.numel(); i += 3) {
      const double old = value[i];
      value[i] = old + kStep;
      const double above = loss();
      value[i] = old - kStep;
      const double below = loss();
      value[i] = old;
      EXPECT_NEAR(gradient.flatten()[i].item<double>(), (above - below) / (2 * kStep) / 2, 1e-7)
          << name;
    }
  }
}

TEST(TextModelling, ItLearnsAndReportsPerplexity) {
  auto trainer = fresh(kLstm, {{"epochs", 30}});
  run_to_end(*trainer);
  const auto& history = trainer->history();
  EXPECT_LT(*history.back().perplexity, *history.front().perplexity);
  EXPECT_NEAR(*history.back().perplexity, std::exp(*history.back().cross_entropy), 1e-9);
  // Every fifth word is a line end; the others are drawn from three words.
  EXPECT_LT(*history.back().perplexity, 3.2);
  EvaluationOptions same{3};
  same.chunk = 4;
  const auto model = std::dynamic_pointer_cast<LanguageModel>(trainer->model());
  EXPECT_EQ(evaluate(*model, text(31, 2), same)->cross_entropy, *history.back().cross_entropy);
}

}  // namespace
}  // namespace pushdown::text_test
