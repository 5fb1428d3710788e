// As a stack of a controller, the analog stack has a one-dimensional action layer and pushes a
// mixture of symbols:
//   A = tanh(W_a h + b_a), no action if |A| <= epsilon;   v = softmax(W_v h + b_v).
// A pop of more than the stack contains empties it. b_a starts at 1 +- 0.1, so that the first
// actions are pushes.
#include "stack/analog_stack.h"

#include "base/check.h"
#include "stack/kinds.h"
#include "stack/stack_trace.h"

namespace pushdown {

AnalogStack empty_analog_stack(std::int64_t batch, std::int64_t symbols,
                               at::TensorOptions options) {
  return {at::zeros({batch, 0, symbols}, options), at::zeros({batch, 0}, options)};
}

namespace {

// Shorter sections are rounding residues of a section that was popped.
constexpr double kRounding = 1e-6;
// Initial bias of the action layer. A pop from an empty stack has no gradient, so training starts
// with pushes.
constexpr double kInitialBias = 1;

// sum_{j>i} s_j for every section i : B x t
Tensor length_above(const Tensor& lengths) {
  const Tensor from_top = at::constant_pad_nd(lengths, {0, 1}).flip(1).cumsum(1).flip(1);
  return from_top.narrow(1, 1, lengths.size(1));
}

// Returns how much of each section lies in the window : B x t
Tensor window_shares(const Tensor& lengths) {
  const Tensor room = (1 - length_above(lengths)).relu();
  return at::where(lengths <= room, lengths, room);
}

// Returns the vector of the first section for which `in` is true, 0 if there is none. in : B x t ->
// B x V
Tensor first_vector(const Tensor& vectors, const Tensor& in, bool from_top) {
  const Tensor mask = in.to(vectors.scalar_type());
  const Tensor count = from_top ? mask.flip(1).cumsum(1).flip(1) : mask.cumsum(1);
  const Tensor chosen = mask * (count == 1).to(vectors.scalar_type());
  return at::bmm(chosen.unsqueeze(1), vectors).squeeze(1);
}

}  // namespace

AnalogStack analog_step(const AnalogStack& stack, const Tensor& action, const Tensor& vector) {
  const Tensor pop = (-action).relu().unsqueeze(1);
  AnalogStack next = stack;
  if (stack.lengths.size(1) > 0)
    next.lengths = (stack.lengths - (pop - length_above(stack.lengths)).relu()).relu();
  if (!action.gt(0).any().item<bool>()) return next;
  next.lengths = at::cat({next.lengths, action.relu().unsqueeze(1)}, 1);
  next.vectors = at::cat({next.vectors, vector.unsqueeze(1)}, 1);
  return next;
}

Tensor analog_length(const AnalogStack& stack) { return stack.lengths.sum(1); }

Tensor analog_reading(const AnalogStack& stack) {
  return at::bmm(window_shares(stack.lengths).unsqueeze(1), stack.vectors).squeeze(1);
}

Tensor analog_window_ends(const AnalogStack& stack) {
  const Tensor lengths = stack.lengths.detach(), vectors = stack.vectors.detach();
  const Tensor top = first_vector(vectors, lengths > kRounding, true);
  const Tensor bottom = first_vector(vectors, window_shares(lengths) > kRounding, false);
  const Tensor full = lengths.sum(1, true) > 1 - kRounding;
  return top - bottom * full.to(bottom.scalar_type());
}

Tensor with_window_derivative(const Tensor& value, const AnalogStack& stack, const Tensor& action) {
  return value.detach() + analog_window_ends(stack) * (action - action.detach()).unsqueeze(1);
}

Tensor active_actions(const Tensor& action, double epsilon) {
  return at::where(action.abs() > epsilon, action, at::zeros_like(action));
}

Tensor with_bottom(const Tensor& reading) {
  return at::cat({reading, 1 - reading.sum(1, true)}, 1);
}

namespace {

struct AnalogState : StackState {
  AnalogStack stack;

  explicit AnalogState(AnalogStack given) : stack(std::move(given)) {}
  StackStatePtr detached() const override {
    return std::make_shared<AnalogState>(
        AnalogStack{stack.vectors.detach(), stack.lengths.detach()});
  }
  std::size_t bytes() const override {
    return tensor_bytes(stack.vectors) + tensor_bytes(stack.lengths);
  }
  std::vector<Tensor> tensors() const override { return {stack.vectors, stack.lengths}; }
  StackStatePtr with_tensors(const std::vector<Tensor>& given) const override {
    check_state_tensors("stack.analog", tensors(), given);
    return std::make_shared<AnalogState>(AnalogStack{given[0], given[1]});
  }
};

class AnalogStackKind : public Stack, public TraceableStack {
 public:
  AnalogStackKind(const Json& options, const ModuleContext& context)
      : size_(options["size"]),
        epsilon_(options["epsilon"]),
        bottom_(options["bottom_reading"]),
        options_(context.tensor_options),
        action_(make_action_layer("action", 1, 1.0, context, parameters_)),
        vector_(make_action_layer("vector", size_, 1.0, context, parameters_)) {
    at::NoGradGuard guard;
    action_.bias.add_(kInitialBias);
  }

  std::int64_t reading_size() const override { return size_ + (bottom_ ? 1 : 0); }
  StackStatePtr initial(std::int64_t batch, std::int64_t) const override {
    return std::make_shared<AnalogState>(empty_analog_stack(batch, size_, options_));
  }
  StackStatePtr update(const StackStatePtr& state, const Tensor& hidden) const override {
    const Tensor action = active_actions(action_(hidden).squeeze(1).tanh(), epsilon_);
    return std::make_shared<AnalogState>(
        analog_step(stack_of(state), action, vector_(hidden).softmax(1)));
  }
  Tensor reading(const StackStatePtr& state) const override {
    const Tensor read = analog_reading(stack_of(state));
    return bottom_ ? with_bottom(read) : read;
  }
  StackTrace trace(const Tensor& hiddens) const override {
    auto state = initial(1, hiddens.size(0));
    std::vector<Tensor> lengths;
    for (const Tensor& hidden : hiddens.split(1)) {
      state = update(state, hidden);
      lengths.push_back(analog_length(stack_of(state)));
    }
    return length_trace(lengths.empty() ? at::zeros({0, 1}, options_) : at::stack(lengths));
  }

 private:
  static const AnalogStack& stack_of(const StackStatePtr& state) {
    return static_cast<const AnalogState&>(*state).stack;
  }

  std::int64_t size_;
  double epsilon_;
  bool bottom_;
  at::TensorOptions options_;
  ActionLayer action_, vector_;
};

std::vector<OptionSpec> analog_options() {
  return {number_option("epsilon", 0.01, "actions of at most this absolute value do nothing")
              .between(0, 1)
              .trying(0),
          boolean_option("bottom_reading", false,
                         "read one more number: how much of the window is below the bottom")};
}

Tensor simulate_analog(const Json& options, const NamedTensors& inputs) {
  const Tensor vectors = simulate_input("analog", inputs, "vectors", {-1, -1, -1});
  const auto batch = vectors.size(0), length = vectors.size(1);
  const Tensor actions = active_actions(
      simulate_input("analog", inputs, "actions", {batch, length}), options["epsilon"]);
  const bool exact = options["stack_derivative"] == "exact";
  AnalogStack stack = empty_analog_stack(batch, vectors.size(2), vectors.options());
  std::vector<Tensor> readings{analog_reading(stack)};
  for (std::int64_t t = 0; t < length; ++t) {
    const Tensor action = actions.select(1, t);
    stack = analog_step(stack, action, vectors.select(1, t));
    const Tensor read = analog_reading(stack);
    readings.push_back(exact ? read : with_window_derivative(read, stack, action));
  }
  if (options["bottom_reading"])
    for (Tensor& read : readings) read = with_bottom(read);
  return at::stack(readings, 1);
}

}  // namespace

StackKind analog_stack() {
  StackKind kind;
  kind.name = "analog";
  kind.doc = "Sections of continuous length (Sun, Giles, Chen and Lee 1998).";
  kind.options = analog_options();
  kind.options.insert(kind.options.begin(), integer_option("size", 5, "number of symbols V", 1)
                                                .between(1, 1 << 16)
                                                .in_small(3)
                                                .trying(9));
  kind.make = [](const Json& options, const ModuleContext& context) -> StackPtr {
    return std::make_shared<AnalogStackKind>(options, context);
  };
  kind.inputs = {{"actions", "B x n: pushed length; a negative length pops"},
                 {"vectors", "B x n x V: the pushed symbols, one-hot or mixtures"}};
  kind.simulate_options = analog_options();
  kind.simulate_options.push_back(text_option("stack_derivative", "exact",
                                              "derivative of the readings: exact, or only that of "
                                              "the latest action, at both ends of the window",
                                              {"exact", "top_and_bottom"}));
  kind.simulate = simulate_analog;
  return kind;
}

}  // namespace pushdown
