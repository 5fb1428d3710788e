// Epochs of the neural state pushdown automaton on 4,008 labelled strings of 1 to 21 symbols, the
// number in Mali et al. (2019), with each learning algorithm, on one core.
#include <cstdio>
#include <numeric>

#include "arithmetic.h"
#include "bench.h"
#include "kernel/state_pushdown/state_pushdown.h"
#include "model/recognizer.h"
#include "task/dataset.h"
#include "train/problems/recognition.h"
#include "train/trainer.h"

namespace pushdown::bench {
namespace {

constexpr int kStrings = 4008, kLongest = 21, kStates = 6, kSymbols = 3;

LabelledDatasetPtr random_strings() {
  Random random(1);
  std::vector<Word> words;
  std::vector<bool> labels;
  for (int i = 0; i < kStrings; ++i) {
    Word word(1 + random.below(kLongest));
    for (auto& symbol : word) symbol = static_cast<int>(random.below(kSymbols));
    // Equal strings have equal labels.
    labels.push_back((word.size() + static_cast<std::size_t>(word.front())) % 2 == 0);
    words.push_back(word);
  }
  return std::make_shared<LabelledDataset>(Alphabet({"a", "b", "c"}), words, labels);
}

RecognizerPtr make_recognizer(int passes) {
  return std::make_shared<Recognizer>(Alphabet({"a", "b", "c"}), Json{{"architecture", "nspda"},
                                                                      {"order", "third"},
                                                                      {"states", kStates},
                                                                      {"passes", passes},
                                                                      {"seed", 1}});
}

// The active neurons at the beginning of all passes over the data, by the pass of the symbol.
struct Activity {
  double passes = 0, active = 0;  // number of first passes
  double later_passes = 0, later_active = 0;
};
Activity activity_of(const Recognizer& model, const LabelledDataset& data) {
  at::NoGradGuard guard;
  Random noise(1);
  Activity sum;
  const auto k = model.passes();
  for (const Word& word : data.words()) {
    std::vector<std::int64_t> ids(word.begin(), word.end());
    const Tensor hiddens = model.run(at::tensor(ids, at::kLong).unsqueeze(0), &noise).hiddens[0];
    const Tensor counts = hiddens.sum(1).contiguous();
    for (std::int64_t p = 0; p + 1 < counts.size(0); ++p) {
      (p % k == 0 ? sum.passes : sum.later_passes) += 1;
      (p % k == 0 ? sum.active : sum.later_active) += counts.data_ptr<float>()[p];
    }
  }
  return sum;
}

// Multiply-adds with the weights in one epoch, by the formulas of
// kernel/state_pushdown/state_pushdown.h, without the padding of rows.
double epoch_multiply_adds(const std::string& algorithm, const Activity& did) {
  const double j = kStates, v = kSymbols, r = v + 1, inputs = v + 1;
  const auto count = [&](double rows, double passes, double active) {
    if (algorithm == "bptt") return rows * r * (2 * active + j * passes);
    if (algorithm == "uoro") return rows * r * (4 * active + j * passes);
    const double weights = (j + v) * j * r * inputs, targets = rows == j ? j : j + 2;
    return passes * (targets * (j + 2) + j) * weights;
  };
  return count(j + v, did.passes, did.active) + count(j, did.later_passes, did.later_active);
}

// Processor seconds of the gradients of all batches with the network's own kernel.
double gradient_seconds(const Recognizer& model, const LabelledDataset& data, int batch_size,
                        const std::string& algorithm) {
  std::vector<std::int64_t> all(data.size());
  std::iota(all.begin(), all.end(), 0);
  Random random(1);
  std::vector<PassRequest> batches;
  for (const auto& strings : equal_length_batches(data.words(), all, batch_size)) {
    batches.push_back(model.request(model.input(word_tensor(data.words(), strings)), 0, &random));
    batches.back().answers = {
        .labels = at::ones({static_cast<std::int64_t>(strings.size())}, at::kDouble),
        .output_weight = model.output_weight(),
        .output_bias = model.output_bias()};
    batches.back().algorithm = algorithm;
  }
  const Timing time = measure(5, [&] {
    for (const auto& batch : batches)
      std::get<ByKernel>(model.network().route(batch)).differentiate();
  });
  for (const auto& [name, tensor] : model.parameters()) tensor.mutable_grad() = Tensor();
  return time.best_ms / 1e3;
}

}  // namespace

void bench_recognizers() {
  const auto data = random_strings();
  std::printf(
      "\nEpoch of %d strings of 1 to %d symbols, third order, %d states, %d symbols, float32, one "
      "thread.\nGradients: of all batches and nothing else; epoch: the trainer's.\n",
      kStrings, kLongest, kStates, kSymbols);
  std::printf("%5s %6s %9s | %10s %8s | %9s %9s %8s | %8s\n", "batch", "passes", "algorithm",
              "gradients", "to bptt", "epoch s", "cpu s", "to bptt", "M m-add");
  for (const int batch : {1, 10})
    for (const int passes : {1, 4}) {
      double bptt = 0, bptt_gradients = 0;
      for (const std::string algorithm : {"bptt", "uoro", "rtrl"}) {
        const auto model = make_recognizer(passes);
        const double count = epoch_multiply_adds(algorithm, activity_of(*model, *data));
        const double gradients = gradient_seconds(*model, *data, batch, algorithm);
        Trainer trainer(recognition(model, data, nullptr),
                        Json{{"batch", batch},
                             {"learning", {{"kind", algorithm}}},
                             {"clip_value", 13.0},
                             {"optimizer", {{"kind", "sgd"}, {"learning_rate", 1e-3}}}});
        const Timing time = measure(3, [&] { trainer.run_epoch(); });
        const double wall = time.median_ms / 1e3, cpu = time.best_ms / 1e3;
        if (algorithm == "bptt") {
          bptt = cpu;
          bptt_gradients = gradients;
        }
        std::printf("%5d %6d %9s | %10.3f %8.2f | %9.3f %9.3f %8.2f | %8.1f\n", batch, passes,
                    algorithm.c_str(), gradients, gradients / bptt_gradients, wall, cpu, cpu / bptt,
                    count / 1e6);
        const auto verdict = [&](const char* bar, double most, double found) {
          std::printf("  bar %s at_most=%.3g found=%.3g %s\n", bar, most, found,
                      found <= most ? "met" : "MISSED");
        };
        if (algorithm == "bptt") verdict("epoch_seconds", 1, wall);
        if (algorithm == "uoro") verdict("uoro_to_bptt", 2, cpu / bptt);
        std::fflush(stdout);
      }
    }
}

}  // namespace pushdown::bench
