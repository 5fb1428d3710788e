#include "model/analog_pushdown.h"

#include "base/buffer_pool.h"
#include "base/check.h"
#include "base/stopping.h"
#include "model/network_trace.h"
#include "model/step_engine.h"
#include "stack/analog_stack.h"

namespace pushdown {
namespace {

constexpr std::int64_t kMostMintermStates = 12;

struct AnalogPushdownState : NetworkState {
  bool exact = true;  // the derivative, see the header
  Tensor neurons;     // B x J
  AnalogStack stack;
  Tensor length;     // B
  Tensor reading;    // B x V
  Tensor underflow;  // B

  NetworkStatePtr detached() const override {
    auto copy = std::make_shared<AnalogPushdownState>(*this);
    for (Tensor* tensor : {&copy->neurons, &copy->stack.vectors, &copy->stack.lengths,
                           &copy->length, &copy->reading, &copy->underflow})
      *tensor = tensor->detach();
    return copy;
  }
  std::size_t bytes() const override {
    return tensor_bytes(neurons) + tensor_bytes(stack.vectors) + tensor_bytes(stack.lengths) +
           tensor_bytes(length) + tensor_bytes(reading) + tensor_bytes(underflow);
  }

  // The size of `stack.lengths` grows with every push.
  std::vector<Tensor> tensors() const override {
    if (exact) return {neurons, underflow, stack.lengths};
    return {neurons, underflow, length, reading};
  }
  NetworkStatePtr with_tensors(const std::vector<Tensor>& given) const override {
    constexpr auto kWhere = "model.analog_pushdown";
    const auto mine = tensors();
    check(given.size() == mine.size(), kWhere, "a state has {} tensors, got {}", mine.size(),
          given.size());
    for (std::size_t i = 0; i < mine.size(); ++i)
      check(given[i].sizes() == mine[i].sizes(), kWhere, "tensor {} of a state is {}, got {}",
            i + 1, shape_text(mine[i]), shape_text(given[i]));
    auto copy = std::make_shared<AnalogPushdownState>(*this);
    copy->neurons = given[0];
    copy->underflow = given[1];
    if (exact) {
      copy->stack.lengths = given[2];
      copy->read_stack();
    } else {
      copy->length = given[2];
      copy->reading = given[3];
    }
    return copy;
  }

  void read_stack() {
    length = analog_length(stack);
    reading = analog_reading(stack);
  }
  // B x H
  Tensor hidden() const {
    return at::cat({neurons, length.unsqueeze(1), underflow.unsqueeze(1)}, 1);
  }
};
using StatePtr = std::shared_ptr<const AnalogPushdownState>;

// The weights in the form that the steps use, K = J R, or J (R + 1) in the second order.
struct Weights {
  Tensor by_symbol;  // I x (J+1) x K, the action's row last; I x J x K in the full order
  Tensor bias;       // J+1, or J
  Tensor minterm;    // I x 2^J R, of the action in the full order
};

// M_P for all bit patterns P, bit m of P for neuron m : B x J -> B x 2^J
Tensor minterms(const Tensor& neurons) {
  Tensor products = at::ones({neurons.size(0), 1}, neurons.options());
  for (const Tensor& neuron : neurons.split(1, 1))
    products = at::cat({products * (1 - neuron), products * neuron}, 1);
  return products;
}

// -1, 0 or 1, with the borders -1/2 and 1/2
Tensor quantised_actions(const Tensor& action) {
  return action.gt(0.5).to(action.scalar_type()) - action.lt(-0.5).to(action.scalar_type());
}

class AnalogPushdown : public Network, public TraceableNetwork {
 public:
  AnalogPushdown(const Json& options, const ModuleContext& context)
      : inputs_(context.input),
        symbols_(context.input - context.end_symbols),
        states_(options["states"]),
        epsilon_(options["epsilon"]),
        tolerance_(options["tolerance"]),
        second_(options["order"] == "second"),
        full_(options["order"] == "full"),
        bottom_(options["bottom_reading"]),
        stops_(options["underflow"] == "stop"),
        exact_(options["stack_derivative"] == "exact"),
        quantised_(options["quantised"]),
        options_(context.tensor_options),
        line_(fmt::format("analog pushdown automaton of {} order, {} states",
                          options["order"].get<std::string>(), states_)) {
    const double range = options["range"];
    const auto parameter = [&](const char* name, at::IntArrayRef shape) {
      const Tensor tensor = uniform_parameter(shape, -range, range, context);
      parameters_.emplace_back(name, tensor);
      return tensor;
    };
    const auto read = symbols_ + (bottom_ ? 1 : 0);
    if (second_) {
      state_weight_ = parameter("state.weight", {states_, states_, read + inputs_});
      state_bias_ = parameter("state.bias", {states_});
      action_weight_ = parameter("action.weight", {states_, read + inputs_});
    } else {
      state_weight_ = parameter("state.weight", {states_, states_, read, inputs_});
      state_bias_ = parameter("state.bias", {states_});
      const auto rows = full_ ? std::int64_t{1} << states_ : states_;
      action_weight_ = parameter("action.weight", {rows, read, inputs_});
    }
    if (!full_) action_bias_ = parameter("action.bias", {1});
  }

  std::int64_t hidden_size() const override { return states_ + 2; }
  std::string line() const override { return line_; }
  Tensor validity(const Tensor& hiddens) const override {
    const Tensor measure =
        hiddens.select(-1, states_ - 1) - hiddens.select(-1, states_);  // S_J - L
    return at::where(hiddens.select(-1, states_ + 1) > 0, at::zeros_like(measure), measure);
  }

  Passes run(const PassRequest& request) const override {
    const auto& [words, refinement, noise] =
        std::tie(request.words, request.refinement, request.noise);
    const Tensor recorded = run_recorded(words, refinement, noise);
    if (recorded.defined()) return {recorded, {}, nullptr};
    const auto begin = initial(words.size(0), words.size(1));
    const Tensor made = advance(words, refinement, begin, noise).hiddens;
    return {at::cat({peek(begin, noise).first.unsqueeze(1), made}, 1), {}, nullptr};
  }

  NetworkStatePtr initial(std::int64_t batch, std::int64_t) const override {
    auto state = std::make_shared<AnalogPushdownState>();
    state->exact = exact_;
    state->neurons = at::zeros({batch, states_}, options_);
    state->neurons.select(1, 0).fill_(1);
    state->stack = empty_analog_stack(batch, symbols_, options_);
    state->underflow = at::zeros({batch}, options_);
    state->read_stack();
    return state;
  }
  std::pair<Tensor, NetworkStatePtr> read(const Tensor& words, const NetworkStatePtr& given,
                                          Random* noise) const override {
    const Passes made = advance(words, {}, given, noise);
    const Tensor all = at::cat({peek(given, noise).first.unsqueeze(1), made.hiddens}, 1);
    return {all.narrow(1, 0, words.size(1)), made.state};
  }
  Passes advance(const Tensor& words, const Refinement& refinement, const NetworkStatePtr& given,
                 Random* noise) const override {
    if (words.size(1) == 0)
      return {at::empty({words.size(0), 0, hidden_size()}, options_), {}, given};
    const bool whole = quantised_ && noise == nullptr;
    const Weights weights = this->weights(whole);
    auto state = std::static_pointer_cast<const AnalogPushdownState>(given);
    std::vector<Tensor> hiddens;
    const StopCheck stop;
    for (const Tensor& symbols : words.to(options_.device()).unbind(1)) {
      stop();
      const Tensor factor = this->factor(*state);
      state = step(weights, *state, symbols, whole);
      hiddens.push_back(state->hidden());
      auto last = std::make_shared<AnalogPushdownState>(*state);
      for (std::int64_t k = 1; k < refinement.passes; ++k) {
        stop();
        const Tensor made =
            neurons_of(sums(weights, last->neurons, factor, symbols), whole);  // B x J
        last->neurons = at::where((last->underflow == 0).unsqueeze(1), made, last->neurons);
        hiddens.push_back(last->hidden());
      }
      if (!refinement.carry_first) state = last;
    }
    return {at::stack(hiddens, 1), {}, state};
  }
  std::vector<NetworkTrace> traces(const PassRequest& request) const override {
    auto state = initial(1, request.words.size(1));
    std::vector<Tensor> lengths{at::empty({0}, options_)},
        readings{at::empty({0, symbols_ + (bottom_ ? 1 : 0)}, options_)};
    for (std::int64_t t = 0; t < request.words.size(1); ++t) {
      state = advance(request.words.narrow(1, t, 1), request.refinement, state, nullptr).state;
      const auto& after = static_cast<const AnalogPushdownState&>(*state);
      lengths.push_back(after.length);
      readings.push_back(bottom_ ? with_bottom(after.reading) : after.reading);
    }
    StackTrace trace = length_trace(at::cat(lengths).unsqueeze(1));
    trace.readings = at::cat(readings);
    return {{1, "analog", trace}};
  }
  Route route(const PassRequest& request) const override {
    if (request.algorithm != "uoro" || full_ || !exact_ || !options_.device().is_cpu())
      return Network::route(request);
    HigherOrderShape shape;
    shape.states = states_;
    shape.inputs = inputs_;
    shape.passes = request.refinement.passes;
    shape.carry_first = request.refinement.carry_first;
    shape.stack = true;
    shape.third = !second_;
    shape.symbols = symbols_;
    shape.bottom = bottom_;
    shape.stops = stops_;
    shape.epsilon = epsilon_;
    shape.tolerance = tolerance_;
    return HigherOrderNetwork{shape, {state_weight_, action_weight_, state_bias_, action_bias_}};
  }
  std::pair<Tensor, NetworkStatePtr> peek(const NetworkStatePtr& state, Random*) const override {
    return {static_cast<const AnalogPushdownState&>(*state).hidden(), state};
  }

 private:
  // Returns the result of run(), computed with the step as a program
  // (recurrence/trace/step_trace.h). Returns an undefined tensor if there is no program: for
  // quantised evaluations and approximate derivatives.
  Tensor run_recorded(const Tensor& words, const Refinement& refinement,
                      const Random* noise) const {
    const auto batch = words.size(0), steps = words.size(1);
    if (!exact_ || steps == 0 || (quantised_ && noise == nullptr)) return {};
    const Weights weights = this->weights(false);
    StepTrace trace;
    const Traced symbol = trace.one_hot(words.to(options_.device()), inputs_, options_);
    const Traced reading = trace.reading(symbols_ + 3);  // see kernel/memory/analog.h
    const Tensor first = at::one_hot(at::zeros({batch}, at::kLong), states_).to(options_);
    const Traced neurons = trace.state(first);

    std::vector<Traced> factors{reading.narrow(1, 0, symbols_)};
    if (bottom_) factors.push_back(1 - linear(factors[0], at::ones({1, symbols_}, options_)));
    const Traced seen = joined(factors);
    if (second_) factors.push_back(trace.constant(at::ones({1}, options_)));
    const auto by_symbol = [&](const Traced& products, const Tensor& weight, const Tensor& bias) {
      // I x rows x K -> rows x KI
      return linear(outer_product(products, symbol), weight.permute({1, 2, 0}).flatten(1), bias);
    };
    const Traced read = joined(factors);
    const auto sums_of = [&](const Traced& neurons) {
      return by_symbol(outer_product(neurons, read), weights.by_symbol, weights.bias);
    };
    const Traced sums = sums_of(neurons);
    Traced action;
    if (full_) {
      Traced terms = seen;  // over the minterms so far and the reading
      for (std::int64_t m = 0; m < states_; ++m) {
        const Traced neuron = neurons.narrow(1, m, 1);
        terms = joined({outer_product(1 - neuron, terms), outer_product(neuron, terms)});
      }
      action = by_symbol(terms, weights.minterm.unsqueeze(1), {});
    } else {
      action = (0.5 * sums.narrow(1, states_, 1)).tanh();  // 2 g(u) - 1
    }
    MemoryShape shape;
    shape.kind = MemoryKind::analog;
    shape.steps = steps + 1;  // the stack moves at every step
    shape.analog.symbols = symbols_;
    shape.analog.epsilon = epsilon_;
    shape.analog.tolerance = tolerance_;
    shape.analog.stops = stops_;
    trace.drive(reading, joined({action, symbol.narrow(1, 0, symbols_)}), shape);
    const Traced after = trace.read_now();
    const auto pass = [&](const Traced& sums, const Traced& before) {
      return mix(after.narrow(1, symbols_ + 2, 1), sums.narrow(1, 0, states_).sigmoid(), before);
    };
    Traced next = pass(sums, neurons);
    if (refinement.carry_first) trace.bind(neurons, next);
    const Traced measures = after.narrow(1, symbols_, 2);
    std::vector<Traced> made{next, measures};
    const StopCheck stop;
    for (std::int64_t k = 1; k < refinement.passes; ++k) {
      stop();
      next = pass(sums_of(next), next);
      made.insert(made.end(), {next, measures});
    }
    if (!refinement.carry_first) trace.bind(neurons, next);
    const StepEnginePtr engine = step_engine(options_.device());
    if (engine == nullptr) return {};
    const Tensor hiddens = engine->run(trace.finish(joined(made)), batch, steps, 0, buffers_);
    if (!hiddens.defined()) return {};
    return at::cat({at::constant_pad_nd(first, {0, 2}).unsqueeze(1),
                    hiddens.reshape({batch, steps * refinement.passes, hidden_size()})},
                   1);
  }

  // `whole`: with the weights of a quantised network.
  Weights weights(bool whole) const {
    Weights weights;
    Tensor joint = state_weight_;
    weights.bias = state_bias_;
    if (full_) {
      const Tensor used =
          whole ? quantised_actions(action_weight_) : limited(action_weight_, -1, 1);
      // The gradient ignores the cut.
      weights.minterm =
          (action_weight_ + (used - action_weight_).detach()).flatten(0, 1).t().contiguous();
    } else {
      joint = at::cat({joint, action_weight_.unsqueeze(0)}, 0);
      weights.bias = at::cat({state_bias_, action_bias_});
    }
    if (second_) {
      const auto read = joint.size(2) - inputs_;
      const Tensor of_reading = joint.narrow(2, 0, read);      // J+1 x J x R
      const Tensor of_input = joint.narrow(2, read, inputs_);  // J+1 x J x I
      weights.by_symbol = at::cat({of_reading.unsqueeze(0).expand({inputs_, -1, -1, -1}),
                                   of_input.permute({2, 0, 1}).unsqueeze(3)},
                                  3)
                              .flatten(2);
    } else {
      weights.by_symbol = joint.permute({3, 0, 1, 2}).flatten(2).contiguous();
    }
    return weights;
  }

  // Returns the factor of the neurons: B x R, or B x (R + 1) in the second order.
  Tensor factor(const AnalogPushdownState& state) const {
    const Tensor reading = bottom_ ? with_bottom(state.reading) : state.reading;
    return second_ ? at::constant_pad_nd(reading, {0, 1}, 1) : reading;
  }
  // Returns the pre-activations of the state neurons, followed by the action's if it has one.
  Tensor sums(const Weights& weights, const Tensor& neurons, const Tensor& factor,
              const Tensor& symbols) const {
    const Tensor products = (neurons.unsqueeze(2) * factor.unsqueeze(1)).flatten(1);  // B x K
    return at::bmm(weights.by_symbol.index_select(0, symbols), products.unsqueeze(2)).squeeze(2) +
           weights.bias;
  }
  Tensor neurons_of(const Tensor& sums, bool whole) const {
    const Tensor neurons = sums.narrow(1, 0, states_).sigmoid();
    return whole ? neurons.gt(0.5).to(neurons.scalar_type()) : neurons;
  }

  // symbols : B
  StatePtr step(const Weights& weights, const AnalogPushdownState& old, const Tensor& symbols,
                bool whole) const {
    const Tensor factor = this->factor(old);
    const Tensor sums = this->sums(weights, old.neurons, factor, symbols);
    const Tensor neurons = neurons_of(sums, whole);
    Tensor action;  // B
    if (full_) {
      const Tensor terms =
          (minterms(old.neurons).unsqueeze(2) * factor.unsqueeze(1)).flatten(1);  // B x 2^J R
      action = (weights.minterm.index_select(0, symbols) * terms).sum(1);
    } else {
      action = (sums.select(1, states_) / 2).tanh();  // 2 g(u) - 1
    }
    if (whole) action = quantised_actions(action);

    const Tensor none = at::zeros_like(action);
    const Tensor running = old.underflow == 0;
    action =
        at::where(running.logical_and(symbols < symbols_), active_actions(action, epsilon_), none);
    const Tensor too_short = (old.length < -(1 - tolerance_) * action).logical_or(old.length <= 0);
    const Tensor refused = stops_ ? (action < 0).logical_and(too_short) : at::zeros_like(too_short);

    auto next = std::make_shared<AnalogPushdownState>();
    next->exact = exact_;
    next->underflow = at::where(refused, -(old.length + action), old.underflow);
    next->neurons =
        at::where(running.logical_and(refused.logical_not()).unsqueeze(1), neurons, old.neurons);
    action = at::where(refused, none, action);
    const Tensor vector =
        at::one_hot(symbols, inputs_).narrow(1, 0, symbols_).to(action.scalar_type());
    if (exact_) {
      next->stack = analog_step(old.stack, action, vector);
      next->read_stack();
    } else {
      next->stack = analog_step(old.stack, action.detach(), vector);
      const Tensor sum = old.length + action;
      next->length = sum + (analog_length(next->stack) - sum).detach();
      next->reading = with_window_derivative(analog_reading(next->stack), next->stack, action);
    }
    return next;
  }

  std::int64_t inputs_, symbols_, states_;
  double epsilon_, tolerance_;
  bool second_, full_, bottom_, stops_, exact_, quantised_;
  at::TensorOptions options_;
  std::string line_;
  Tensor state_weight_, state_bias_, action_weight_, action_bias_;
  BufferPoolPtr buffers_ = std::make_shared<BufferPool>();
};

OptionSpec bottom_option() {
  OptionSpec spec = boolean_option(
      "bottom_reading", true,
      "add a read neuron with the value 1 - sum R; default: true unless order = 'second'");
  spec.default_value = nullptr;
  return spec;
}

}  // namespace

NetworkKind analog_pushdown_network() {
  NetworkKind kind;
  kind.name = "nnpda";
  kind.doc = "A neural network pushdown automaton with an analog stack (Sun et al. 1998).";
  kind.options = {
      text_option("order", "third", "order of the products that the neurons compute",
                  {"second", "third", "full"})
          // With these numbers of states, all kinds push somewhere.
          .trying("second", {{"states", 4}}),
      integer_option("states", 3, "number J of state neurons", 1).between(1, 1 << 12).trying(2),
      number_option("epsilon", 0.01, "actions of at most this absolute value do nothing")
          .between(0, 1)
          .trying(0),
      text_option("underflow", "stop",
                  "what a pop beyond the bottom does: stop the string, or pop what is left",
                  {"stop", "continue"})
          // A string that stops teaches its states nothing.
          .in_small("continue"),
      number_option("tolerance", 0.5, "fraction of a pop that may be missing on the stack")
          .between(0, 1)
          .trying(0.1),
      bottom_option(),
      text_option("stack_derivative", "exact",
                  "derivative of the reading: exact, or only that of the latest action, at both "
                  "ends of the window",
                  {"exact", "top_and_bottom"}),
      boolean_option("quantised", false, "use integer actions and states in evaluation"),
      number_option("range", 1.0, "initial weights are uniform in +-range", 0).trying(0.5)};
  kind.make = [](const Json& options, const ModuleContext& context, const Kinds&) -> NetworkPtr {
    return std::make_shared<AnalogPushdown>(options, context);
  };
  kind.complete = [](Json options, const Kinds&) {
    const bool full = options["order"] == "full";
    const std::int64_t states = options["states"];
    check(!full || states <= kMostMintermStates, "model.nnpda",
          "order 'full' takes 2^states action weights for each symbol and reading: states must be "
          "at most {}, got {}",
          kMostMintermStates, states);
    if (options["bottom_reading"].is_null())
      options["bottom_reading"] = options["order"] != "second";
    return options;
  };
  return kind;
}

}  // namespace pushdown
