#include "model/sublayer.h"

#include "model/pushdown_attention.h"
#include "model/step_engine.h"
#include "stack/stack.h"
#include "tensor/product.h"

namespace pushdown {
namespace {

struct StackAttentionState : NetworkState {
  StackStatePtr stack;

  explicit StackAttentionState(StackStatePtr given) : stack(std::move(given)) {}
  NetworkStatePtr detached() const override {
    return std::make_shared<StackAttentionState>(stack->detached());
  }
  std::size_t bytes() const override { return stack->bytes(); }
};

class StackAttention : public Sublayer {
 public:
  StackAttention(const Json& stack, const ModuleContext& context)
      : stack_(make_stack(stack, context)),
        output_weight_(xavier_parameter(context.input, stack_->reading_size(), 1.0, context)),
        engine_(step_engine(context.tensor_options.device())) {
    for (const auto& [name, tensor] : stack_->parameters())
      parameters_.emplace_back("stack." + name, tensor);
    parameters_.emplace_back("output_weight", output_weight_);
  }

  Tensor run(const Tensor& x) const override {
    Tensor readings = recorded_readings(x);
    if (!readings.defined()) readings = stack_->readings(x);
    return linear_product(readings, output_weight_);
  }

  NetworkStatePtr initial(std::int64_t batch, std::int64_t length) const override {
    return std::make_shared<StackAttentionState>(stack_->initial(batch, length));
  }

  std::pair<Tensor, NetworkStatePtr> read(const Tensor& x,
                                          const NetworkStatePtr& state) const override {
    auto stack = static_cast<const StackAttentionState&>(*state).stack;
    std::vector<Tensor> readings;
    for (const Tensor& input : x.unbind(1)) {
      stack = stack_->update(stack, input);
      readings.push_back(stack_->reading(stack));
    }
    return {linear_product(at::stack(readings, 1), output_weight_),
            std::make_shared<StackAttentionState>(stack)};
  }

  const Stack* stack() const override { return stack_.get(); }

 private:
  // Returns Stack::readings(), computed by a recorded program, or an undefined tensor if there is
  // none.
  Tensor recorded_readings(const Tensor& x) const {
    const auto batch = x.size(0), steps = x.size(1);
    if (engine_ == nullptr || steps == 0) return {};
    // The stack moves at the last step, too, because the reading after it is used.
    const auto stack = stack_->recorded({.batch = batch, .steps = steps + 1});
    if (stack == nullptr) return {};
    StepTrace trace;
    const Traced reading = stack->reading(trace);
    stack->update(trace, trace.sequence(x), reading);
    return engine_->run(trace.finish(trace.read_now()), batch, steps, 0, buffers_);
  }

  StackPtr stack_;
  Tensor output_weight_;  // d x R
  StepEnginePtr engine_;
  BufferPoolPtr buffers_ = std::make_shared<BufferPool>();
};

LayerKind superposition_layer() {
  return {"superposition",
          "Stack attention with a superposition stack (DuSell and Chiang 2024).",
          {integer_option("size", 20, "size m of the vector in a cell", 1)
               .between(1, 1 << 16)
               .in_small(3)
               .trying(17)},
          [](const Json& options, const ModuleContext& context) -> SublayerPtr {
            Json stack = options;
            stack.update(Json{{"kind", "superposition"}, {"bias", false}, {"vector", "linear"}});
            return std::make_shared<StackAttention>(stack, context);
          }};
}

LayerKind nondeterministic_layer() {
  return {
      "nondeterministic",
      "Stack attention with a vector nondeterministic stack (DuSell and Chiang 2024).",
      {integer_option("states", 2, "number of states Q of the pushdown automaton", 1)
           .between(1, 64)
           .trying(3),
       integer_option("symbols", 2, "number of stack symbols S, the bottom symbol included", 1)
           .between(1, 64)
           .trying(3),
       integer_option("size", 5, "size m of the vector of an element", 1)
           .between(1, 1 << 16)
           .in_small(3)
           .trying(2),
       integer_option("window", 0, "number of past steps that the stack can see; 0: all", 0)
           .trying(3),
       text_option("vector", "linear",
                   "pushed vector v = W x, or exp(W x) as in the published program, whose stack "
                   "takes W x for a logarithm",
                   {"linear", "exp"}),
       boolean_option("fast", true, "use the compiled kernel (false: plain tensor operations)")},
      [](const Json& options, const ModuleContext& context) -> SublayerPtr {
        Json stack = options;
        stack.update(Json{{"kind", "vector_nondeterministic"},
                          {"normalized", false},
                          {"bottom", "reexposed"},
                          {"bottom_vector", "learned"},
                          {"initialization", "xavier"},
                          {"bias", false}});
        return std::make_shared<StackAttention>(stack, context);
      }};
}

}  // namespace

const std::vector<LayerKind>& layer_kinds() {
  static const std::vector<LayerKind> kinds{attention_layer(), superposition_layer(),
                                            nondeterministic_layer(), pushdown_attention_layer()};
  return kinds;
}

}  // namespace pushdown
