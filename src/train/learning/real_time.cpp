// Real-time recurrent learning (Williams and Zipser 1989; Mali et al. 2019, equations 10-12): the
// exact gradient, computed forward in time. With s' = f(s, theta) the step of one symbol, including
// all its K passes, the influence matrix J = ds/dtheta : S x N is carried along:
//   J' = (df/ds) J + df/dtheta,   J_0 = ds_0/dtheta
//   gradient = sum over the symbols of (dl/ds) J + dl/dtheta,
// where l are the losses of the symbol's passes as a function of the state before it. The rows of
// both Jacobians are computed by backpropagating through one symbol once for each number of the new
// state. S may change with the symbols, for example if a stack grows.
//
// Each string has its own matrix. Cost per symbol and string: S' backward passes through one step
// and S' S N multiply-adds; memory S N, whatever the string's length. This is feasible only for
// small networks.
#include "base/stopping.h"
#include "train/learning/learning_pieces.h"

namespace pushdown {
namespace {

// Returns the rows of d(outputs) / d(inputs) : S' x numbers of the inputs.
Tensor jacobian(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                at::TensorOptions options) {
  const auto columns = number_count(inputs);
  std::vector<Tensor> blocks;
  for (const Tensor& output : outputs) {
    if (!output.requires_grad()) {
      blocks.push_back(at::zeros({output.numel(), columns}, options));
      continue;
    }
    for (std::int64_t i = 0; i < output.numel(); ++i) {
      Tensor unit = at::zeros({output.numel()}, options);
      unit[i].fill_(1);
      blocks.push_back(
          flattened(pulled_back({output}, inputs, {unit.view_as(output)})).unsqueeze(0));
    }
  }
  return blocks.empty() ? at::zeros({0, columns}, options) : at::cat(blocks);
}

StringGradient real_time_gradient(const FlatParameters& parameters, const StringPieces& string,
                                  Random& random) {
  const auto options = parameters.tensors().front().options();
  const auto& theta = parameters.tensors();
  StringGradient result{at::zeros({parameters.size()}, options)};
  auto state = string.initial();
  auto verdict = string.verdict();
  Tensor influence = jacobian(state->tensors(), theta, options);  // S x N
  const StopCheck stop;
  for (std::int64_t t = 0; t < string.length(); ++t) {
    stop();
    const auto leaves = leaves_of(state);
    const auto size = number_count(leaves);
    std::vector<Tensor> inputs = leaves;
    inputs.insert(inputs.end(), theta.begin(), theta.end());
    const auto piece = string.read(t, 1, state->with_tensors(leaves), random);
    result.loss += piece.losses.item<double>();
    const Tensor slope =
        flattened(pulled_back({piece.losses}, inputs, {at::ones_like(piece.losses)}));
    result.gradient += slope.narrow(0, size, parameters.size());
    if (size > 0) result.gradient += at::mv(influence.t(), slope.narrow(0, 0, size));
    verdict.add(piece.scores, piece.weights);
    if (t + 1 == string.length()) {
      result.score = verdict.values().front();
      break;
    }
    const Tensor both = jacobian(piece.state->tensors(), inputs, options);
    influence =
        both.narrow(1, size, parameters.size()) + at::mm(both.narrow(1, 0, size), influence);
    state = piece.state;
  }
  return result;
}

class RealTime : public LearningAlgorithm {
 public:
  ValidityLosses gradient(const Recognizer& model, const Objective& objective,
                          const StringBatch& batch, Random& random) const override {
    const Route route = route_of(model, objective, batch, random, "rtrl");
    if (const auto* kernel = std::get_if<ByKernel>(&route)) return kernel->differentiate();
    const StringPieces pieces(model, objective, batch);
    // If nothing is read, there is no state to carry along.
    if (pieces.length() == 0) return backpropagate(model, objective, batch, random);
    const FlatParameters parameters(model.parameters());
    return string_by_string(parameters, pieces, random,
                            [&](const StringPieces& string, Random& stream) {
                              return real_time_gradient(parameters, string, stream);
                            });
  }
};

}  // namespace

LearningKind real_time_learning() {
  return {"rtrl",
          "Real-time recurrent learning: the exact gradient, computed forward in time.",
          {},
          [](const Json&) -> LearningPtr { return std::make_unique<RealTime>(); }};
}

}  // namespace pushdown
