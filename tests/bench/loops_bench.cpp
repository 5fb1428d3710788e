// The loops of the nondeterministic stack without a network: every step of several sequences in
// turn, as in a block of an update, then every step backward.
#include <cstdio>
#include <vector>

#include "arithmetic.h"
#include "bench.h"
#include "kernel/memory/nondeterministic_kernel.h"
#include "tensor/torch.h"

namespace pushdown::bench {
namespace {

constexpr std::int64_t kSteps = 78;  // those of a string of 80 symbols

struct Sequence {
  Tensor columns, popped, forward, mass, numerators, forward_gradients, popped_gradient;
  NondeterministicMemory<float> memory;

  Sequence(const NondeterministicSize& size, const std::vector<std::int64_t>& row_start) {
    const auto buffer = [](Tensor& of, std::int64_t count) {
      of = at::zeros({count}, at::kFloat);
      return of.data_ptr<float>();
    };
    const auto edges = size.edge_rows() * row_start.back();
    const auto nodes = size.nodes() * size.configurations();
    memory = {size,
              row_start.data(),
              buffer(columns, edges),
              buffer(popped, size.states * row_start.back()),
              buffer(forward, nodes),
              buffer(mass, nodes),
              buffer(numerators, edges),
              buffer(forward_gradients, size.forward_gradients()),
              buffer(popped_gradient, size.popped_gradient())};
    // The initial bottom symbol.
    memory.forward[0] = memory.forward[size.configurations()] = 1;
    memory.mass[size.configurations()] = 1;
    memory.row(memory.columns, 1, 0)[0] = 1;
  }
};

void bench_row(int states, int symbols, int count, double peak) {
  const NondeterministicSize size{states, symbols, kSteps};
  const auto c = size.configurations();
  std::vector<std::int64_t> row_start{0};
  for (std::int64_t j = 0; j < size.nodes(); ++j)
    row_start.push_back(row_start.back() + size.row(j));
  std::vector<Sequence> sequences;
  sequences.reserve(count);
  for (int k = 0; k < count; ++k) sequences.emplace_back(size, row_start);

  at::manual_seed(1);
  const Tensor weights = at::randn({kSteps, c, size.actions()}, at::kFloat).softmax(2);
  const Tensor reading_gradient = at::randn({c}, at::kFloat);
  Tensor weight_gradient = at::empty({c, size.actions()}, at::kFloat);
  const auto weights_of = [&](std::int64_t node) {
    return weights.data_ptr<float>() + (node - 2) * c * size.actions();
  };
  const auto kernel = kernel_for<NondeterministicKernel<float>>(current_isa(), states, symbols);
  const auto last = kSteps + 1;
  const Timing forward = measure(200, [&] {
    for (std::int64_t j = 2; j <= last; ++j)
      for (const Sequence& own : sequences) kernel.step(own.memory, j, weights_of(j), nullptr);
  });
  const Timing backward = measure(200, [&] {
    for (const Sequence& own : sequences) {
      own.forward_gradients.zero_();
      std::fill_n(own.memory.column(own.memory.numerators, last), c * size.row(last), 0.0F);
    }
    for (std::int64_t j = last; j >= 2; --j)
      for (const Sequence& own : sequences)
        kernel.step_backward(own.memory, j, last, weights_of(j), nullptr,
                             reading_gradient.data_ptr<float>(), weight_gradient.data_ptr<float>(),
                             nullptr);
  });
  Workload work;
  work.stack = "nondeterministic";
  work.states = states;
  work.symbols = symbols;
  work.batch = count;
  // The backward pass has two multiply-adds for each of the forward pass.
  const double each = stack_multiply_adds(work, kSteps + 2) / 3;
  const auto share = [&](double multiply_adds, const Timing& time) {
    return 100 * multiply_adds / (time.best_ms * 1e-3) / peak;
  };
  std::printf(
      "loops stack=\"nondeterministic %dx%d\" n=%d sequences=%d forward_ms=%.3f backward_ms=%.3f "
      "forward_percent_of_peak=%.0f backward_percent_of_peak=%.0f\n",
      states, symbols, static_cast<int>(kSteps) + 2, count, forward.best_ms, backward.best_ms,
      share(each, forward), share(2 * each, backward));
  std::fflush(stdout);
}

}  // namespace

void bench_loops() {
  const double peak = multiply_add_peak();
  std::printf("\nLoops of the nondeterministic stack, float32, one thread, peak %.1f GFLOP/s\n",
              2 * peak * 1e-9);
  for (const auto& [states, symbols] : {std::pair{2, 2}, {3, 2}, {3, 3}})
    for (const int count : {1, 2, 5, 10}) bench_row(states, symbols, count, peak);
}

}  // namespace pushdown::bench
