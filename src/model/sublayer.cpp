#include "model/sublayer.h"

#include <cmath>
#include <limits>

#include "base/check.h"
#include "model/positions.h"
#include "model/step_engine.h"
#include "stack/stack.h"
#include "tensor/product.h"

namespace pushdown {
namespace {

struct AttentionState : NetworkState {
  Tensor keys, values;  // B x heads x t x d/heads

  NetworkStatePtr detached() const override {
    auto copy = std::make_shared<AttentionState>();
    copy->keys = keys.detach();
    copy->values = values.detach();
    return copy;
  }
  std::size_t bytes() const override { return tensor_bytes(keys) + tensor_bytes(values); }
};

class SelfAttention : public Sublayer {
 public:
  SelfAttention(const Json& options, const ModuleContext& context)
      : size_(context.input),
        heads_(options["heads"]),
        options_(context.tensor_options),
        encoding_(attention_encoding(options["positions"])),
        distances_(size_, 1, options_) {
    check(size_ % heads_ == 0, "model.transformer",
          "'hidden' must be a multiple of 'heads', got {} and {}", size_, heads_);
    check(
        encoding_ != AttentionEncoding::rotary || size_ / heads_ % 2 == 0, "model.transformer",
        "positions = 'rotary' rotates pairs of numbers: 'hidden' divided by 'heads' must be even, "
        "got {} / {}",
        size_, heads_);
    for (const char* name : {"query_weight", "key_weight", "value_weight", "output_weight"})
      parameters_.emplace_back(name, xavier_parameter(size_, size_, 1.0, context));
    if (!reads_distances()) return;
    parameters_.emplace_back("distance_weight", xavier_parameter(size_, size_, 1.0, context));
    for (const char* name : {"content_bias", "distance_bias"})
      parameters_.emplace_back(name, uniform_parameter({size_}, -0.1, 0.1, context));
  }

  Tensor run(const Tensor& x) const override { return read(x, initial(x.size(0), 0)).first; }

  NetworkStatePtr initial(std::int64_t batch, std::int64_t) const override {
    auto state = std::make_shared<AttentionState>();
    state->keys = state->values = at::empty({batch, heads_, 0, size_ / heads_}, options_);
    return state;
  }

  std::pair<Tensor, NetworkStatePtr> read(const Tensor& x,
                                          const NetworkStatePtr& state) const override {
    const auto& old = static_cast<const AttentionState&>(*state);
    const auto length = x.size(1), before = old.keys.size(2);
    const bool rotates = encoding_ == AttentionEncoding::rotary;
    Tensor queries = heads(x, 0), keys = heads(x, 1);
    if (rotates) {
      queries = rotated(queries, before);
      keys = rotated(keys, before);
    }
    auto next = std::make_shared<AttentionState>();
    next->keys = at::cat({old.keys, keys}, 2);
    next->values = at::cat({old.values, heads(x, 2)}, 2);
    // Position `before + t` attends to itself and all earlier ones : c x (before + c)
    const Tensor hidden =
        at::ones({length, before + length}, options_.dtype(at::kBool)).triu(before + 1);
    const double norm = std::sqrt(static_cast<double>(size_) / static_cast<double>(heads_));
    // B x heads x c x (before + c)
    Tensor scores;
    if (reads_distances()) {
      const Tensor of = linear_product(distances_.rows(0, before + length), parameters_[4].second)
                            .view({before + length, heads_, -1})
                            .permute({1, 2, 0});  // heads x d/heads x (before + c)
      scores = (product(queries + bias(5), next->keys.transpose(2, 3)) +
                scores_of_distances(product(queries + bias(6), of), before)) /
               norm;
    } else {
      scores = product(queries, next->keys.transpose(2, 3)) / norm;
    }
    if (encoding_ == AttentionEncoding::alibi)
      scores = scores + alibi_scores(heads_, before, before + length, options_);
    const Tensor shares =
        scores.masked_fill(hidden, -std::numeric_limits<double>::infinity()).softmax(3);
    const Tensor joined = product(shares, next->values).transpose(1, 2).flatten(2, 3);
    return {linear_product(joined, parameters_[3].second), next};
  }

  bool records() const override { return true; }
  bool reads_distances() const override { return encoding_ == AttentionEncoding::relative; }
  Traced record(const Traced& x, const Traced& distances) const override {
    const auto mapped = [&](const Traced& from, std::size_t weight) {
      return pushdown::linear(from, parameters_[weight].second);
    };
    StepTrace& trace = StepTrace::of(x);
    std::vector<Traced> relative;
    if (reads_distances())
      relative = {mapped(distances, 4), trace.constant(parameters_[5].second),
                  trace.constant(parameters_[6].second)};
    return mapped(
        trace.attention(mapped(x, 0), mapped(x, 1), mapped(x, 2), heads_, encoding_, relative), 3);
  }

 private:
  Tensor bias(std::size_t k) const { return parameters_[k].second.view({1, heads_, 1, -1}); }
  // Applies the query, key or value weight: B x c x d -> B x heads x c x d/heads.
  Tensor heads(const Tensor& x, std::size_t weight) const {
    return linear_product(x, parameters_[weight].second)
        .view({x.size(0), x.size(1), heads_, -1})
        .transpose(1, 2);
  }

  std::int64_t size_, heads_;
  at::TensorOptions options_;
  AttentionEncoding encoding_;
  PositionTable distances_;
};

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

LayerKind attention_layer() {
  return {"attention",
          "Causal self-attention (Vaswani et al. 2017).",
          {integer_option("heads", 4, "number of attention heads; absent: the model's heads", 1)
               .between(1, 1 << 16),
           text_option("positions", "none",
                       "how attention reads positions: none, rotary, alibi or relative; absent: "
                       "as the model's positions say",
                       attention_positions())},
          [](const Json& options, const ModuleContext& context) -> SublayerPtr {
            return std::make_shared<SelfAttention>(options, context);
          }};
}

LayerKind superposition_layer() {
  return {"superposition",
          "Stack attention with a superposition stack (DuSell and Chiang 2024).",
          {integer_option("size", 20, "size m of the vector in a cell", 1).between(1, 1 << 16)},
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
           .between(1, 64),
       integer_option("symbols", 2, "number of stack symbols S, the bottom symbol included", 1)
           .between(1, 64),
       integer_option("size", 5, "size m of the vector of an element", 1).between(1, 1 << 16),
       integer_option("window", 0, "number of past steps that the stack can see; 0: all", 0),
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
                                            nondeterministic_layer()};
  return kinds;
}

}  // namespace pushdown
