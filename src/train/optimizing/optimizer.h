// Gradient descent methods in one registry. All update a parameter p from its gradient g and a few
// slots (running sums of p's shape, initially zero) at the learning rate r:
//   sgd      b = momentum b + g;                        p -= r b   (nesterov: r (g + momentum b))
//   rmsprop  s = a s + (1 - a) g^2;                     p -= r g / (sqrt(s) + epsilon)
//            with momentum: b = momentum b + g / (sqrt(s) + epsilon), p -= r b
//   adam     m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2 (Kingma and Ba, 2015), step t = 1, 2,
//   ..
//            p -= r / (1 - b1^t) m / (sqrt(v / (1 - b2^t)) + epsilon)
//   adamw    as adam, after p -= r w p with the weight decay w (Loshchilov and Hutter, 2019)
// For all others, weight_decay w first adds w p to g. The formulas are those of PyTorch's
// optimizers of these names.
//
// On the CPU, each method is one pass over the numbers. Elsewhere, and as the reference definition
// in tests, it is a short composition of tensor operations.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/registry.h"
#include "tensor/torch.h"

namespace pushdown {

class Optimizer {
 public:
  enum class Path { fastest, composite };

  virtual ~Optimizer() = default;

  // Updates every parameter that has a gradient.
  void step(Path path = Path::fastest);
  // Makes one update of M optimizers of the same kind and options (except learning rates), which
  // have made the same number of steps and whose parameters have the same shapes. gradients : M x
  // ... for each parameter, rates : M. Parameters and slots become rows of common memory, so that
  // the number of operations does not depend on M.
  static void step_together(const std::vector<Optimizer*>& optimizers,
                            const std::vector<Tensor>& gradients, const std::vector<double>& rates);

  std::int64_t steps() const { return steps_; }
  double learning_rate() const { return learning_rate_; }
  void set_learning_rate(double rate) { learning_rate_ = rate; }

  // Everything that the next step depends on except the parameters, the gradients and the learning
  // rate: "steps" (int64) and "<slot>.<parameter>". set_state() copies; throws
  // std::invalid_argument for a missing, unknown or wrongly shaped tensor.
  ParameterList state() const;
  void set_state(const ParameterList& state);

 protected:
  using Slots = std::vector<Tensor>;

  // `decoupled`: weight decay is applied to the parameters themselves, not through the gradient.
  Optimizer(const ParameterList& parameters, const Json& options, std::vector<std::string> slots,
            bool decoupled = false);

  // Updates one parameter; the gradient includes the weight decay. May assume contiguous tensors of
  // float or double on the CPU.
  virtual void update(Tensor& parameter, const Tensor& gradient, Slots& slots) = 0;
  // Returns the decrease of the parameter divided by the learning rate, by elementwise tensor
  // operations.
  virtual Tensor direction(const Tensor& gradient, Slots& slots) = 0;

 private:
  ParameterList parameters_;
  std::vector<std::string> slot_names_;
  std::vector<Slots> slots_;  // one list per parameter
  double learning_rate_ = 0;
  double weight_decay_ = 0;
  bool decoupled_;
  std::int64_t steps_ = 0;
};
using OptimizerPtr = std::unique_ptr<Optimizer>;

using OptimizerKind = RegistryRow<OptimizerPtr (*)(const ParameterList&, const Json& options)>;

const std::vector<OptimizerKind>& optimizer_kinds();

// Returns {kind = 'adam', learning_rate = 0.005} with all defaults; the default kind is adam.
Json resolve_optimizer(const Json& options);
OptimizerPtr make_optimizer(const ParameterList& parameters, const Json& options);

}  // namespace pushdown
