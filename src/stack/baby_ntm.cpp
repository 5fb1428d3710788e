// The memory of the Baby Neural Turing Machine (Suzgun et al. 2019): a tape of N cells with vectors
// of size m, initially zero, of which cell 0 is read. A step mixes five operations and then adds
// its vector to cell 0, whatever the mixture:
//   M <- a_0 rotate_up(M) + a_1 rotate_down(M) + a_2 M + a_3 shift_down(M) + a_4 shift_up(M)
//   M[0] <- M[0] + v
// rotate_up: new[i] = M[i+1 mod N]; rotate_down is its inverse; shift_down: new[i+1] = M[i], new[0]
// = 0, the last cell is lost; shift_up: new[i] = M[i+1], new[N-1] = 0, cell 0 is lost. The order
// and the operations are those of the authors' program. Its action layers have biases:
//   a = softmax((W_a h + b_a) / T),   v = sigmoid(W_n h + b_n),   T = 1 unless an option sets it.
// In that program, a linear map of the reading is added to the controller's old hidden vector:
// coupling 'state' in model/stack_rnn.h. Cost O(N m) per step.
#include "base/check.h"
#include "stack/kinds.h"
#include "stack/stack_trace.h"

namespace pushdown {
namespace {

constexpr std::int64_t kOperations = 5, kNoOp = 2;

// cells : B x N x m, actions : B x 5, vector : B x m -> B x N x m
Tensor baby_ntm_step(const Tensor& cells, const Tensor& actions, const Tensor& vector) {
  const auto count = cells.size(1);
  const auto weight = actions.unsqueeze(2).unsqueeze(3).unbind(1);  // each B x 1 x 1
  const Tensor shift_down = at::constant_pad_nd(cells.narrow(1, 0, count - 1), {0, 0, 1, 0});
  const Tensor shift_up = at::constant_pad_nd(cells.narrow(1, 1, count - 1), {0, 0, 0, 1});
  return weight[0] * at::roll(cells, -1, 1) + weight[1] * at::roll(cells, 1, 1) +
         weight[2] * cells + weight[3] * shift_down + weight[4] * shift_up +
         at::constant_pad_nd(vector.unsqueeze(1), {0, 0, 0, count - 1});
}

struct TapeState : StackState {
  Tensor cells;  // B x N x m

  explicit TapeState(Tensor given) : cells(std::move(given)) {}
  StackStatePtr detached() const override { return std::make_shared<TapeState>(cells.detach()); }
  std::size_t bytes() const override { return tensor_bytes(cells); }
  std::vector<Tensor> tensors() const override { return {cells}; }
  StackStatePtr with_tensors(const std::vector<Tensor>& given) const override {
    check_state_tensors("stack.baby_ntm", {cells}, given);
    return std::make_shared<TapeState>(given[0]);
  }
};

class BabyNtm : public MemoryStack, public TraceableStack {
 public:
  BabyNtm(const Json& options, const ModuleContext& context)
      : cells_(options["cells"]),
        size_(options["size"]),
        temperature_(options["temperature"]),
        options_(context.tensor_options),
        action_(
            make_action_layer("action", kOperations, 1.0, context, parameters_, options["bias"])),
        vector_(options, size_, context, parameters_) {}

  std::int64_t reading_size() const override { return size_; }
  StackStatePtr initial(std::int64_t batch, std::int64_t) const override {
    return std::make_shared<TapeState>(at::zeros({batch, cells_, size_}, options_));
  }
  StackStatePtr update(const StackStatePtr& state, const Tensor& hidden) const override {
    return std::make_shared<TapeState>(baby_ntm_step(static_cast<const TapeState&>(*state).cells,
                                                     shares(hidden), vector_(hidden)));
  }
  Tensor reading(const StackStatePtr& state) const override {
    return static_cast<const TapeState&>(*state).cells.select(1, 0);
  }
  // The vector is added even then, but Suzgun et al. call the action no-op.
  std::optional<NoOp> no_op(const Tensor& hidden) const override {
    return no_op_among(shares(hidden), kNoOp);
  }
  // Cell 0 is the head, so cells that move up move the head down the tape.
  StackTrace trace(const Tensor& hiddens) const override {
    return head_trace({"rotate up", "rotate down", "no_op", "shift down", "shift up"},
                      shares(hiddens).unsqueeze(1), {1, -1, 0, -1, 1});
  }

 protected:
  TracedNoOp drive(StepTrace& trace, const Traced& hidden, const Traced& reading,
                   const StackRequest& request) const override {
    ShiftedShape shape;
    shape.kind = ShiftedKind::tape;
    shape.limit = cells_;
    const Traced weights = shares(hidden);
    record_shifted(trace, weights, vector_(hidden), reading, request.steps, shape);
    return no_op_among(weights, kOperations, kNoOp);
  }
  HeldMemory held(const StackStatePtr& state) const override {
    const Tensor& cells = static_cast<const TapeState&>(*state).cells;
    return {at::constant_pad_nd(cells, {0, 0, 0, 1}).flatten(1), cells_};
  }
  std::int64_t held_size(std::int64_t) const override { return (cells_ + 1) * size_; }
  StackStatePtr after_held(const StackStatePtr&, const Tensor& numbers,
                           std::int64_t) const override {
    return std::make_shared<TapeState>(
        numbers.view({numbers.size(0), cells_ + 1, size_}).narrow(1, 0, cells_));
  }

 private:
  template <class V>
  V shares(const V& hidden) const {
    return action_shares(action_, hidden, temperature_);
  }

  std::int64_t cells_, size_;
  double temperature_;
  at::TensorOptions options_;
  ActionLayer action_;
  PushedVector vector_;
};

OptionSpec cells_option() {
  return integer_option("cells", 104, "number N of cells on the tape", 1)
      .between(1, 1 << 20)
      .in_small(5)
      .trying(1);
}

Tensor simulate_baby_ntm(const Json& options, const NamedTensors& inputs) {
  const Tensor actions = simulate_input("baby_ntm", inputs, "actions", {-1, -1, kOperations});
  const auto batch = actions.size(0), length = actions.size(1);
  const Tensor vectors = simulate_input("baby_ntm", inputs, "vectors", {batch, length, -1});
  Tensor cells =
      at::zeros({batch, options["cells"].get<std::int64_t>(), vectors.size(2)}, vectors.options());
  std::vector<Tensor> readings{cells.select(1, 0)};
  for (std::int64_t t = 0; t < length; ++t) {
    cells = baby_ntm_step(cells, actions.select(1, t), vectors.select(1, t));
    readings.push_back(cells.select(1, 0));
  }
  return at::stack(readings, 1);
}

}  // namespace

StackKind baby_ntm_stack() {
  StackKind kind;
  kind.name = "baby_ntm";
  kind.doc = "A tape with rotate and shift operations (Suzgun et al. 2019).";
  kind.options = pushed_vector_options();
  kind.options.insert(
      kind.options.begin(),
      {cells_option(), integer_option("size", 5, "size m of the vector in a cell", 1)
                           .between(1, 1 << 16)
                           .in_small(3)
                           .trying(17)});
  kind.options.push_back(temperature_option());
  kind.make = [](const Json& options, const ModuleContext& context) -> StackPtr {
    return std::make_shared<BabyNtm>(options, context);
  };
  kind.inputs = {
      {"actions", "B x n x 5: weights of rotate up, rotate down, no_op, shift down, shift up"},
      {"vectors", "B x n x m: the vectors added to cell 0"}};
  kind.simulate_options = {cells_option()};
  kind.simulate = simulate_baby_ntm;
  return kind;
}

}  // namespace pushdown
