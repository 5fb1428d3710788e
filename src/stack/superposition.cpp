// Superposition stack (Joulin and Mikolov 2015) over vectors of size m. With the probabilities of
// push, pop and no_op, every cell becomes the mixture of the results of the three actions:
//   new[d] = push old[d-1] + pop old[d+1] + no_op old[d],   old[-1] = pushed vector,
// with zeros below the deepest cell. The reading is the top cell new[0], and 0 before any step.
// With a limited depth, the lowest cell is lost when all move down, and 0 moves up from below it.
// Controller interface of DuSell and Chiang (2020), section 5.4: one stack, biases, no_op allowed,
//   (push, pop, no_op) = softmax((W_a h + b_a) / T),   pushed vector = sigmoid(W_v h + b_v),
// with the temperature T = 1. With size = 5, no_op = false and depth = 104 it is the stack of
// Suzgun et al. (2019), "Stack-RNN + softmax", where a linear map of the reading is added to the
// controller's old hidden vector: coupling 'state' in model/stack_rnn.h. Their program lowers T
// during training; here it is constant. Cost O(n m) per step.
//
// K stacks side by side have their own actions, and their own parts of the pushed vector and of the
// reading, W = K m numbers. In the program of Delétang et al. (2023), models/stack_rnn.py, one
// softmax gives the weights of the actions of all stacks (joint), so that with K > 1 the weights of
// one stack add up to less than 1 and its cells fade; its pushed vector is linear.
#include "base/check.h"
#include "stack/kinds.h"
#include "stack/stack_trace.h"

namespace pushdown {
namespace {

// cells : B x D x W, actions : B x K x A (push, pop, perhaps no_op), vector : B x W
// -> B x (D+1) x W, or B x limit x W where that would be deeper (0: no limit)
Tensor superposition_step(const Tensor& cells, const Tensor& actions, const Tensor& vector,
                          std::int64_t limit) {
  const Tensor padded = at::constant_pad_nd(cells, {0, 0, 0, 2});  // B x (D+2) x W
  const auto grown = cells.size(1) + 1, depth = limit > 0 ? std::min(grown, limit) : grown;
  const Tensor below = padded.narrow(1, 1, depth), same = padded.narrow(1, 0, depth);
  const Tensor above = at::cat({vector.unsqueeze(1), cells}, 1).narrow(1, 0, depth);
  // Each B x 1 x W.
  const auto weight =
      actions.repeat_interleave(vector.size(1) / actions.size(1), 1).unsqueeze(1).unbind(3);
  const Tensor moved = weight[0] * above + weight[1] * below;
  return weight.size() == 3 ? moved + weight[2] * same : moved;
}

// actions : B x n x K x A, vectors : B x n x W -> the readings after 0 .. n steps : B x (n+1) x W
Tensor superposition_readings(Tensor cells, const Tensor& actions, const Tensor& vectors,
                              std::int64_t limit) {
  std::vector<Tensor> readings{cells.select(1, 0)};
  for (std::int64_t t = 0; t < actions.size(1); ++t) {
    cells = superposition_step(cells, actions.select(1, t), vectors.select(1, t), limit);
    readings.push_back(cells.select(1, 0));
  }
  return at::stack(readings, 1);
}

struct SuperpositionState : StackState {
  Tensor cells;  // B x D x W, top first

  explicit SuperpositionState(Tensor given) : cells(std::move(given)) {}
  StackStatePtr detached() const override {
    return std::make_shared<SuperpositionState>(cells.detach());
  }
  std::size_t bytes() const override { return tensor_bytes(cells); }
  std::vector<Tensor> tensors() const override { return {cells}; }
  StackStatePtr with_tensors(const std::vector<Tensor>& given) const override {
    check_state_tensors("stack.superposition", {cells}, given);
    return std::make_shared<SuperpositionState>(given[0]);
  }
};

class SuperpositionStack : public MemoryStack, public TraceableStack {
 public:
  SuperpositionStack(const Json& options, const ModuleContext& context)
      : stacks_(options["stacks"]),
        size_(stacks_ * options["size"].get<std::int64_t>()),
        limit_(options["depth"]),
        no_op_(options["no_op"]),
        joint_(options["joint_actions"]),
        temperature_(options["temperature"]),
        options_(context.tensor_options),
        action_(make_action_layer("action", stacks_ * count(), 1.0, context, parameters_,
                                  options["bias"])),
        vector_(options, size_, context, parameters_) {
    check(size_ <= 1 << 16, "stack.superposition",
          "stacks x size must be at most 65536 numbers, got {} x {}", stacks_, size_ / stacks_);
  }

  std::int64_t reading_size() const override { return size_; }
  StackStatePtr initial(std::int64_t batch, std::int64_t) const override {
    return std::make_shared<SuperpositionState>(at::zeros({batch, 1, size_}, options_));
  }
  StackStatePtr update(const StackStatePtr& state, const Tensor& hidden) const override {
    return std::make_shared<SuperpositionState>(
        superposition_step(static_cast<const SuperpositionState&>(*state).cells,
                           by_stack(shares(hidden)), vector_(hidden), limit_));
  }
  Tensor reading(const StackStatePtr& state) const override {
    return static_cast<const SuperpositionState&>(*state).cells.select(1, 0);
  }
  std::optional<NoOp> no_op(const Tensor& hidden) const override {
    if (!no_op_) return std::nullopt;
    return no_op_among(by_stack(shares(hidden)), 2);
  }
  StackTrace trace(const Tensor& hiddens) const override {
    return mixture_trace(by_stack(shares(hiddens)), limit_);
  }

 protected:
  TracedNoOp drive(StepTrace& trace, const Traced& hidden, const Traced& reading,
                   const StackRequest& request) const override {
    ShiftedShape shape;
    shape.memories = stacks_;
    shape.no_op = no_op_;
    shape.limit = limit_;
    const Traced weights = shares(hidden);
    record_shifted(trace, weights, vector_(hidden), reading, request.steps, shape);
    return no_op_ ? no_op_among(weights, count(), 2) : TracedNoOp{};
  }
  HeldMemory held(const StackStatePtr& state) const override {
    const Tensor& cells = static_cast<const SuperpositionState&>(*state).cells;
    return {at::constant_pad_nd(cells, {0, 0, 0, 1}).flatten(1), cells.size(1)};
  }
  std::int64_t held_size(std::int64_t count) const override {
    return ((limit_ > 0 ? std::min(count, limit_) : count) + 1) * size_;
  }
  StackStatePtr after_held(const StackStatePtr&, const Tensor& numbers,
                           std::int64_t) const override {
    const auto rows = numbers.size(1) / size_;
    return std::make_shared<SuperpositionState>(
        numbers.view({numbers.size(0), rows, size_}).narrow(1, 0, rows - 1));
  }

 private:
  std::int64_t count() const { return no_op_ ? 3 : 2; }
  // hidden : B x H -> B x KA
  Tensor shares(const Tensor& hidden) const {
    const Tensor scores = action_(hidden) / temperature_;
    return joint_ ? scores.softmax(1) : by_stack(scores).softmax(2).flatten(1);
  }
  Traced shares(const Traced& hidden) const {
    const Traced scores = action_(hidden) * (1 / temperature_);
    return scores.softmax_of_groups(joint_ ? stacks_ * count() : count());
  }
  // B x KA -> B x K x A
  Tensor by_stack(const Tensor& all) const { return all.view({all.size(0), stacks_, count()}); }

  std::int64_t stacks_, size_, limit_;
  bool no_op_, joint_;
  double temperature_;
  at::TensorOptions options_;
  ActionLayer action_;
  PushedVector vector_;
};

std::vector<OptionSpec> structure_options() {
  return {integer_option("stacks", 1, "number K of stacks side by side", 1)
              .between(1, 1 << 10)
              .trying(2)
              .trying(9),
          boolean_option("no_op", true, "allow the action no_op"),
          integer_option("depth", 0, "maximum number of cells; 0: no limit", 0)
              .between(0, 1 << 30)
              .trying(2)};
}

Tensor simulate_superposition(const Json& options, const NamedTensors& inputs) {
  const std::int64_t stacks = options["stacks"], count = options["no_op"] ? 3 : 2;
  Tensor actions = simulate_input("superposition", inputs, "actions", {-1, -1, stacks * count});
  const auto batch = actions.size(0), length = actions.size(1);
  const Tensor vectors = simulate_input("superposition", inputs, "vectors", {batch, length, -1});
  check(vectors.size(2) % stacks == 0, "stack.simulate superposition",
        "'vectors' must have as many numbers for each of the {} stacks, got {}", stacks,
        vectors.size(2));
  actions = actions.view({batch, length, stacks, count});
  return superposition_readings(at::zeros({batch, 1, vectors.size(2)}, vectors.options()), actions,
                                vectors, options["depth"]);
}

}  // namespace

StackKind superposition_stack() {
  StackKind kind;
  kind.name = "superposition";
  kind.doc = "Superposition of push, pop and no-op over vector cells (Joulin and Mikolov 2015).";
  kind.options = pushed_vector_options();
  kind.options.insert(kind.options.begin(),
                      integer_option("size", 20, "size m of the vector in a cell", 1)
                          .between(1, 1 << 16)
                          .in_small(3)
                          .trying(17));
  for (const auto& option : structure_options()) kind.options.push_back(option);
  kind.options.push_back(
      boolean_option("joint_actions", false,
                     "one softmax over the actions of all stacks instead of one for each")
          .trying(true, {{"stacks", 2}}));
  kind.options.push_back(temperature_option());
  kind.make = [](const Json& options, const ModuleContext& context) -> StackPtr {
    return std::make_shared<SuperpositionStack>(options, context);
  };
  kind.inputs = {
      {"actions", "B x n x 3K: weights of push, pop and no_op, stack by stack; x 2K without no_op"},
      {"vectors", "B x n x Km: the pushed vectors, stack by stack"}};
  kind.simulate_options = structure_options();
  kind.simulate = simulate_superposition;
  return kind;
}

}  // namespace pushdown
