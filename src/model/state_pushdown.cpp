#include "model/state_pushdown.h"

#include "base/check.h"
#include "stack/stack.h"

namespace pushdown {
namespace {

constexpr auto kWhere = "model.nspda";

// Parses two increasing numbers.
std::pair<double, double> interval(const Json& options, const char* name) {
  const Json& list = options[name];
  const bool fits = list.size() == 2 && list[0].is_number() && list[1].is_number();
  check(fits && list[0].get<double>() <= list[1].get<double>(), kWhere,
        "option '{}' must be two numbers, the lower one first, got {}", name, list.dump());
  return {list[0], list[1]};
}

// Returns u with 2 logistic(u) - 1 = level.
double pre_activation(double level) { return 2 * std::atanh(level); }

constexpr const char* kIntervals[] = {"alpha_1", "alpha_2", "alpha_3"};

// Makes the reading values options, so that every record of a model contains them.
Json complete_state_pushdown(Json options, const Kinds&) {
  for (const char* name : kIntervals) interval(options, name);
  const auto [low, high] = interval(options, "action_thresholds");
  check(low > -1 && low <= 0 && high >= 0 && high < 1, kWhere,
        "option 'action_thresholds' must be one number in (-1, 0] and one in [0, 1), got {}",
        options["action_thresholds"].dump());
  Json& values = options["reading_values"];
  if (values.empty()) {
    Random random(options["seed"].get<std::uint64_t>(), "reading values");
    for (const char* name : kIntervals) {
      const auto [least, greatest] = interval(options, name);
      values.push_back(random.uniform(least, greatest));
    }
  }
  const bool fits = values.size() == 3 && std::all_of(values.begin(), values.end(),
                                                      [](auto& v) { return v.is_number(); });
  check(fits, kWhere, "option 'reading_values' must be three numbers, got {}", values.dump());
  for (std::size_t i = 0; i < 3; ++i) {
    const auto [least, greatest] = interval(options, kIntervals[i]);
    const double value = values[i];
    check(value >= least && value <= greatest, kWhere,
          "number {} of option 'reading_values' must lie in {}, {} to {}, got {}", i + 1,
          kIntervals[i], least, greatest, value);
  }
  return options;
}

ReadingValues reading_values(const Json& options, std::size_t end) {
  const auto value = [&](std::size_t i) { return options[kIntervals[i]][end].get<double>(); };
  return {value(0), value(1), value(2)};
}

}  // namespace

NetworkStatePtr StatePushdownState::detached() const {
  auto copy = std::make_shared<StatePushdownState>(*this);
  copy->neurons = neurons.detach();
  copy->reading = reading.detach();
  return copy;
}

std::size_t StatePushdownState::bytes() const {
  std::size_t total = tensor_bytes(neurons) + tensor_bytes(reading) + tensor_bytes(symbol);
  for (const auto& stack : *stacks) total += stack.size() * sizeof(std::int64_t);
  return total;
}

std::vector<Tensor> StatePushdownState::tensors() const {
  check(!symbol.defined(), kWhere, "a symbol of this state has not been read yet");
  return {neurons, reading};
}

NetworkStatePtr StatePushdownState::with_tensors(const std::vector<Tensor>& tensors) const {
  check(tensors.size() == 2 && tensors[0].sizes() == neurons.sizes() &&
            tensors[1].sizes() == reading.sizes(),
        kWhere, "a state is two tensors, {} and {}", shape_text(neurons), shape_text(reading));
  auto copy = std::make_shared<StatePushdownState>(*this);
  copy->neurons = tensors[0];
  copy->reading = tensors[1];
  return copy;
}

StatePushdown::StatePushdown(const Json& options, const ModuleContext& context)
    : order_(options["order"] == "third" ? Order::third : Order::second),
      reading_kind_(options["reading"] == "top" ? Reading::top : Reading::action),
      discrete_(options["discrete"] == "evaluation" ? Discrete::evaluation
                : options["discrete"] == "never"    ? Discrete::never
                                                    : Discrete::always),
      states_(options["states"]),
      symbols_(context.input - context.end_symbols),
      inputs_(context.input),
      least_(reading_values(options, 0)),
      greatest_(reading_values(options, 1)),
      push_threshold_(pre_activation(options["action_thresholds"][1])),
      pop_threshold_(pre_activation(options["action_thresholds"][0])),
      options_(context.tensor_options) {
  const Json& values = options["reading_values"];
  values_ = {values[0], values[1], values[2]};
  const double range = options["range"];
  const auto weight = [&](std::int64_t rows) {
    if (order_ == Order::third)
      return uniform_parameter({rows, states_, readings(), inputs_}, -range, range, context);
    return uniform_parameter({rows, states_, readings() + inputs_}, -range, range, context);
  };
  state_weight_ = weight(states_);
  state_bias_ = zero_parameter({states_}, context);
  action_weight_ = weight(symbols_);
  action_bias_ = zero_parameter({symbols_}, context);
  parameters_ = {{"state.weight", state_weight_},
                 {"state.bias", state_bias_},
                 {"action.weight", action_weight_},
                 {"action.bias", action_bias_}};
  hints_ = at::zeros({states_, readings(), inputs_}, at::kBool);
  weight_scale_ = at::full({1}, options["weight_scale"].get<double>(), at::kDouble);
  buffers_ = {{"hints", hints_}, {"weight_scale", weight_scale_}};
}

std::string StatePushdown::line() const {
  return fmt::format("{}-order neural state pushdown automaton",
                     order_ == Order::third ? "third" : "second");
}

void StatePushdown::set_hints(const Tensor& mask) const {
  check(mask.sizes() == hints_.sizes() && mask.scalar_type() == at::kBool, kWhere,
        "the mask of hints must be {} of bool, got {} of {}", shape_text(hints_), shape_text(mask),
        dtype_name(mask.scalar_type()));
  hints_.copy_(mask);
}

void StatePushdown::set_weight_scale(double scale) const {
  check(scale > 0, kWhere, "the scale of discrete weights must be above 0, got {}", scale);
  weight_scale_.fill_(scale);
}

bool StatePushdown::is_discrete(const Random* noise) const {
  if (discrete_ == Discrete::evaluation) return noise == nullptr && !at::GradMode::is_enabled();
  return discrete_ == Discrete::always;
}

std::vector<double> StatePushdown::reading(std::int64_t top, std::int64_t popped,
                                           const ReadingValues& values) const {
  std::vector<double> seen(readings(), values.other);
  if (popped >= 0) seen.at(popped) = values.popped;
  seen.at(top) = values.top;
  return seen;
}

StatePushdown::PreActivations StatePushdown::pre_activations(const std::vector<double>& state,
                                                             const std::vector<double>& reading,
                                                             std::int64_t symbol,
                                                             bool discrete) const {
  check(std::ssize(state) == states_ && std::ssize(reading) == readings() && symbol >= 0 &&
            symbol < inputs_,
        kWhere, "expected {} state neurons, {} read neurons and a symbol below {}, got {}, {}, {}",
        states_, readings(), inputs_, state.size(), reading.size(), symbol);
  at::NoGradGuard guard;
  const Weights used = weights(discrete);
  const auto sums = [&](const Tensor& weight, const Tensor& bias) {
    const Tensor w = weight.detach().to(at::kCPU, at::kDouble).contiguous();
    const Tensor b = bias.detach().to(at::kCPU, at::kDouble).contiguous();
    std::vector<double> out(b.data_ptr<double>(), b.data_ptr<double>() + b.numel());
    const auto r = readings();
    for (std::int64_t i = 0; i < std::ssize(out); ++i)
      for (std::int64_t j = 0; j < states_; ++j) {
        if (state[j] == 0) continue;
        double sum = 0;
        if (order_ == Order::third) {
          const double* cell = w.data_ptr<double>() + (i * states_ + j) * r * inputs_ + symbol;
          for (std::int64_t k = 0; k < r; ++k) sum += cell[k * inputs_] * reading[k];
        } else {
          const double* row = w.data_ptr<double>() + (i * states_ + j) * (r + inputs_);
          for (std::int64_t k = 0; k < r; ++k) sum += row[k] * reading[k];
          sum += row[r + symbol];
        }
        out[i] += state[j] * sum;
      }
    return out;
  };
  return {sums(used.state, state_bias_), sums(used.action, action_bias_)};
}

NetworkStatePtr StatePushdown::initial(std::int64_t batch, std::int64_t length) const {
  auto state = std::make_shared<StatePushdownState>();
  state->neurons = at::zeros({batch, states_}, options_);
  state->neurons.select(1, 0).fill_(1);
  state->reading =
      at::tensor(reading(symbols_), at::kDouble).to(options_).expand({batch, readings()}).clone();
  state->stacks = std::make_shared<StatePushdownState::Stacks>(batch);
  return state;
}

Passes StatePushdown::advance(const Tensor& words, const Refinement& refinement,
                              const NetworkStatePtr& state, Random* noise) const {
  // A symbol that was given but not yet read comes first.
  auto from = std::static_pointer_cast<const StatePushdownState>(state);
  if (from->symbol.defined())
    from = std::static_pointer_cast<const StatePushdownState>(peek(state, noise).second);
  const Weights used = weights(is_discrete(noise));
  const bool needs_gradient = at::GradMode::is_enabled() &&
                              (state_weight_.requires_grad() || state_bias_.requires_grad() ||
                               action_weight_.requires_grad() || action_bias_.requires_grad() ||
                               from->neurons.requires_grad() || from->reading.requires_grad());
  if (needs_gradient || !has_kernel()) return advance_stepwise(words, refinement, *from, used);
  return options_.dtype() == at::kFloat ? advance_inside<float>(words, refinement, *from, used)
                                        : advance_inside<double>(words, refinement, *from, used);
}

Passes StatePushdown::run(const PassRequest& request) const {
  const auto begin = initial(request.words.size(0), request.words.size(1));
  Passes made = advance(request.words, request.refinement, begin, request.noise);
  const auto& first = static_cast<const StatePushdownState&>(*begin).neurons;
  made.hiddens = at::cat({first.unsqueeze(1), made.hiddens}, 1);
  made.state = nullptr;
  return made;
}

// The stack is digital: every weight is 0 or 1.
std::vector<NetworkTrace> StatePushdown::traces(const PassRequest& request) const {
  StackTrace trace{{"push", "pop", "no_op"}};
  auto state = initial(1, request.words.size(1));
  std::vector<double> weights, depths;
  std::vector<Tensor> seen{at::empty({0, readings()}, options_)};
  for (std::int64_t t = 0; t < request.words.size(1); ++t) {
    const Tensor word = request.words.narrow(1, t, 1);
    state = advance(word, request.refinement, state, nullptr).state;
    const auto& after = static_cast<const StatePushdownState&>(*state);
    const auto depth = static_cast<double>(after.stacks->front().size());
    const double change = depth - (depths.empty() ? 0 : depths.back());
    weights.insert(weights.end(),
                   {change > 0 ? 1. : 0., change < 0 ? 1. : 0., change == 0 ? 1. : 0.});
    depths.push_back(depth);
    seen.push_back(after.reading);
  }
  trace.weights = at::tensor(weights, at::kDouble).view({-1, 1, 3});
  trace.depth = at::tensor(depths, at::kDouble).unsqueeze(1);
  trace.readings = at::cat(seen);
  return {{1, "digital", trace}};
}

std::pair<Tensor, NetworkStatePtr> StatePushdown::peek(const NetworkStatePtr& state,
                                                       Random* noise) const {
  const auto& old = static_cast<const StatePushdownState&>(*state);
  if (!old.symbol.defined()) return {old.neurons, state};
  auto from = std::make_shared<StatePushdownState>(old);
  from->symbol = Tensor();
  const Passes made = advance(old.symbol, 1, from, noise);
  return {made.hiddens.select(1, 0), made.state};
}

std::pair<Tensor, NetworkStatePtr> StatePushdown::read(const Tensor& words,
                                                       const NetworkStatePtr& state,
                                                       Random* noise) const {
  const auto length = words.size(1);
  if (length == 0) return {at::empty({words.size(0), 0, states_}, options_), state};
  const auto [before, read_up] = peek(state, noise);
  const Passes made = advance(words.narrow(1, 0, length - 1), 1, read_up, noise);
  auto next =
      std::make_shared<StatePushdownState>(static_cast<const StatePushdownState&>(*made.state));
  next->symbol = words.narrow(1, length - 1, 1).clone();
  return {at::cat({before.unsqueeze(1), made.hiddens}, 1), next};
}

NetworkKind state_pushdown_network() {
  NetworkKind kind;
  kind.name = "nspda";
  kind.doc = "The neural state pushdown automaton: quantised neurons with a digital stack.";
  kind.options = {
      text_option("order", "third", "order of the products of state, read and input neurons",
                  {"third", "second"}),
      integer_option("states", 6, "number of state neurons", 1)
          .between(1, 1 << 12)
          .in_small(3)
          .trying(2),
      text_option("reading", "top",
                  "source of the read neurons: the top of the stack, or the action neurons",
                  {"top", "action"}),
      list_option("alpha_1", {0.0001, 0.008}, "interval for the reading of other symbols")
          .trying({0.1, 0.2}),
      list_option("alpha_2", {0.901, 0.992}, "interval for the reading of the top symbol")
          .trying({0.5, 0.6}),
      list_option("alpha_3", {0.025, 0.110},
                  "interval for the reading of a symbol that was just popped")
          .trying({0.3, 0.4}),
      list_option("reading_values", Json::array(),
                  "the three readings; an empty list: drawn with the seed from the intervals")
          .trying({0.001, 0.95, 0.05}),
      list_option("action_thresholds", {-0.09, 0.13},
                  "an action below the first number pops, one above the second pushes")
          .trying({-0.2, 0.2}),
      text_option("discrete", "evaluation", "when weights are rounded to 0 or +-weight_scale",
                  {"evaluation", "never", "always"}),
      number_option("weight_scale", 1.0, "size of a discrete weight").trying(2),
      number_option("range", 1.0, "initial weights are uniform in +-range", 0).trying(0.5)};
  for (auto& spec : kind.options)
    if (spec.name == "weight_scale") spec.between(std::numeric_limits<double>::min(), 1e6);
  kind.make = [](const Json& options, const ModuleContext& context, const Kinds&) -> NetworkPtr {
    return std::make_shared<StatePushdown>(options, context);
  };
  kind.complete = complete_state_pushdown;
  return kind;
}

}  // namespace pushdown
