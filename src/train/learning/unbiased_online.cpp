// Unbiased online recurrent optimization (Tallec and Ollivier 2017; Mali et al. 2019, equations
// 13-15). It replaces the influence matrix of real-time recurrent learning by an unbiased estimate
// of rank one, ds/dtheta ~ a b^T with a : S and b : N. With s' = f(s, theta), every step draws
// random signs v : S', and
//   a' = r0 (df/ds) a + r1 v,   b' = b / r0 + v^T (df/dtheta) / r1,   a_0 = b_0 = 0,
//   r0 = sqrt((|b| + e) / (|(df/ds) a| + e)),   r1 = sqrt((|v^T df/dtheta| + e) / (|v| + e)),
//   gradient = sum over the steps of ((dl/ds) a) b + dl/dtheta,
// where l are the losses of a step as a function of the state before it. e is epsilon, which the
// authors' program adds and without which the first step is 0 / 0. The mean of v v^T is the
// identity and r1 does not change with the sign of v, so the mean is exact for any e. (df/ds) a is
// exact as well: it is computed by differentiating the backward pass once more, whereas the authors
// use finite differences. If the initial state depends on parameters, a and b start with v and v^T
// ds_0.
//
// `truncation`: the number of symbols of a step; within a step, gradients are computed as in bptt.
// `estimate`: one estimate for each string, or one for the batch, whose state consists of the
// states of all its strings. In the second case, a batch of B strings takes one pass instead of B,
// with a larger variance.
//
// Cost per step: three backward passes through it, S + N additions; memory S + N. Networks of
// higher order have a faster implementation for one estimate per string: unbiased_online_fast.cpp.
#include <cmath>

#include "tensor/backward.h"
#include "train/learning/learning_pieces.h"

namespace pushdown {
namespace {

double norm_of(const std::vector<Tensor>& tensors) {
  double sum = 0;
  for (const Tensor& tensor : tensors) sum += tensor.detach().square().sum().item<double>();
  return std::sqrt(sum);
}

Tensor signs_like(const Tensor& tensor, Random& random) {
  Tensor signs = at::empty(tensor.sizes(), at::kDouble);
  auto* values = signs.data_ptr<double>();
  for (std::int64_t i = 0; i < signs.numel(); ++i)
    values[i] = random.next() >> 63 != 0 ? 1.0 : -1.0;
  return signs.to(tensor.options());
}

// Returns (d outputs / d inputs) direction, one tensor per output.
std::vector<Tensor> pushed_forward(const std::vector<Tensor>& outputs,
                                   const std::vector<Tensor>& inputs,
                                   const std::vector<Tensor>& direction) {
  std::vector<Tensor> weights;
  for (const Tensor& output : outputs)
    weights.push_back(at::zeros_like(output.detach()).requires_grad_());
  // The inner result is linear in the weights, so their values do not matter.
  return pulled_back(pulled_back(outputs, inputs, weights, true), weights, direction);
}

// a : in the shapes of the state's tensors, b : in those of the parameters.
class RankOne {
 public:
  RankOne(double epsilon, const std::vector<Tensor>& theta) : epsilon_(epsilon), theta_(theta) {
    for (const Tensor& tensor : theta) b_.push_back(at::zeros_like(tensor.detach()));
  }

  // For the initial state, which has no previous state.
  void begin(const std::vector<Tensor>& state, Random& random) { step(state, {}, random); }

  void step(const std::vector<Tensor>& next, const std::vector<Tensor>& old, Random& random) {
    const auto moved = pushed_forward(next, old, a_);
    std::vector<Tensor> signs;
    for (const Tensor& tensor : next)
      // Constant tensors need no noise.
      signs.push_back(tensor.requires_grad() ? signs_like(tensor, random) : at::zeros_like(tensor));
    const auto direct = pulled_back(next, theta_, signs);
    const double r0 = std::sqrt((norm_of(b_) + epsilon_) / (norm_of(moved) + epsilon_));
    const double r1 = std::sqrt((norm_of(direct) + epsilon_) / (norm_of(signs) + epsilon_));
    a_.clear();
    for (std::size_t i = 0; i < next.size(); ++i) a_.push_back(moved[i] * r0 + signs[i] * r1);
    for (std::size_t i = 0; i < b_.size(); ++i) b_[i] = b_[i] / r0 + direct[i] / r1;
  }

  // Returns (slope a) b : N, with `slope` in the shapes of the state.
  Tensor along(const std::vector<Tensor>& slope) const {
    double product = 0;
    for (std::size_t i = 0; i < a_.size(); ++i) product += (slope[i] * a_[i]).sum().item<double>();
    return flattened(b_) * product;
  }

 private:
  double epsilon_;
  const std::vector<Tensor>& theta_;
  std::vector<Tensor> a_, b_;
};

class UnbiasedOnline : public LearningAlgorithm {
 public:
  UnbiasedOnline(const Json& options, bool fast)
      : fast_(fast),
        epsilon_(options["epsilon"]),
        truncation_(options["truncation"]),
        by_string_(options["estimate"] == "string"),
        usual_(epsilon_ == kEpsilon && truncation_ == 1 && by_string_) {}

  static constexpr double kEpsilon = 1e-5;

  ValidityLosses gradient(const Recognizer& model, const Objective& objective,
                          const StringBatch& batch, Random& random) const override {
    if (fast_ && truncation_ == 1 && by_string_) {
      const Route route = route_of(model, objective, batch, random, "uoro", 0, usual_);
      if (const auto* kernel = std::get_if<ByKernel>(&route)) return kernel->differentiate();
      if (const auto* network = std::get_if<HigherOrderNetwork>(&route))
        return unbiased_online_fast(model, objective, batch, *network, epsilon_, random);
    }
    const StringPieces pieces(model, objective, batch);
    if (pieces.length() == 0) return backpropagate(model, objective, batch, random);
    const FlatParameters parameters(model.parameters());
    if (by_string_)
      return string_by_string(
          parameters, pieces, random, [&](const StringPieces& string, Random& stream) {
            ValidityLosses values;
            const Tensor gradient = estimate(parameters, string, stream, values);
            return StringGradient{gradient, values.losses[0], values.scores[0]};
          });
    const at::AutoGradMode with_gradient(true);
    ValidityLosses values;
    const Tensor gradient = estimate(parameters, pieces, random, values);
    parameters.add_gradient(gradient, 1.0 / static_cast<double>(pieces.strings()));
    return values;
  }

 private:
  // Returns the estimate for the sum of the losses : N.
  Tensor estimate(const FlatParameters& parameters, const StringPieces& pieces, Random& random,
                  ValidityLosses& values) const {
    const auto& theta = parameters.tensors();
    Tensor gradient = at::zeros({parameters.size()}, theta.front().options());
    values.losses.assign(pieces.strings(), 0.0);
    auto state = pieces.initial();
    auto verdict = pieces.verdict();
    RankOne influence(epsilon_, theta);
    influence.begin(state->tensors(), random);
    for (std::int64_t first = 0; first < pieces.length(); first += truncation_) {
      const auto count = std::min(truncation_, pieces.length() - first);
      const auto leaves = leaves_of(state);
      const SecondDerivatives wanted;  // by pushed_forward()
      const auto piece = pieces.read(first, count, state->with_tensors(leaves), random);
      std::vector<Tensor> inputs = leaves;
      inputs.insert(inputs.end(), theta.begin(), theta.end());
      auto slope = pulled_back({piece.losses}, inputs, {at::ones_like(piece.losses)});
      const auto middle = slope.begin() + static_cast<std::ptrdiff_t>(leaves.size());
      gradient += influence.along({slope.begin(), middle});
      gradient += flattened({middle, slope.end()});
      const auto losses = numbers_of(piece.losses);
      for (std::size_t b = 0; b < losses.size(); ++b) values.losses[b] += losses[b];
      verdict.add(piece.scores, piece.weights);
      if (first + count < pieces.length()) influence.step(piece.state->tensors(), leaves, random);
      state = piece.state;
    }
    values.scores = verdict.values();
    return gradient;
  }

  bool fast_;
  double epsilon_;
  std::int64_t truncation_;
  bool by_string_, usual_;  // usual: with the settings of a network's own kernel
};

}  // namespace

LearningPtr unbiased_online_by_tensors(const Json& options) {
  return std::make_unique<UnbiasedOnline>(resolve_learning(options), false);
}

LearningKind unbiased_online_learning() {
  return {
      "uoro",
      "Unbiased online recurrent optimization: rtrl with a random rank-one estimate.",
      {number_option("epsilon", UnbiasedOnline::kEpsilon, "added to the norms in a quotient", 1e-30)
           .trying(1e-3),
       integer_option("truncation", 1, "number of symbols between two updates of the estimate", 1)
           .trying(2),
       text_option("estimate", "string", "one estimate for each string, or one for the batch",
                   {"string", "batch"})},
      [](const Json& options) -> LearningPtr {
        return std::make_unique<UnbiasedOnline>(options, true);
      }};
}

}  // namespace pushdown
