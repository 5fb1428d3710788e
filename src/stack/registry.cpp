// The list of stacks and the code common to all of them.
#include "base/check.h"
#include "stack/kinds.h"

namespace pushdown {

PUSHDOWN_REGISTRY(StackKind, stack_kinds, none_stack(), superposition_stack(),
                  stratification_stack(), stratification_queue(), stratification_deque(),
                  nondeterministic_stack(), vector_nondeterministic_stack(),
                  parallel_superposition_stack(), list_stack(), baby_ntm_stack(), tape_stack(),
                  analog_stack())

StackPtr make_stack(const Json& options, const ModuleContext& context,
                    const std::vector<StackKind>& kinds) {
  const auto [row, resolved] = resolve_kind("stack", kinds, options);
  return row.make(resolved, context);
}

Tensor Stack::readings(const Tensor& hiddens) const {
  auto state = initial(hiddens.size(0), hiddens.size(1));
  std::vector<Tensor> all;
  for (const Tensor& hidden : hiddens.unbind(1)) {
    state = update(state, hidden);
    all.push_back(reading(state));
  }
  return all.empty() ? at::empty({hiddens.size(0), 0, reading_size()}, hiddens.options())
                     : at::stack(all, 1);
}

std::vector<Tensor> StackState::tensors() const {
  fail("stack.tensors", "this stack does not support states as lists of tensors");
}

StackStatePtr StackState::with_tensors(const std::vector<Tensor>&) const {
  fail("stack.with_tensors", "this stack does not support states made from lists of tensors");
}

void check_state_tensors(std::string_view where, const std::vector<Tensor>& own,
                         const std::vector<Tensor>& given) {
  check(given.size() == own.size(), where, "expected {} tensors, got {}", own.size(), given.size());
  for (std::size_t i = 0; i < own.size(); ++i)
    check(given[i].defined() && given[i].sizes() == own[i].sizes(), where,
          "tensor {} must be {}, got {}", i + 1, shape_text(own[i]), shape_text(given[i]));
}

std::size_t tensor_bytes(const Tensor& tensor) { return tensor.defined() ? tensor.nbytes() : 0; }

namespace {

// Returns the kind and its resolved options after checking the inputs.
std::pair<const StackKind&, Json> simulation(const Json& options, const NamedTensors& inputs,
                                             const std::vector<StackKind>& kinds) {
  constexpr auto kWhere = "stack.simulate";
  check(options.is_object() && options.contains("kind") && options["kind"].is_string(), kWhere,
        "expected a table with a 'kind', one of {}", quoted_list(row_names(kinds)));
  const StackKind& kind = find_row(kWhere, kinds, options["kind"].get<std::string>());
  check(kind.simulate != nullptr, kWhere, "kind '{}' has no data structure to simulate", kind.name);
  const auto where = fmt::format("{} {}", kWhere, kind.name);

  std::vector<std::string> names;
  for (const auto& [name, doc] : kind.inputs) names.push_back(name);
  for (const auto& [name, tensor] : inputs) {
    const bool known = std::find(names.begin(), names.end(), name) != names.end();
    check(known, where, "unknown tensor '{}'; the tensors are {}", name, quoted_list(names));
    check(at::isFloatingType(tensor.scalar_type()), where,
          "'{}' must be a float32 or float64 tensor, got {}", name,
          dtype_name(tensor.scalar_type()));
    check(tensor.scalar_type() == inputs.begin()->second.scalar_type() &&
              tensor.device() == inputs.begin()->second.device(),
          where, "'{}' and '{}' must have the same dtype and device", inputs.begin()->first, name);
  }
  Json rest = options;
  rest.erase("kind");
  return {kind, resolve_options(where, kind.simulate_options, rest)};
}

}  // namespace

Tensor simulate_stack(const Json& options, const NamedTensors& inputs,
                      const std::vector<StackKind>& kinds) {
  const auto [kind, resolved] = simulation(options, inputs, kinds);
  return kind.simulate(resolved, inputs);
}

NamedTensors simulate_strengths(const Json& options, const NamedTensors& inputs,
                                const std::vector<StackKind>& kinds) {
  const auto [kind, resolved] = simulation(options, inputs, kinds);
  check(kind.strengths != nullptr, "stack.strengths",
        "kind '{}' has no strengths; only the stratification kinds have", kind.name);
  return kind.strengths(resolved, inputs);
}

ActionLayer make_action_layer(const std::string& name, std::int64_t rows, double gain,
                              const ModuleContext& context, ParameterList& parameters, bool bias) {
  ActionLayer layer{xavier_parameter(rows, context.input, gain, context), {}};
  parameters.emplace_back(name + "_weight", layer.weight);
  if (!bias) return layer;
  layer.bias = uniform_parameter({rows}, -0.1, 0.1, context);
  parameters.emplace_back(name + "_bias", layer.bias);
  return layer;
}

Tensor action_shares(const ActionLayer& layer, const Tensor& hidden, double temperature) {
  const Tensor scores = layer(hidden);
  return (temperature == 1 ? scores : scores / temperature).softmax(-1);
}

Traced action_shares(const ActionLayer& layer, const Traced& hidden, double temperature) {
  return (layer(hidden) * (1 / temperature)).softmax(1);
}

OptionSpec temperature_option() {
  return number_option("temperature", 1.0, "T: the actions are softmax(scores / T)", 1e-6)
      .trying(0.5);
}

NoOp no_op_among(const Tensor& actions, std::int64_t column) {
  const Tensor all = actions.dim() == 2 ? actions.unsqueeze(1) : actions;  // B x K x A
  const Tensor own = all.select(2, column);                                // B x K
  const auto behind = all.size(2) - column - 1;
  const Tensor others =
      at::cat({all.narrow(2, 0, column), all.narrow(2, column + 1, behind)}, 2).amax(2);
  return {own.prod(1, true), at::gt(own, others).all(1, true)};
}

TracedNoOp no_op_among(const Traced& actions, std::int64_t count, std::int64_t column) {
  TracedNoOp result;
  const auto both = [](Traced& so_far, const Traced& one) {
    so_far = so_far.defined() ? so_far * one : one;
  };
  for (std::int64_t first = 0; first < actions.size(); first += count) {
    const Traced own = actions.narrow(1, first + column, 1);
    both(result.weight, own);
    for (std::int64_t k = 0; k < count; ++k)
      if (k != column) both(result.greatest, larger(own, actions.narrow(1, first + k, 1)));
  }
  return result;
}

std::vector<OptionSpec> pushed_vector_options() {
  return {
      boolean_option("bias", true, "give the action layers a bias"),
      text_option("vector", "sigmoid", "activation of the layer that computes the pushed vector",
                  {"sigmoid", "linear", "exp"})};
}

Tensor simulate_input(std::string_view kind, const NamedTensors& inputs, const std::string& name,
                      at::IntArrayRef shape) {
  const auto where = fmt::format("stack.simulate {}", kind);
  std::string wanted;
  for (const auto size : shape)
    wanted += (wanted.empty() ? "" : " x ") + (size < 0 ? "any" : std::to_string(size));
  const auto found = inputs.find(name);
  check(found != inputs.end(), where, "tensor '{}' ({}) is missing", name, wanted);
  const Tensor& tensor = found->second;
  bool fits = tensor.dim() == static_cast<std::int64_t>(shape.size());
  for (std::size_t d = 0; fits && d < shape.size(); ++d)
    fits = shape[d] < 0 || tensor.size(static_cast<std::int64_t>(d)) == shape[d];
  check(fits, where, "'{}' must be {}, got {}", name, wanted, shape_text(tensor));
  return tensor;
}

}  // namespace pushdown
