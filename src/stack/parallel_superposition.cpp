// Parallel stacks of scalars (Joulin and Mikolov 2015), the memory of their "Stack RNN 40+10".
// Stack k has its own actions and pushed value (parallel_actions.h). Every cell becomes the mixture
// of the results of push, pop and, if allowed, no_op:
//   new[d] = push old[d-1] + pop old[d+1] + no_op old[d],   old[-1] = pushed value.
// Cells that were never written contain `empty`, -1 in the authors' program. The reading consists
// of the top `read_depth` cells of every stack, 2 in the paper: K * read_depth numbers, stack by
// stack, the top first. The stacks have no bottom: the depth grows by one per step.
//
// With stacks = 1 and no_op it is the stack of the DiffStk networks (Mali et al. 2021, equations
// 5-7). Their equation 7 has no no_op term below the top, so that a no_op erodes these cells:
//   no_op_keeps = 'top'   new[0] as above,   new[d] = push old[d-1] + pop old[d+1] for d > 0.
// This then also applies to cells that were never written: d runs over all cells of an infinite
// stack that initially contains `empty` everywhere.
//
// In the first paper, a matrix P maps these cells into the sum under the controller's nonlinearity;
// here P is the part of the input weight that multiplies the reading. In the second paper, P acts
// on the old hidden vector instead: coupling 'state' in model/stack_rnn.h. Cost O(n K) per step.
#include "base/check.h"
#include "stack/parallel_actions.h"
#include "stack/stack_trace.h"

namespace pushdown {
namespace {

struct Structure {
  std::int64_t read_depth;
  double empty;
  bool no_op, worn;  // worn: no_op keeps only the top cell

  explicit Structure(const Json& options)
      : read_depth(options["read_depth"]),
        empty(options["empty"]),
        no_op(options["no_op"]),
        worn(no_op && options["no_op_keeps"] == "top") {}
};

// cells : B x K x D, actions : B x K x A (push, pop, perhaps no_op), values : B x K
// -> B x K x (D+1)
Tensor parallel_step(const Tensor& cells, const Tensor& actions, const Tensor& values,
                     const Structure& structure) {
  const auto depth = cells.size(2) + 1;
  // B x K x (D+2). If cells erode, the last one was never written and equals all cells below it.
  const Tensor last = cells.narrow(2, depth - 2, 1);
  const Tensor padded = structure.worn ? at::cat({cells, last, last}, 2)
                                       : at::constant_pad_nd(cells, {0, 2}, structure.empty);
  const Tensor above = at::cat({values.unsqueeze(2), cells}, 2);
  const auto weight = actions.unsqueeze(3).unbind(2);  // each B x K x 1
  const Tensor moved = weight[0] * above + weight[1] * padded.narrow(2, 1, depth);
  if (!structure.no_op) return moved;
  if (!structure.worn) return moved + weight[2] * padded.narrow(2, 0, depth);
  const Tensor top = moved.narrow(2, 0, 1) + weight[2] * cells.narrow(2, 0, 1);
  return at::cat({top, moved.narrow(2, 1, depth - 1)}, 2);
}

struct ParallelState : StackState {
  Tensor cells;  // B x K x D, top first

  explicit ParallelState(Tensor given) : cells(std::move(given)) {}
  StackStatePtr detached() const override {
    return std::make_shared<ParallelState>(cells.detach());
  }
  std::size_t bytes() const override { return tensor_bytes(cells); }
  std::vector<Tensor> tensors() const override { return {cells}; }
  StackStatePtr with_tensors(const std::vector<Tensor>& given) const override {
    check_state_tensors("stack.parallel_superposition", {cells}, given);
    return std::make_shared<ParallelState>(given[0]);
  }
};

class ParallelSuperposition : public MemoryStack, public TraceableStack {
 public:
  ParallelSuperposition(const Json& options, const ModuleContext& context)
      : stacks_(options["stacks"]),
        structure_(options),
        rounding_(options["rounding"]),
        options_(context.tensor_options),
        actions_(stacks_, structure_.no_op ? 3 : 2, options, context, parameters_) {}

  std::int64_t reading_size() const override { return stacks_ * structure_.read_depth; }
  StackStatePtr initial(std::int64_t batch, std::int64_t) const override {
    return std::make_shared<ParallelState>(
        at::full({batch, stacks_, structure_.read_depth}, structure_.empty, options_));
  }
  StackStatePtr update(const StackStatePtr& state, const Tensor& hidden) const override {
    return std::make_shared<ParallelState>(
        parallel_step(static_cast<const ParallelState&>(*state).cells,
                      actions_.actions(hidden, rounded_), actions_.values(hidden), structure_));
  }
  std::optional<NoOp> no_op(const Tensor& hidden) const override {
    if (!structure_.no_op) return std::nullopt;
    return no_op_among(actions_.actions(hidden, rounded_), 2);
  }
  StackTrace trace(const Tensor& hiddens) const override {
    return mixture_trace(actions_.actions(hiddens, rounded_), 0);
  }
  Tensor reading(const StackStatePtr& state) const override {
    return static_cast<const ParallelState&>(*state)
        .cells.narrow(2, 0, structure_.read_depth)
        .flatten(1);
  }
  std::shared_ptr<const Stack> evaluated() const override {
    if (!rounding_) return nullptr;
    auto copy = std::make_shared<ParallelSuperposition>(*this);
    copy->rounded_ = true;
    return copy;
  }

 protected:
  TracedNoOp drive(StepTrace& trace, const Traced& hidden, const Traced& reading,
                   const StackRequest& request) const override {
    ShiftedShape shape;
    shape.memories = stacks_;
    shape.no_op = structure_.no_op;
    shape.worn = structure_.worn;
    shape.reach = structure_.read_depth;
    shape.empty = structure_.empty;
    const Traced weights = actions_.actions(hidden, rounded_);
    record_shifted(trace, weights, actions_.values(hidden), reading, request.steps, shape);
    return structure_.no_op ? no_op_among(weights, 3, 2) : TracedNoOp{};
  }
  // If cells erode, the last one of a state represents all cells below it.
  HeldMemory held(const StackStatePtr& state) const override {
    Tensor cells = static_cast<const ParallelState&>(*state).cells;
    if (!structure_.worn) cells = at::constant_pad_nd(cells, {0, 1}, structure_.empty);
    return {cells.transpose(1, 2).flatten(1), cells.size(2) - 1};
  }
  std::int64_t held_size(std::int64_t count) const override { return (count + 1) * stacks_; }
  StackStatePtr after_held(const StackStatePtr&, const Tensor& numbers,
                           std::int64_t count) const override {
    const Tensor cells = numbers.view({numbers.size(0), count + 1, stacks_}).transpose(1, 2);
    return std::make_shared<ParallelState>(structure_.worn ? cells : cells.narrow(2, 0, count));
  }

 private:
  std::int64_t stacks_;
  Structure structure_;
  bool rounding_, rounded_ = false;
  at::TensorOptions options_;
  ParallelActions actions_;
};

OptionSpec read_depth_option() {
  return integer_option("read_depth", 2, "number of cells of each stack that are read", 1)
      .between(1, 1 << 16)
      .trying(1)
      .trying(3);
}

OptionSpec no_op_keeps_option() {
  return text_option("no_op_keeps", "all", "cells that no_op keeps: all, or only the top",
                     {"all", "top"})
      .trying("top", {{"no_op", true}});
}

Tensor simulate_parallel_superposition(const Json& options, const NamedTensors& inputs) {
  constexpr auto kKind = "parallel_superposition";
  const Tensor values = simulate_input(kKind, inputs, "values", {-1, -1, -1});
  const auto batch = values.size(0), length = values.size(1), stacks = values.size(2);
  Tensor actions =
      simulate_input(kKind, inputs, "actions", {batch, length, stacks, options["no_op"] ? 3 : 2});
  if (options["rounding"]) actions = round_actions(actions);
  const Structure structure(options);
  Tensor cells = at::full({batch, stacks, structure.read_depth}, structure.empty, values.options());
  const auto read = [&] { return cells.narrow(2, 0, structure.read_depth).flatten(1); };
  std::vector<Tensor> readings{read()};
  for (std::int64_t t = 0; t < length; ++t) {
    cells = parallel_step(cells, actions.select(1, t), values.select(1, t), structure);
    readings.push_back(read());
  }
  return at::stack(readings, 1);
}

}  // namespace

StackKind parallel_superposition_stack() {
  StackKind kind;
  kind.name = "parallel_superposition";
  kind.doc = "Several parallel superposition stacks of scalars (Joulin and Mikolov 2015).";
  kind.options = parallel_options();
  kind.options.insert(kind.options.begin(), {integer_option("stacks", 10, "number of stacks", 1)
                                                 .between(1, 1 << 16)
                                                 .in_small(3)
                                                 .trying(1)
                                                 .trying(18),
                                             read_depth_option()});
  kind.options.push_back(no_op_keeps_option());
  kind.make = [](const Json& options, const ModuleContext& context) -> StackPtr {
    return std::make_shared<ParallelSuperposition>(options, context);
  };
  kind.inputs = {{"actions", "B x n x K x 2: weights of push and pop; x 3 with no_op"},
                 {"values", "B x n x K: the pushed values"}};
  kind.simulate_options = parallel_simulate_options();
  kind.simulate_options.insert(kind.simulate_options.begin(), read_depth_option());
  kind.simulate_options.push_back(no_op_keeps_option());
  kind.simulate = simulate_parallel_superposition;
  return kind;
}

}  // namespace pushdown
