// Training updates (forward, cross-entropy over a vocabulary, backward, Adam) of the language model
// of Merrill et al. (2019), on one thread. It has an LSTM of 100 hidden units, stack vectors of 16
// numbers, pushes and readings of expected strength up to 4, pops of 1, words as 50 learned
// numbers, a vocabulary of 10,000, and batches of 20 x 30 words. The data are sentences with an end
// symbol, or a running text in consecutive pieces. The comparison is the same network composed from
// LibTorch's operations.
#include <cstdio>

#include "arithmetic.h"
#include "bench.h"
#include "model/language_model.h"
#include "model/stack_rnn.h"
#include "train/learning/gradient.h"
#include "train/optimizing/optimizer.h"
#include "train/problems/text_reader.h"

namespace pushdown::bench {
namespace {

constexpr std::int64_t kBatch = 20, kLength = 30, kHidden = 100, kSize = 16, kEmbedding = 50,
                       kVocabulary = 10000, kGreatest = 4, kPieces = 6;
constexpr double kBar = 5;

// The multiply-adds of products with matrices count three times: for the forward pass, the gradient
// of the vector, and the gradient of the matrix.
double multiply_adds(std::int64_t predicted) {
  const double cell = 4.0 * kHidden * (kEmbedding + kHidden + kSize),
               actions = (kSize + 2.0 * (kGreatest + 1)) * kHidden,
               output = static_cast<double>(kVocabulary) * kHidden;
  return 3.0 * kBatch * (kLength * (cell + actions) + static_cast<double>(predicted) * output);
}

Json options(bool end_symbol) {
  return {{"controller", {{"kind", "lstm"}, {"hidden", kHidden}}},
          {"stack",
           {{"kind", "stratification"},
            {"size", kSize},
            {"push", "expectation"},
            {"pop", "fixed"},
            {"read", "expectation"},
            {"max_strength", kGreatest}}},
          {"embedding", kEmbedding},
          {"end_symbol", end_symbol}};
}

Alphabet vocabulary() {
  std::vector<std::string> words;
  for (std::int64_t k = 0; k < kVocabulary; ++k) words.push_back(std::to_string(k));
  return Alphabet(words);
}

// A few words are frequent.
Word random_words(std::int64_t count) {
  Random random(1);
  Word words;
  for (std::int64_t i = 0; i < count; ++i) {
    const double share = random.uniform(0, 1);
    words.push_back(static_cast<int>(share * share * share * kVocabulary));
  }
  return words;
}

const Tensor& parameter(const LanguageModel& model, const std::string& wanted) {
  for (const auto& [name, tensor] : model.parameters())
    if (name == wanted) return tensor;
  throw std::out_of_range(wanted);
}

// The same network by LibTorch's operations: the vectors from which the words of a sentence or a
// piece are predicted.
Tensor composed_losses(const LanguageModel& model, const Tensor& hiddens, const Tensor& targets) {
  const Tensor scores =
      at::linear(hiddens, parameter(model, "output.weight"), parameter(model, "output.bias"));
  return at::cross_entropy_loss(scores.flatten(0, 1), targets.flatten(), {}, at::Reduction::Sum) /
         static_cast<double>(kBatch);
}

struct Case {
  const char* name;
  std::int64_t predicted;  // words of a string
  std::function<Tensor()> ours, composed;
};

void report(const Case& work, const LanguageModel& model, double peak) {
  const auto optimizer = make_optimizer(model.parameters(), Json{{"learning_rate", 0.001}});
  Timing times[2];
  for (const bool ours : {true, false})
    times[ours] = measure(ours ? 20 : 3, [&] {
      clear_gradients(model.parameters());
      (ours ? work.ours() : work.composed()).backward();
      optimizer->step();
    });
  const double rate = multiply_adds(work.predicted) / times[1].best_ms * 1e-6;
  std::printf(
      "language text=\"%s\" composed_ms=%.0f ms=%.1f ratio=%.1f bar=%.0f cpu_composed_ms=%.0f "
      "cpu_ms=%.1f cpu_ratio=%.1f gflops=%.0f percent_of_peak=%.0f\n",
      work.name, times[0].least_ms, times[1].least_ms, times[0].least_ms / times[1].least_ms, kBar,
      times[0].best_ms, times[1].best_ms, times[0].best_ms / times[1].best_ms, 2 * rate,
      100 * rate / peak);
  std::fflush(stdout);
}

void bench_sentences(double peak) {
  const LanguageModel model(vocabulary(), options(true));
  const auto ids = random_words(kBatch * kLength);
  const Tensor words =
      at::tensor(std::vector<std::int64_t>(ids.begin(), ids.end())).view({kBatch, kLength});
  const Tensor targets = at::constant_pad_nd(words, {0, 1}, kVocabulary);
  const auto& network = *model.network().stack_rnn();
  const auto composed = [&] {
    const Tensor inputs = at::embedding(parameter(model, "embedding.weight"), words);
    return composed_losses(model, network.run_stepwise(inputs), targets);
  };
  report(
      {"sentences", kLength + 1, [&] { return -model.log_probabilities(words).mean(); }, composed},
      model, peak);
}

void bench_text(double peak) {
  const LanguageModel model(vocabulary(), options(false));
  const auto text =
      std::make_shared<RunningText>(vocabulary(), random_words(kBatch * kLength * kPieces));
  const TextReader reader("bench", model, text, kBatch, kLength, 4);
  const auto& network = *model.network().stack_rnn();
  // From the second piece on, the stack has the content that the previous piece left.
  std::pair<std::int64_t, ReadingState> place{0, reader.begin()};
  const auto ours = [&] {
    if (place.first == kPieces) place = {0, reader.begin()};
    auto [losses, next] = reader.losses(place.first, place.second, nullptr);
    place = {place.first + 1, std::move(next)};
    return losses.sum() / static_cast<double>(kBatch);
  };
  StackRnnState state = network.initial(kBatch, 0);
  Tensor hidden = at::zeros({kBatch, 1, kHidden});
  std::int64_t piece = 0;
  const auto composed = [&] {
    if (piece == kPieces) piece = 0;
    if (piece % 4 == 0) state.stack = network.initial(kBatch, 0).stack;
    const Tensor words = reader.pieces().words(piece), targets = reader.pieces().targets(piece);
    auto [hiddens, next] =
        network.read(at::embedding(parameter(model, "embedding.weight"), words), state);
    const Tensor before = at::cat({hidden, hiddens.narrow(1, 0, kLength - 1)}, 1);
    hidden = hiddens.narrow(1, kLength - 1, 1).detach();
    state = next.detached();
    ++piece;
    return composed_losses(model, before, targets);
  };
  report({"running text", kLength, ours, composed}, model, peak);
}

}  // namespace

void bench_language() {
  std::printf(
      "\nLanguage: hidden %lld, stack vectors %lld, embedding %lld, vocabulary %lld, batch %lld, "
      "%lld words, update with Adam, one thread\n",
      static_cast<long long>(kHidden), static_cast<long long>(kSize),
      static_cast<long long>(kEmbedding), static_cast<long long>(kVocabulary),
      static_cast<long long>(kBatch), static_cast<long long>(kLength));
  const double peak = multiply_add_peak() * 1e-9;
  bench_sentences(peak);
  bench_text(peak);
}

}  // namespace pushdown::bench
