// The algorithm of unbiased_online.cpp for networks of higher order. Autograd computes the losses
// and their derivatives by the hidden vectors for the whole batch. Everything between two symbols
// is a loop over numbers in double, string by string.
//
// Cost per string and symbol: twice the step, once its tangent and twice its gradient
// (kernel/state_pushdown/higher_order.h), and 3 N multiply-adds.
#include <cmath>

#include "base/parallel.h"
#include "base/stopping.h"
#include "train/learning/learning_pieces.h"

namespace pushdown {
namespace {

using Numbers = std::vector<double>;

// Adds the estimate to `gradient`, packed, with the scale of the slopes : B x P x H by the hidden
// vectors.
void estimate(HigherOrderSteps steps, const HigherOrderShape& shape, const std::int64_t* words,
              std::int64_t length, const double* slopes, double epsilon, Random& random,
              Numbers& gradient) {
  const RowKernel rows = kernel_for<RowKernel>(current_isa());
  const auto size = shape.packed();
  const std::int64_t made = shape.passes * shape.hidden_size();  // numbers per symbol
  Numbers b(size), direct(b.size()), moved, hiddens, signs;
  Numbers a(steps.state_size());
  const StopCheck stop;
  for (std::int64_t t = 0; t < length; ++t) {
    stop();
    steps.read(words[t]);
    const double* slope = slopes + t * made;
    steps.push_forward(a, moved, hiddens);
    double along = 0;
    for (std::int64_t i = 0; i < made; ++i) along += slope[i] * hiddens[i];
    rows.add_multiple(gradient.data(), b.data(), along, size);
    steps.pull_back(nullptr, slope, gradient.data());
    if (t + 1 == length) break;

    signs.resize(moved.size());
    for (double& sign : signs) sign = random.next() >> 63 != 0 ? 1.0 : -1.0;
    // Touches only what the step uses.
    steps.visit_used([&](std::int64_t first, std::int64_t count) {
      std::fill_n(direct.begin() + first, count, 0.0);
    });
    steps.pull_back(signs.data(), nullptr, direct.data());
    double of_direct = 0;
    steps.visit_used([&](std::int64_t first, std::int64_t count) {
      of_direct += rows.square_sum(direct.data() + first, count);
    });
    const auto norm_of = [&](const Numbers& values) {
      return std::sqrt(rows.square_sum(values.data(), std::ssize(values)));
    };
    const double r0 = std::sqrt((norm_of(b) + epsilon) / (norm_of(moved) + epsilon));
    const double r1 = std::sqrt((std::sqrt(of_direct) + epsilon) / (norm_of(signs) + epsilon));
    a.resize(moved.size());
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = moved[i] * r0 + signs[i] * r1;
    rows.scale(b.data(), 1 / r0, size);
    steps.visit_used([&](std::int64_t first, std::int64_t count) {
      rows.add_multiple(b.data() + first, direct.data() + first, 1 / r1, count);
    });
  }
}

}  // namespace

ValidityLosses unbiased_online_fast(const Recognizer& model, const Objective& objective,
                                    const StringBatch& batch, const HigherOrderNetwork& network,
                                    double epsilon, Random& random) {
  const auto& [shape, parameters] = network;
  ParameterList trained;
  for (const Tensor& parameter : parameters) trained.emplace_back("", parameter);
  const Tensor words = model.input(batch.words).contiguous();
  const auto count = words.size(0), length = words.size(1);
  const Tensor weights = flattened(parameters).detach().to(at::kDouble);
  const Numbers packed = pack_parameters(shape, weights.data_ptr<double>());
  const HigherOrderSteps begin(shape, packed.data());
  const auto* symbols = words.data_ptr<std::int64_t>();
  const auto made = shape.passes * shape.hidden_size();

  // One more row, as in Pass.
  Tensor hiddens = at::zeros({count, length * shape.passes + 1, shape.hidden_size()}, at::kDouble);
  const auto row = hiddens.stride(0), first = shape.hidden_size();
  double* const values = hiddens.data_ptr<double>();
  parallel_for(count, [&](std::int64_t b) {
    HigherOrderSteps steps = begin;
    const StopCheck stop;
    for (std::int64_t t = 0; t < length; ++t) {
      stop();
      steps.read(symbols[b * length + t]);
      steps.hiddens(values + b * row + first + t * made);
    }
  });
  Tensor slopes;
  const auto found = backpropagate(
      model, objective, batch,
      Pass{hiddens.to(parameters.front().scalar_type()), {}, [&](const Tensor& given) {
             slopes = given.to(at::kDouble).contiguous();
           }});

  std::vector<Random> streams;
  for (std::int64_t b = 0; b < count; ++b) streams.emplace_back(random.next(), "string");
  std::vector<Numbers> gradients(count);
  parallel_for(count, [&](std::int64_t b) {
    const auto i = static_cast<std::size_t>(b);
    gradients[i].resize(packed.size());
    estimate(begin, shape, symbols + b * length, length,
             slopes.data_ptr<double>() + b * row + first, epsilon, streams[i], gradients[i]);
  });
  Tensor sum = at::zeros_like(weights);
  for (std::size_t i = 1; i < gradients.size(); ++i)
    for (std::size_t k = 0; k < packed.size(); ++k) gradients[0][k] += gradients[i][k];
  add_unpacked(shape, gradients[0], sum.data_ptr<double>());
  FlatParameters(trained).add_gradient(sum.to(parameters.front().options().requires_grad(false)),
                                       1);
  return found;
}

}  // namespace pushdown
