// The tapes of the Tape-RNN (Delétang et al. 2023; its program, google-deepmind/
// neural_networks_chomsky_hierarchy, models/tape_rnn.py): K tapes of N cells with vectors of size
// m, each closed to a ring and initially zero. Cell 0 is under the head and is read. A step writes
// a vector v to cell 0 and then mixes what five moves of the tape give:
//   M[0] <- v
//   M <- a_0 M + a_1 left(M) + a_2 right(M) + a_3 left^L(M) + a_4 right^L(M)
// left: new[i] = M[i+1 mod N]; right is its inverse; L is the length of the input. Each tape has
// its own actions and its own part of v:
//   a = softmax(W_a h + b_a),   v = W_v g + b_v,   g = relu(W_2 relu(W_1 h + b_1) + b_2)
// with as many layers in g as the option write_layers says. Cost O(N K m) per step.
//
// L is the length of the source of each pair for a transducer, which says it by with_sources().
// Elsewhere it is the option `jump`, and with 0 jumps stay.
#include "base/check.h"
#include "stack/kinds.h"
#include "stack/stack_trace.h"

namespace pushdown {
namespace {

constexpr std::int64_t kTapeMoves = 5;
constexpr auto kTape = "stack.tape";

// cells : B x N x W, actions : B x K x 5, vectors : B x W, jumps : B (int64) -> B x N x W
Tensor tape_step(const Tensor& cells, const Tensor& actions, const Tensor& vectors,
                 const Tensor& jumps) {
  const auto count = cells.size(1), width = cells.size(2);
  const Tensor written = at::cat({vectors.unsqueeze(1), cells.narrow(1, 1, count - 1)}, 1);
  // Each B x 1 x W.
  const auto weight = actions.repeat_interleave(width / actions.size(1), 1).unsqueeze(1).unbind(3);
  const auto jumped = [&](const Tensor& distance) {
    const Tensor from = (at::arange(count, jumps.options()) + distance.unsqueeze(1))
                            .remainder(count)
                            .unsqueeze(2)
                            .expand({-1, -1, width});
    return written.gather(1, from);
  };
  return weight[0] * written + weight[1] * at::roll(written, -1, 1) +
         weight[2] * at::roll(written, 1, 1) + weight[3] * jumped(jumps) +
         weight[4] * jumped(-jumps);
}

struct RingState : StackState {
  Tensor cells;  // B x N x W
  Tensor jumps;  // B, int64

  RingState(Tensor cells, Tensor jumps) : cells(std::move(cells)), jumps(std::move(jumps)) {}
  StackStatePtr detached() const override {
    return std::make_shared<RingState>(cells.detach(), jumps);
  }
  std::size_t bytes() const override { return tensor_bytes(cells) + tensor_bytes(jumps); }
  std::vector<Tensor> tensors() const override { return {cells}; }
  StackStatePtr with_tensors(const std::vector<Tensor>& given) const override {
    check_state_tensors(kTape, {cells}, given);
    return std::make_shared<RingState>(given[0], jumps);
  }
};
const RingState& tape_of(const StackStatePtr& state) {
  return static_cast<const RingState&>(*state);
}

class Tape : public MemoryStack, public TraceableStack {
 public:
  Tape(const Json& options, const ModuleContext& context)
      : tapes_(options["tapes"]),
        cells_(options["cells"]),
        size_(tapes_ * options["size"].get<std::int64_t>()),
        jump_(options["jump"]),
        options_(context.tensor_options),
        action_(make_action_layer("action", tapes_ * kTapeMoves, 1.0, context, parameters_)) {
    check(size_ <= 1 << 16, kTape, "tapes x size must be at most 65536 numbers, got {} x {}",
          tapes_, size_ / tapes_);
    ModuleContext below = context;
    for (const Json& layer : options["write_layers"]) {
      check(layer.is_number_integer() && layer >= 1 && layer <= 1 << 16, kTape,
            "option 'write_layers' must be a list of integers from 1 to 65536, got {}",
            options["write_layers"].dump());
      write_.push_back(make_action_layer(fmt::format("write{}", write_.size() + 1), layer, 1.0,
                                         below, parameters_));
      below.input = layer;
    }
    write_.push_back(make_action_layer("vector", size_, 1.0, below, parameters_));
  }

  std::int64_t reading_size() const override { return size_; }
  StackStatePtr initial(std::int64_t batch, std::int64_t) const override {
    return std::make_shared<RingState>(
        at::zeros({batch, cells_, size_}, options_),
        at::full({batch}, jump_, at::TensorOptions(options_.device()).dtype(at::kLong)));
  }
  StackStatePtr with_sources(const StackStatePtr& state, const Tensor& sources) const override {
    return std::make_shared<RingState>(tape_of(state).cells, sources.to(options_.device()));
  }
  StackStatePtr update(const StackStatePtr& state, const Tensor& hidden) const override {
    const RingState& old = tape_of(state);
    return std::make_shared<RingState>(
        tape_step(old.cells, by_tape(shares(hidden)), vectors(hidden), old.jumps), old.jumps);
  }
  Tensor reading(const StackStatePtr& state) const override {
    return tape_of(state).cells.select(1, 0);
  }
  // Cell 0 is the head, so cells that move to the left move the head up the tape.
  StackTrace trace(const Tensor& hiddens) const override {
    const auto far = static_cast<double>(jump_);
    return head_trace({"stay", "left", "right", "jump left", "jump right"},
                      by_tape(shares(hiddens)), {0, 1, -1, far, -far});
  }

 protected:
  TracedNoOp drive(StepTrace& trace, const Traced& hidden, const Traced& reading,
                   const StackRequest& request) const override {
    MemoryShape memory;
    memory.kind = MemoryKind::shifted;
    memory.steps = request.steps;
    ShiftedShape& shape = memory.shifted;
    shape.kind = ShiftedKind::ring;
    shape.size = size_;
    shape.memories = tapes_;
    shape.limit = cells_;
    shape.jump = jump_;
    std::vector<Traced> actions{shares(hidden), vectors(hidden)};
    const Tensor jumps = request.from != nullptr ? tape_of(request.from).jumps : request.sources;
    if (jumps.defined()) {
      shape.jump = -1;
      actions.push_back(trace.sequence(jumps.to(options_)
                                           .view({request.batch, 1, 1})
                                           .expand({-1, request.steps, -1})
                                           .contiguous()));
    }
    trace.drive(reading, joined(actions), memory);
    return {};
  }
  HeldMemory held(const StackStatePtr& state) const override {
    return {at::constant_pad_nd(tape_of(state).cells, {0, 0, 0, 1}).flatten(1), cells_};
  }
  std::int64_t held_size(std::int64_t) const override { return (cells_ + 1) * size_; }
  StackStatePtr after_held(const StackStatePtr& old, const Tensor& numbers,
                           std::int64_t) const override {
    return std::make_shared<RingState>(
        numbers.view({numbers.size(0), cells_ + 1, size_}).narrow(1, 0, cells_),
        tape_of(old).jumps);
  }

 private:
  // hidden : B x H -> B x 5K
  Tensor shares(const Tensor& hidden) const {
    return by_tape(action_(hidden)).softmax(2).flatten(1);
  }
  Traced shares(const Traced& hidden) const {
    return action_(hidden).softmax_of_groups(kTapeMoves);
  }
  // B x 5K -> B x K x 5
  Tensor by_tape(const Tensor& all) const { return all.view({all.size(0), tapes_, kTapeMoves}); }
  template <class V>
  V vectors(const V& hidden) const {
    V vector = hidden;
    for (std::size_t k = 0; k + 1 < write_.size(); ++k) vector = write_[k](vector).relu();
    return write_.back()(vector);
  }

  std::int64_t tapes_, cells_, size_, jump_;
  at::TensorOptions options_;
  ActionLayer action_;
  std::vector<ActionLayer> write_;  // the last one gives v
};

std::vector<OptionSpec> tape_options() {
  return {integer_option("tapes", 1, "number K of tapes", 1).between(1, 1 << 10).trying(2),
          integer_option("cells", 104, "number N of cells of a tape", 1)
              .between(1, 1 << 20)
              .in_small(7)
              .trying(2),
          integer_option("jump", 0,
                         "distance L of the jumps in models other than transducers, in which it "
                         "is the length of the source; 0: jumps stay",
                         0)
              .between(0, 1 << 20)
              .trying(3)};
}

Tensor simulate_tape(const Json& options, const NamedTensors& inputs) {
  const auto tapes = options["tapes"].get<std::int64_t>();
  const Tensor actions = simulate_input("tape", inputs, "actions", {-1, -1, tapes * kTapeMoves});
  const auto batch = actions.size(0), length = actions.size(1);
  const Tensor vectors = simulate_input("tape", inputs, "vectors", {batch, length, -1});
  const auto width = vectors.size(2);
  check(width % tapes == 0, "stack.simulate tape",
        "'vectors' must have as many numbers for each of the {} tapes, got {}", tapes, width);
  const auto count = options["cells"].get<std::int64_t>();
  const Tensor jumps = at::full({batch}, options["jump"].get<std::int64_t>(),
                                at::TensorOptions(vectors.device()).dtype(at::kLong));
  Tensor cells = at::zeros({batch, count, width}, vectors.options());
  std::vector<Tensor> readings{cells.select(1, 0)};
  for (std::int64_t t = 0; t < length; ++t) {
    cells = tape_step(cells, actions.select(1, t).view({batch, tapes, kTapeMoves}),
                      vectors.select(1, t), jumps);
    readings.push_back(cells.select(1, 0));
  }
  return at::stack(readings, 1);
}

}  // namespace

StackKind tape_stack() {
  StackKind kind;
  kind.name = "tape";
  kind.doc = "Tapes that move by a cell or jump by the length of the input (Deletang et al. 2023).";
  kind.options = tape_options();
  kind.options.insert(
      kind.options.begin(),
      {integer_option("size", 8, "size m of the vector in a cell", 1)
           .between(1, 1 << 16)
           .in_small(3)
           .trying(17),
       list_option("write_layers", Json::array({64, 64}),
                   "sizes of the layers before the one that gives the written vector")
           .in_small(Json::array({5}))
           .trying(Json::array())
           .trying(Json::array({4, 6}))});
  kind.make = [](const Json& options, const ModuleContext& context) -> StackPtr {
    return std::make_shared<Tape>(options, context);
  };
  kind.inputs = {{"actions",
                  "B x n x 5K: weights of stay, left, right, jump left and jump right, tape by "
                  "tape"},
                 {"vectors", "B x n x Km: the written vectors, tape by tape"}};
  kind.simulate_options = tape_options();
  kind.simulate = simulate_tape;
  return kind;
}

}  // namespace pushdown
