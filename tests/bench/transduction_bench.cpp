// One update of the size of a transducer, forward and backward, as Grefenstette et al. (2015) train
// them: an LSTM with a memory of sections over joint sequences, and an output layer with a
// cross-entropy at every step. Recorded steps are compared with the same network by tensor
// operations, on one thread.
#include <cstdio>

#include "arithmetic.h"
#include "bench.h"
#include "model/stack_rnn.h"
#include "recurrence/affine.h"

namespace pushdown::bench {
namespace {

constexpr std::int64_t kBatch = 10, kSteps = 128, kEmbedding = 64, kHidden = 256, kSize = 256,
                       kSymbols = 130;
constexpr double kBar = 5;

struct Row {
  const char* name;
  const char* stack;
  int readings;       // of kSize numbers
  int action_layers;  // of kSize + 2 rows
};

// The multiply-adds of the matrix products. Those with a matrix count three times: for the forward
// pass, the gradient of the vector, and the gradient of the matrix.
double multiply_adds(const Row& row) {
  const double cell = 4.0 * kHidden * (kEmbedding + kHidden + row.readings * kSize),
               actions = row.action_layers * (kSize + 2.0) * kHidden, output = kSymbols * kHidden;
  return 3.0 * kBatch * kSteps * (cell + actions + output);
}

StackRnn network_of(const Row& row, const at::TensorOptions& options) {
  Random random(1);
  Json stack{{"kind", row.stack}};
  if (row.readings > 0) stack.update(Json{{"size", kSize}, {"pop_bias", -1}});
  return {{{"kind", "lstm"}, {"hidden", kHidden}}, stack, kEmbedding, options, random};
}

// Copies of 8 to 64 symbols as joint sequences, in steps that each sequence makes, and in the steps
// of the longest one.
void bench_lengths(const Row& row) {
  const auto options = at::TensorOptions().dtype(at::kFloat);
  const StackRnn network = network_of(row, options);
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < kBatch; ++i)
    lengths.push_back(2 * (64 - (56 * i + 28) / kBatch) + 2);
  const Tensor inputs = at::empty({kBatch, lengths[0], kEmbedding}, options).uniform_(-0.1, 0.1);
  double times[2];
  for (const bool own : {true, false})
    times[own] = measure(12, [&] {
                   const Tensor hiddens = network.run(inputs, nullptr, {},
                                                      own ? lengths : std::vector<std::int64_t>{});
                   std::vector<Tensor> last;
                   for (std::int64_t b = 0; b < kBatch; ++b)
                     last.push_back(hiddens[b].narrow(0, lengths[b] / 2, lengths[b] / 2 + 1));
                   at::cat(last).square().sum().backward();
                   for (const auto& [name, tensor] : network.parameters())
                     tensor.mutable_grad() = Tensor();
                 }).least_ms;
  std::printf("transduction lengths network=\"%s\" padded_ms=%.1f own_ms=%.1f ratio=%.2f\n",
              row.name, times[false], times[true], times[false] / times[true]);
  std::fflush(stdout);
}

void bench_row(const Row& row, double peak) {
  const auto options = at::TensorOptions().dtype(at::kFloat);
  const StackRnn network = network_of(row, options);
  const Tensor embedding = at::empty({kSymbols, kEmbedding}, options).uniform_(-0.1, 0.1),
               weight = at::empty({kSymbols, kHidden}, options).uniform_(-0.1, 0.1),
               bias = at::zeros({kSymbols}, options);
  std::vector<Tensor> parameters{embedding, weight, bias};
  for (const auto& [name, tensor] : network.parameters()) parameters.push_back(tensor);
  for (const Tensor& tensor : parameters) tensor.requires_grad_();
  const Tensor words =
      at::arange(kBatch * (kSteps + 1)).mul(7919).remainder(kSymbols).view({kBatch, kSteps + 1});
  const Tensor read = words.narrow(1, 0, kSteps), next = words.narrow(1, 1, kSteps);
  double times[2];
  for (const bool recorded : {true, false}) {
    const auto update = [&] {
      const Tensor inputs = at::embedding(embedding, read);
      const Tensor hiddens = recorded ? network.run_recorded(inputs, {}, nullptr)
                                      : network.run_stepwise(inputs, nullptr);
      const Tensor last = hiddens.narrow(1, 1, kSteps);
      const Tensor scores = recorded ? affine(last, weight, bias) : at::linear(last, weight, bias);
      at::cross_entropy_loss(scores.flatten(0, 1), next.flatten()).backward();
      for (const Tensor& tensor : parameters) tensor.mutable_grad() = Tensor();
    };
    times[recorded] = measure(recorded ? 12 : 3, update).least_ms;
  }
  const double rate = multiply_adds(row) / times[1] * 1e-6;  // billions per second
  std::printf(
      "transduction network=\"%s\" stepwise_ms=%.0f recorded_ms=%.1f ratio=%.1f bar=%.0f "
      "gflops=%.0f percent_of_peak=%.0f\n",
      row.name, times[0], times[1], times[0] / times[1], kBar, 2 * rate, 100 * rate / peak);
  std::fflush(stdout);
}

}  // namespace

void bench_transduction() {
  std::printf(
      "\nTransduction: hidden %lld, memory %lld, embedding %lld, batch %lld, %lld steps, forward "
      "and "
      "backward, one thread\n",
      static_cast<long long>(kHidden), static_cast<long long>(kSize),
      static_cast<long long>(kEmbedding), static_cast<long long>(kBatch),
      static_cast<long long>(kSteps));
  const double peak = multiply_add_peak() * 1e-9;
  for (const Row& row : {Row{"lstm", "none", 0, 0},
                         {"stack-lstm", "stratification", 1, 1},
                         {"queue-lstm", "stratification_queue", 1, 1},
                         {"deque-lstm", "stratification_deque", 2, 2}}) {
    bench_row(row, peak);
    bench_lengths(row);
  }
}

}  // namespace pushdown::bench
