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
// On the CPU, each method is one pass over the numbers. Several optimizers on a device make their
// steps in one launch (optimizer_rows.h). Elsewhere, and as the reference definition in tests, a
// method is a short composition of tensor operations.
//
// Of a large table, an update may change only the rows that it uses (used_rows.h). The other rows
// have the gradient zero, and make up for their steps later, one by one, with the numbers that they
// would have had: the result is the same bit for bit, whenever catch_up() is called. A row whose
// slots are all zero has nothing to make up for.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/registry.h"
#include "kernel/update/optimizer_rules.h"
#include "tensor/torch.h"
#include "train/optimizing/used_rows.h"

namespace pushdown {

class OptimizerRows;

class Optimizer {
 public:
  enum class Path { fastest, composite };

  virtual ~Optimizer() = default;

  // Updates every parameter that has a gradient.
  void step(Path path = Path::fastest) { step({}, path); }
  // Updates only the used rows of these tables, whose gradients are zero in the others. Before
  // anything but a pass over the symbols of the next `used` rows reads the tables, catch_up() must
  // be called. Requires lazy().
  void step(const UsedRows& used, Path path = Path::fastest);
  // Returns whether a zero gradient changes nothing in a row whose slots are zero.
  bool lazy() const { return weight_decay_ == 0 && rests(); }
  // Makes the steps that rows have missed, of all tables or of the used rows alone.
  void catch_up();
  void catch_up(const UsedRows& used);
  std::int64_t steps() const { return steps_; }
  double learning_rate() const { return learning_rate_; }
  void set_learning_rate(double rate) { learning_rate_ = rate; }

  // Everything that the next step depends on except the parameters, the gradients and the learning
  // rate: "steps" (int64) and "<slot>.<parameter>", after catch_up(). set_state() copies; throws
  // std::invalid_argument for a missing, unknown or wrongly shaped tensor.
  ParameterList state() const;
  void set_state(const ParameterList& state);

 protected:
  using Slots = std::vector<Tensor>;

  // `decoupled`: weight decay is applied to the parameters themselves, not through the gradient.
  Optimizer(const ParameterList& parameters, const Json& options, std::vector<std::string> slots,
            bool decoupled = false);

  // Consecutive numbers of a parameter, contiguous on the CPU. The gradient includes the weight
  // decay.
  template <class T>
  struct Run {
    T* parameter;
    const T* gradient;
    std::array<T*, 2> slots;  // null if there are fewer
    std::int64_t count;
  };
  // The numbers by which a step differs from others.
  using Factors = StepFactors;
  virtual Factors factors(double learning_rate) const { return {learning_rate, 1}; }
  // The method and its own options.
  virtual OptimizerMethod method() const = 0;
  virtual void update(const Run<float>& run, const Factors& factors) const = 0;
  virtual void update(const Run<double>& run, const Factors& factors) const = 0;
  // Makes steps with the gradient zero; `falling`: see AdamKernel and falls().
  virtual void rest(const Run<float>& run, std::span<const Factors> steps,
                    std::int64_t falling) const = 0;
  virtual void rest(const Run<double>& run, std::span<const Factors> steps,
                    std::int64_t falling) const = 0;
  // Returns whether, with the gradient zero, the second of two consecutive steps cannot change a
  // number by more than the first one.
  virtual bool falls(const Factors& first, const Factors& second) const { return false; }
  // Returns whether p remains what it is if the gradient and all slots are zero.
  virtual bool rests() const = 0;
  // Returns the decrease of the parameter divided by the learning rate, by elementwise tensor
  // operations.
  virtual Tensor direction(const Tensor& gradient, Slots& slots) = 0;

 private:
  friend OptimizerRows;
  // The steps that the rows of a table have made.
  struct Table {
    std::int64_t size = 0;           // of a row
    std::vector<std::int64_t> made;  // for each row; empty: all of them, in every row
    std::vector<char> resting;       // whether its slots are zero
  };
  bool plain(std::size_t i) const;  // whether there are loops for parameter i
  template <class T>
  Run<T> run_of(std::size_t i, std::int64_t first, std::int64_t count) const;
  template <class T>
  void update(std::size_t i, const Tensor& gradient, const UsedRows::Rows* rows,
              const Factors& now);
  void begin_table(std::size_t i, std::int64_t size);
  void leave_table(std::size_t i);  // all its rows make the next step
  template <class T>
  bool rests(std::size_t i, std::int64_t row) const;
  void catch_up(std::size_t i, const std::vector<std::int64_t>* rows);  // null: all
  template <class T>
  void make_up(std::size_t i, std::int64_t row, std::span<const Factors> steps) const;

  ParameterList parameters_;
  std::vector<std::string> slot_names_;
  std::vector<Slots> slots_;     // one list per parameter
  std::vector<Table> tables_;    // the same
  std::vector<Factors> latest_;  // the steps that some rows may have missed
  std::int64_t falling_ = 0;     // how many of the last ones fall
  double learning_rate_ = 0;
  double weight_decay_ = 0;
  bool decoupled_;
  std::int64_t steps_ = 0;
};
using OptimizerPtr = std::unique_ptr<Optimizer>;

using OptimizerKind = RegistryRow<OptimizerPtr (*)(const ParameterList&, const Json& options)>;

const std::vector<OptimizerKind>& optimizer_kinds();

// Throws std::invalid_argument if a positive number would be infinite, or 0 like a denormal one, in
// the parameters' type.
void check_number(std::string_view where, const std::string& option, double value,
                  const ParameterList& parameters);

// Returns {kind = 'adam', learning_rate = 0.005} with all defaults; the default kind is adam.
Json resolve_optimizer(const Json& options);
OptimizerPtr make_optimizer(const ParameterList& parameters, const Json& options);

}  // namespace pushdown
