#include "bindings/define/stack_structure.h"

#include "bindings/tensor/classes.h"

namespace pushdown {
namespace {

const std::vector<std::string> kActivations{"linear", "sigmoid", "tanh", "softmax"};

// The names of an action's values in traces: the given ones, or else those of a softmax or of one
// number after the action.
std::vector<std::string> columns_of(const Json& row, const ActionSpec& spec,
                                    const std::string& where, const std::string& of) {
  std::vector<std::string> names;
  const auto count = static_cast<std::size_t>(spec.rows());
  if (row.contains("columns")) {
    const Json& given = row["columns"];
    const bool texts = given.is_array() && std::all_of(given.begin(), given.end(),
                                                       [](auto& name) { return name.is_string(); });
    check(texts && given.size() == count, where, "the columns of {} must be {} names, got {}", of,
          count, given.dump());
    return given;
  }
  if (count == 1) return {spec.name};
  if (spec.activation == "softmax")
    for (std::size_t i = 1; i <= count; ++i) names.push_back(fmt::format("{} {}", spec.name, i));
  return names;
}

}  // namespace

std::vector<ActionSpec> action_specs(const StackDefinition& definition, const Json& options,
                                     std::int64_t hidden) {
  const auto where = definition.head.where + ".actions";
  std::vector<ActionSpec> specs;
  if (!definition.actions) return specs;
  const Json rows = definition.actions.rows(options, hidden);
  for (const auto& row : rows) {
    ActionSpec spec;
    spec.name = row["name"];
    const auto of = fmt::format("action '{}'", spec.name);
    check(row.contains("size"), where, "{} needs a size: {{ '{}', 3 }}", of, spec.name);
    const Json sizes = row["size"].is_array() ? row["size"] : Json::array({row["size"]});
    for (const auto& size : sizes) spec.shape.push_back(size_of(size, options, where, of));
    const Json activation = row.value("activation", Json("linear"));
    check(activation.is_string() && std::find(kActivations.begin(), kActivations.end(),
                                              activation.get<std::string>()) != kActivations.end(),
          where, "the activation of {} must be one of {}, got {}", of, quoted_list(kActivations),
          activation.dump());
    spec.activation = activation;
    const Json bias = row.value("bias", Json(true)), gain = row.value("gain", Json(1));
    check(bias.is_boolean(), where, "the bias of {} must be true or false, got {}", of,
          bias.dump());
    check(gain.is_number(), where, "the gain of {} must be a number, got {}", of, gain.dump());
    spec.bias = bias;
    spec.gain = gain;
    spec.columns = columns_of(row, spec, where, of);
    specs.push_back(std::move(spec));
  }
  return specs;
}

StackStructure::StackStructure(StackDefinitionPtr definition, const Json& options,
                               const ParameterList& parameters,
                               const at::TensorOptions& tensor_options, std::int64_t hidden)
    : definition_(std::move(definition)),
      options_(tensor_options),
      parameters_(parameters),
      hidden_(hidden) {
  {
    const ScriptCall place(definition_->update);
    self_ = make_self(place.state(), options, parameters, tensor_options, {{"hidden", hidden}});
  }
  const at::NoGradGuard guard;
  reading_size_ = read(*initial(1, 1)).size(1);
}

StackStatePtr StackStructure::initial(std::int64_t batch, std::int64_t length) const {
  ScriptCall call(definition_->initial);
  self_->push(call.state());
  Value<std::int64_t>::push(call.state(), batch);
  Value<std::int64_t>::push(call.state(), length);
  call.run(1);
  return state_of(call, definition_->initial, batch);
}

StackStatePtr StackStructure::update(const StackStatePtr& state, const NamedTensors& drive) const {
  const auto& old = static_cast<const ScriptStackState&>(*state);
  ScriptCall call(definition_->update);
  self_->push(call.state());
  old.value.push(call.state());
  if (definition_->actions)
    push_entries<Tensor>(call.state(), drive);
  else
    Value<Tensor>::push(call.state(), drive.at("hidden"));
  call.run(1);
  return state_of(call, definition_->update, old.batch);
}

Tensor StackStructure::reading(const StackStatePtr& state) const {
  return read(static_cast<const ScriptStackState&>(*state), reading_size_);
}

Tensor StackStructure::depth(const StackStatePtr& state) const {
  if (!definition_->depth) return {};
  const auto& own = static_cast<const ScriptStackState&>(*state);
  ScriptCall call(definition_->depth);
  self_->push(call.state());
  own.value.push(call.state());
  call.run(1);
  return read_result(call.state(), 1, definition_->depth, "the depth", {own.batch}, options_);
}

StackStatePtr StackStructure::state_of(const ScriptCall& call, const ScriptFunction& function,
                                       std::int64_t batch) const {
  auto state = std::make_shared<ScriptStackState>();
  state->value = read_state(call.state(), 1, function, batch, options_);
  state->batch = batch;
  return state;
}

Tensor StackStructure::read(const StackState& state, std::int64_t size) const {
  const auto& own = static_cast<const ScriptStackState&>(state);
  ScriptCall call(definition_->reading);
  self_->push(call.state());
  own.value.push(call.state());
  call.run(1);
  return read_result(call.state(), 1, definition_->reading, "the reading", {own.batch, size},
                     options_);
}

}  // namespace pushdown
