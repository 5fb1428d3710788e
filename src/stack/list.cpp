// Parallel lists of scalars, each with a head (Joulin and Mikolov 2015), the memory of their "List
// RNN 40+5". The actions move the head to the left or to the right, insert a value, or, if allowed,
// do nothing. Cells are counted from the head, so the head is always cell 0:
//   new[i] = left old[i-1] + right old[i+1] + no_op old[i] + insert * (old[i+1] if i < 0,
//                                                                      value    if i = 0,
//                                                                      old[i]   if i > 0)
// An insertion thus moves the old head cell and all cells before it one place to the left. Cells
// that were never written contain `empty`. Each list has its own actions, in the order left, right,
// insert, no_op, and its own value (parallel_actions.h).
//
// The paper does not say what is read. Here the reading consists of the cells -reach .. reach of
// every list, from left to right, list by list: K (2 reach + 1) numbers; with reach = 1, the head
// and its neighbours. Cost O(n K) per step; a list grows by one cell at both ends.
#include "base/check.h"
#include "stack/parallel_actions.h"
#include "stack/stack_trace.h"

namespace pushdown {
namespace {

// cells : B x K x (2r+1), actions : B x K x A, values : B x K -> B x K x (2r+3), head in the middle
Tensor list_step(const Tensor& cells, const Tensor& actions, const Tensor& values, double empty) {
  const Tensor padded = at::constant_pad_nd(cells, {2, 2}, empty);
  const auto size = cells.size(2) + 2, side = size / 2;  // of the updated lists
  // padded[j + 1] corresponds to new[j].
  const Tensor left = padded.narrow(2, 0, size), right = padded.narrow(2, 2, size);
  const Tensor inserted =
      at::cat({right.narrow(2, 0, side), values.unsqueeze(2), padded.narrow(2, side + 2, side)}, 2);
  const auto weight = actions.unsqueeze(3).unbind(2);  // each B x K x 1
  Tensor sum = weight[0] * left + weight[1] * right + weight[2] * inserted;
  if (weight.size() == 4) sum = sum + weight[3] * padded.narrow(2, 1, size);
  return sum;
}

// cells : B x K x (2r+1) -> B x K(2 reach + 1)
Tensor list_reading(const Tensor& cells, std::int64_t reach) {
  return cells.narrow(2, cells.size(2) / 2 - reach, 2 * reach + 1).flatten(1);
}

struct ListState : StackState {
  Tensor cells;  // B x K x (2r+1)

  explicit ListState(Tensor given) : cells(std::move(given)) {}
  StackStatePtr detached() const override { return std::make_shared<ListState>(cells.detach()); }
  std::size_t bytes() const override { return tensor_bytes(cells); }
  std::vector<Tensor> tensors() const override { return {cells}; }
  StackStatePtr with_tensors(const std::vector<Tensor>& given) const override {
    check_state_tensors("stack.list", {cells}, given);
    return std::make_shared<ListState>(given[0]);
  }
};

class ListStack : public MemoryStack, public TraceableStack {
 public:
  ListStack(const Json& options, const ModuleContext& context)
      : lists_(options["lists"]),
        reach_(options["reach"]),
        empty_(options["empty"]),
        no_op_(options["no_op"]),
        rounding_(options["rounding"]),
        options_(context.tensor_options),
        actions_(lists_, no_op_ ? 4 : 3, options, context, parameters_) {}

  std::int64_t reading_size() const override { return lists_ * (2 * reach_ + 1); }
  StackStatePtr initial(std::int64_t batch, std::int64_t) const override {
    return std::make_shared<ListState>(at::full({batch, lists_, 2 * reach_ + 1}, empty_, options_));
  }
  StackStatePtr update(const StackStatePtr& state, const Tensor& hidden) const override {
    return std::make_shared<ListState>(list_step(static_cast<const ListState&>(*state).cells,
                                                 actions_.actions(hidden, rounded_),
                                                 actions_.values(hidden), empty_));
  }
  std::optional<NoOp> no_op(const Tensor& hidden) const override {
    if (!no_op_) return std::nullopt;
    return no_op_among(actions_.actions(hidden, rounded_), 3);
  }
  // An insertion moves the cells on the left, not the head.
  StackTrace trace(const Tensor& hiddens) const override {
    if (no_op_)
      return head_trace({"left", "right", "insert", "no_op"}, actions_.actions(hiddens, rounded_),
                        {-1, 1, 0, 0});
    return head_trace({"left", "right", "insert"}, actions_.actions(hiddens, rounded_), {-1, 1, 0});
  }
  Tensor reading(const StackStatePtr& state) const override {
    return list_reading(static_cast<const ListState&>(*state).cells, reach_);
  }
  std::shared_ptr<const Stack> evaluated() const override {
    if (!rounding_) return nullptr;
    auto copy = std::make_shared<ListStack>(*this);
    copy->rounded_ = true;
    return copy;
  }

 protected:
  TracedNoOp drive(StepTrace& trace, const Traced& hidden, const Traced& reading,
                   const StackRequest& request) const override {
    ShiftedShape shape;
    shape.kind = ShiftedKind::list;
    shape.memories = lists_;
    shape.no_op = no_op_;
    shape.reach = reach_;
    shape.empty = empty_;
    const Traced weights = actions_.actions(hidden, rounded_);
    record_shifted(trace, weights, actions_.values(hidden), reading, request.steps, shape);
    return no_op_ ? no_op_among(weights, 4, 3) : TracedNoOp{};
  }
  HeldMemory held(const StackStatePtr& state) const override {
    const Tensor& cells = static_cast<const ListState&>(*state).cells;
    return {at::constant_pad_nd(cells, {0, 1}, empty_).transpose(1, 2).flatten(1),
            cells.size(2) / 2};
  }
  std::int64_t held_size(std::int64_t count) const override { return (2 * count + 2) * lists_; }
  StackStatePtr after_held(const StackStatePtr&, const Tensor& numbers,
                           std::int64_t count) const override {
    return std::make_shared<ListState>(numbers.view({numbers.size(0), 2 * count + 2, lists_})
                                           .transpose(1, 2)
                                           .narrow(2, 0, 2 * count + 1));
  }

 private:
  std::int64_t lists_, reach_;
  double empty_;
  bool no_op_, rounding_, rounded_ = false;
  at::TensorOptions options_;
  ParallelActions actions_;
};

OptionSpec reach_option() {
  return integer_option("reach", 1, "number of cells read on each side of the head", 0)
      .between(0, 1 << 16)
      .trying(0)
      .trying(2);
}

Tensor simulate_list(const Json& options, const NamedTensors& inputs) {
  const Tensor values = simulate_input("list", inputs, "values", {-1, -1, -1});
  const auto batch = values.size(0), length = values.size(1), lists = values.size(2);
  Tensor actions =
      simulate_input("list", inputs, "actions", {batch, length, lists, options["no_op"] ? 4 : 3});
  if (options["rounding"]) actions = round_actions(actions);
  const std::int64_t reach = options["reach"];
  const double empty = options["empty"];
  Tensor cells = at::full({batch, lists, 2 * reach + 1}, empty, values.options());
  std::vector<Tensor> readings{list_reading(cells, reach)};
  for (std::int64_t t = 0; t < length; ++t) {
    cells = list_step(cells, actions.select(1, t), values.select(1, t), empty);
    readings.push_back(list_reading(cells, reach));
  }
  return at::stack(readings, 1);
}

}  // namespace

StackKind list_stack() {
  StackKind kind;
  kind.name = "list";
  kind.doc = "Several lists of scalars, each with its own head (Joulin and Mikolov 2015).";
  kind.options = parallel_options();
  kind.options.insert(kind.options.begin(), {integer_option("lists", 5, "number of lists", 1)
                                                 .between(1, 1 << 16)
                                                 .in_small(3)
                                                 .trying(1)
                                                 .trying(17),
                                             reach_option()});
  kind.make = [](const Json& options, const ModuleContext& context) -> StackPtr {
    return std::make_shared<ListStack>(options, context);
  };
  kind.inputs = {{"actions", "B x n x K x 3: weights of left, right and insert; x 4 with no_op"},
                 {"values", "B x n x K: the inserted values"}};
  kind.simulate_options = parallel_simulate_options();
  kind.simulate_options.insert(kind.simulate_options.begin(), reach_option());
  kind.simulate = simulate_list;
  return kind;
}

}  // namespace pushdown
