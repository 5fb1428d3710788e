// Recorded steps compared with the same networks by tensor operations: one update of the size of a
// recognizer, forward and backward, on one thread; and updates per second on the D2 strings of Mali
// et al. (2021).
#include <cstdio>

#include "bench.h"
#include "model/recognizer.h"
#include "model/stack_rnn.h"
#include "train/problems/recognition.h"
#include "train/trainer.h"

namespace pushdown::bench {
namespace {

constexpr std::int64_t kBatch = 10, kSteps = 44, kInputs = 5;

struct Network {
  const char* name;
  Json controller, stack;
  Recurrence recurrence = {};
};

std::vector<Network> networks() {
  const Json still{
      {"kind", "parallel_superposition"}, {"stacks", 1}, {"read_depth", 3}, {"no_op", true}};
  const Recurrence diffstk{true, 0.01, 0, CarryForward::counter};
  const Json none{{"kind", "none"}};
  std::vector<Network> all;
  for (const char* kind : {"elman", "lstm", "gru", "lstm_peephole", "mi_rnn", "mi_lstm", "mi_gru"})
    all.push_back({kind, {{"kind", kind}, {"hidden", 50}}, none});
  all.push_back({"second_order", {{"kind", "second_order"}, {"hidden", 20}}, none});
  const Json elman{{"kind", "elman"}, {"hidden", 40}};
  all.push_back({"stack 40+10", elman, {{"kind", "parallel_superposition"}, {"stacks", 10}}});
  all.push_back({"list 40+5", elman, {{"kind", "list"}, {"lists", 5}}});
  for (const char* kind : {"elman", "lstm", "mrnn", "mlstm", "mi_rnn"})
    all.push_back({kind, {{"kind", kind}, {"hidden", 8}}, still, diffstk});
  all.push_back({"baby_ntm", {{"kind", "elman"}, {"hidden", 8}}, {{"kind", "baby_ntm"}}, {true}});
  return all;
}

void bench_network(const Network& given) {
  const auto options = at::TensorOptions().dtype(at::kFloat);
  Random random(1);
  const StackRnn network(given.controller, given.stack, kInputs, options, random, given.recurrence);
  const Tensor words = at::arange(kBatch * kSteps).remainder(kInputs).view({kBatch, kSteps});
  const Tensor inputs = at::one_hot(words, kInputs).to(at::kFloat);
  double times[2];
  for (const bool recorded : {true, false}) {
    const auto update = [&] {
      Random noise(2);
      const Tensor hiddens = recorded ? network.run_recorded(inputs, words, &noise)
                                      : network.run_stepwise(inputs, &noise);
      hiddens.pow(2).sum().backward();
      for (const auto& [name, tensor] : network.parameters()) tensor.mutable_grad() = Tensor();
    };
    times[recorded] = measure(recorded ? 40 : 8, update).median_ms;
  }
  std::printf("steps network=\"%s %s%s\" recorded_ms=%.4f stepwise_ms=%.1f ratio=%.1f\n",
              given.name, given.stack["kind"].get<std::string>().c_str(),
              given.recurrence.carry == CarryForward::none ? "" : " diffstk", times[1], times[0],
              times[0] / times[1]);
  std::fflush(stdout);
}

// Strings with the lengths of D2 up to 55 symbols. The symbols do not affect the time.
void bench_epoch() {
  constexpr int kStrings = 6230, kLongest = 55;
  Random random(1);
  std::vector<Word> words;
  std::vector<bool> labels;
  for (int i = 0; i < kStrings; ++i) {
    Word word(2 * (1 + random.below(kLongest / 2)));
    for (auto& symbol : word) symbol = static_cast<int>(random.below(4));
    labels.push_back((word.size() / 2 + static_cast<std::size_t>(word.front())) % 2 == 0);
    words.push_back(word);
  }
  const Alphabet alphabet({"(", ")", "[", "]"});
  const auto data = std::make_shared<LabelledDataset>(alphabet, words, labels);
  const Json diffstk{{"stack",
                      {{"kind", "parallel_superposition"},
                       {"stacks", 1},
                       {"read_depth", 3},
                       {"no_op", true},
                       {"bias", true}}},
                     {"coupling", "state"},
                     {"noise", 0.01},
                     {"carry_forward", "soft"}};
  const Json tape{{"stack", {{"kind", "baby_ntm"}}}, {"coupling", "state"}};
  struct Row {
    const char *name, *controller;
    Json more;
  };
  for (const int batch : {1, 10})
    for (const auto& [name, controller, more] :
         {Row{"lstm", "lstm", Json::object()}, Row{"diffstk_rnn", "elman", diffstk},
          Row{"diffstk_mlstm", "mlstm", diffstk}, Row{"baby_ntm", "elman", tape}}) {
      Json options{{"controller", {{"kind", controller}, {"hidden", 8}}},
                   {"seed", 1},
                   {"next_symbol", true},
                   {"decision", "mean"}};
      options.update(more);
      Trainer trainer(recognition(std::make_shared<Recognizer>(alphabet, options), data, nullptr),
                      Json{{"batch", batch},
                           {"epochs", 3},
                           {"stop_accuracy", 0},
                           {"objective", "joint"},
                           {"learning", {{"kind", "tbptt"}, {"window", 50}}},
                           {"clip_norm", 0},
                           {"clip_value", 15.0},
                           {"optimizer", {{"kind", "adam"}, {"learning_rate", 2e-3}}}});
      double least = 1e9, most_updates = 0;
      for (int epoch = 0; epoch < 3; ++epoch) {
        const auto metrics = *trainer.run_epoch();
        least = std::min(least, metrics.seconds);
        most_updates = std::max(most_updates, metrics.updates_per_second);
      }
      std::printf(
          "steps epoch=%s batch=%d strings=%d longest=%d hidden=8 updates_per_second=%.0f "
          "seconds=%.2f\n",
          name, batch, kStrings, kLongest, most_updates, least);
      std::fflush(stdout);
    }
}

}  // namespace

void bench_steps() {
  std::printf("\nRecorded steps: batch %lld, %lld steps, forward and backward, one thread\n",
              static_cast<long long>(kBatch), static_cast<long long>(kSteps));
  for (const Network& network : networks()) bench_network(network);
  bench_epoch();
}

}  // namespace pushdown::bench
