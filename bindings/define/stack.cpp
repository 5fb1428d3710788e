// Stacks that a script defines.
#include "array/array_function.h"
#include "bindings/define/stack_structure.h"
#include "bindings/tensor/classes.h"
#include "recurrence/trace/array_lowering.h"
#include "stack/stack_trace.h"

namespace pushdown {
namespace {

class ScriptStack : public Stack, public TraceableStack {
 public:
  ScriptStack(StackDefinitionPtr definition, const Json& options, const ModuleContext& context)
      : definition_(std::move(definition)),
        tensor_options_(context.tensor_options),
        recording_(definition_->head.where, definition_->told) {
    const auto& head = definition_->head;
    for (auto& spec : action_specs(*definition_, options, context.input)) {
      layers_.push_back(
          make_action_layer(spec.name, spec.rows(), spec.gain, context, parameters_, spec.bias));
      specs_.push_back(std::move(spec));
    }
    ParameterList own;
    if (definition_->parameters)
      own = make_parameters(definition_->parameters.rows(options, context.input), options,
                            head.where + ".parameters", context);
    for (const auto& entry : own) {
      for (const auto& [name, tensor] : parameters_)
        check(name != entry.first, head.where + ".parameters",
              "'{}' is a parameter of an action layer; choose another name", name);
      parameters_.push_back(entry);
    }
    for (const auto& entry : own) own_.push_back(entry.second);
    structure_.emplace(definition_, options, own, context.tensor_options, context.input);
    if (!definition_->no_op_layer.empty()) find_no_op();
  }

  OriginPtr origin() const override { return definition_->head.origin; }
  std::int64_t reading_size() const override { return structure_->reading_size(); }
  StackStatePtr initial(std::int64_t batch, std::int64_t length) const override {
    if (runs_recorded())
      if (auto start = recorded_start(batch, length)) return start;
    return structure_->initial(batch, length);
  }
  StackStatePtr update(const StackStatePtr& state, const Tensor& hidden) const override {
    NamedTensors drive;
    if (specs_.empty()) drive["hidden"] = hidden;
    for (std::size_t i = 0; i < specs_.size(); ++i) drive[specs_[i].name] = action(i, hidden);
    if (runs_recorded()) {
      const auto found = recorded_step(static_cast<const ScriptStackState&>(*state));
      if (found.update != nullptr)
        return with_numbers(found.next, run_recorded(found.update, state, &drive));
    }
    return structure_->update(state, drive);
  }
  Tensor reading(const StackStatePtr& state) const override {
    if (runs_recorded()) {
      const auto found = recorded_step(static_cast<const ScriptStackState&>(*state));
      if (found.reading != nullptr) return run_recorded(found.reading, state, nullptr);
    }
    return structure_->reading(state);
  }
  std::optional<NoOp> no_op(const Tensor& hidden) const override {
    if (definition_->no_op_layer.empty()) return std::nullopt;
    return no_op_among(action(no_op_, hidden), definition_->no_op_column);
  }

  StackTrace trace(const Tensor& hiddens) const override;

  RecordedStackPtr recorded(const StackRequest& request) const override;

 private:
  friend class RecordedScriptStack;
  Tensor numbers_of(const ScriptStackState& state) const {
    std::vector<Tensor> parts;
    for (const Tensor& tensor : state.value.tensors)
      parts.push_back(tensor.reshape({state.batch, -1}).to(tensor_options_));
    return at::cat(parts, 1);
  }
  StackStatePtr with_numbers(const StackStatePtr& old, const Tensor& numbers) const {
    auto state = std::make_shared<ScriptStackState>(static_cast<const ScriptStackState&>(*old));
    std::int64_t first = 0;
    for (Tensor& tensor : state->value.tensors) {
      const auto count = tensor.numel() / state->batch;
      auto sizes = tensor.sizes().vec();
      sizes[0] = numbers.size(0);
      tensor = numbers.narrow(1, first, count).reshape(sizes).to(tensor.scalar_type());
      first += count;
    }
    state->batch = numbers.size(0);
    return state;
  }
  bool recordable() const { return !recording_.refused(); }
  // Whether a call for one step runs a recorded program.
  bool runs_recorded() const {
    return RecordedCalls::wanted() && recordable() && tensor_options_.device().is_cpu();
  }
  // drive: the values of the actions; null for a reading, which has none.
  Tensor run_recorded(const ArrayProgramPtr& program, const StackStatePtr& state,
                      const NamedTensors* drive) const {
    std::vector<Tensor> inputs{numbers_of(static_cast<const ScriptStackState&>(*state))};
    const auto action = [&](const std::string& name) {
      inputs.push_back(drive != nullptr ? drive->at(name) : inputs[0]);
    };
    for (const auto& spec : specs_) action(spec.name);
    if (specs_.empty()) action("hidden");
    for (const Tensor& parameter : own_) inputs.push_back(parameter.unsqueeze(0));
    return run_array(program, inputs);
  }
  // Returns the initial state if it is the same for all sequences and no parameter is a part of it;
  // otherwise null.
  StackStatePtr recorded_start(std::int64_t batch, std::int64_t length) const {
    const std::lock_guard lock(recording_.mutex());
    auto found = starts_.find(length);
    if (found == starts_.end()) {
      if (!ScriptCall::possible(definition_->initial)) return nullptr;
      const auto one = structure_->initial(1, length), more = structure_->initial(3, length);
      const auto &first = static_cast<const ScriptStackState&>(*one).value,
                 &others = static_cast<const ScriptStackState&>(*more).value;
      bool same = first.frame == others.frame && first.tensors.size() == others.tensors.size();
      for (std::size_t i = 0; same && i < first.tensors.size(); ++i)
        same = !first.tensors[i].requires_grad() &&
               others.tensors[i].equal(first.tensors[i].expand_as(others.tensors[i]));
      found = starts_.emplace(length, same ? one : nullptr).first;
    }
    if (found->second == nullptr) return nullptr;
    auto state =
        std::make_shared<ScriptStackState>(static_cast<const ScriptStackState&>(*found->second));
    state->batch = batch;
    for (Tensor& tensor : state->value.tensors) {
      auto sizes = tensor.sizes().vec();
      sizes[0] = batch;
      tensor = tensor.expand(sizes);
    }
    return state;
  }
  static constexpr std::size_t kMostForms = 1000;  // of the state that are recorded
  std::size_t action_count() const { return std::max<std::size_t>(1, specs_.size()); }
  // The programs of this number of steps, or none if the step cannot be recorded.
  StackPrograms recorded_whole(std::int64_t steps) const {
    return find_or_record(recorded_, steps, [&] { return structure_->record(specs_, steps); });
  }
  // The programs of any number of steps from a state of this form, or none if a step changes it.
  StackPrograms recorded_from(const ScriptStackState& state) const {
    if (grows_) return {};
    const StackPrograms found = recorded_step(state);
    grows_ = grows_ || (found.update != nullptr && !found.keeps_form);
    return grows_ ? StackPrograms{} : found;
  }
  // The programs of one step from a state of this form.
  StackPrograms recorded_step(const ScriptStackState& state) const {
    if (state.value.tensors.empty()) return {};
    std::string form = state.value.frame.dump();
    for (const Tensor& tensor : state.value.tensors) form += " " + shape_text(tensor[0]);
    const std::lock_guard lock(recording_.mutex());
    if (recorded_from_.size() >= kMostForms && !recorded_from_.contains(form)) return {};
    const StackPrograms found = find_or_record(
        recorded_from_, form, [&] { return structure_->record_from(specs_, state); });
    return found.next != nullptr ? found : StackPrograms{};
  }
  template <class Key, class Record>
  StackPrograms find_or_record(std::map<Key, StackPrograms>& all, const Key& key,
                               const Record& record) const {
    const std::lock_guard lock(recording_.mutex());
    if (const auto found = all.find(key); found != all.end()) return found->second;
    if (recording_.busy || !ScriptCall::possible(definition_->update)) return {};
    const RecordingTurn turn(recording_);
    try {
      auto made = record();
      if (const auto* refusal = std::get_if<ArrayRefusal>(&made)) {
        recording_.refuse(*refusal);
        return {};
      }
      return all[key] = std::get<StackPrograms>(std::move(made));
    } catch (const ScriptError& error) {
      if (!error.is_text()) throw;
      recording_.fail(error.what());
    }
    return {};
  }
  Traced traced_action(std::size_t i, const Traced& hidden) const {
    const ActionSpec& spec = specs_[i];
    const Traced values = layers_[i](hidden);
    if (spec.activation == "softmax") return values.softmax_of_groups(spec.shape.back());
    if (spec.activation == "sigmoid") return values.sigmoid();
    return spec.activation == "tanh" ? values.tanh() : values;
  }

  // hidden : B x H -> B x the action's shape
  Tensor action(std::size_t i, const Tensor& hidden) const {
    const ActionSpec& spec = specs_[i];
    Tensor values = layers_[i](hidden);
    if (spec.shape.size() > 1) {
      auto sizes = spec.shape;
      sizes.insert(sizes.begin(), values.size(0));
      values = values.view(sizes);
    }
    if (spec.activation == "softmax") return values.softmax(-1);
    if (spec.activation == "sigmoid") return values.sigmoid();
    return spec.activation == "tanh" ? values.tanh() : values;
  }

  void find_no_op() {
    const auto where = definition_->head.where + ".no_op";
    for (no_op_ = 0; no_op_ < specs_.size(); ++no_op_)
      if (specs_[no_op_].name == definition_->no_op_layer) break;
    check(no_op_ < specs_.size(), where, "there is no action '{}'", definition_->no_op_layer);
    const auto& shape = specs_[no_op_].shape;
    check(shape.size() <= 2 && definition_->no_op_column < shape.back(), where,
          "the action '{}' is B{} and has no column {}", definition_->no_op_layer,
          specs_[no_op_].text(), definition_->no_op_column + 1);
  }

  StackDefinitionPtr definition_;
  std::vector<ActionSpec> specs_;
  std::vector<ActionLayer> layers_;
  std::optional<StackStructure> structure_;
  std::size_t no_op_ = 0;
  at::TensorOptions tensor_options_;
  std::vector<Tensor> own_;  // the parameters that do not belong to action layers
  mutable RecordingState recording_;
  mutable std::map<std::int64_t, StackPrograms> recorded_;      // by number of steps
  mutable std::map<std::string, StackPrograms> recorded_from_;  // by the form of the state
  mutable std::map<std::int64_t, StackStatePtr> starts_;        // by length, see recorded_start()
  mutable std::atomic<bool> grows_ = false;  // a step changes the form of the state
};

StackTrace ScriptStack::trace(const Tensor& hiddens) const {
  StackTrace trace;
  std::vector<Tensor> weights{at::empty({hiddens.size(0), 0}, tensor_options_)};
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const auto& columns = specs_[i].columns;
    if (columns.empty()) continue;
    trace.actions.insert(trace.actions.end(), columns.begin(), columns.end());
    weights.push_back(action(i, hiddens).flatten(1));
  }
  trace.weights = at::cat(weights, 1).unsqueeze(1);
  if (!definition_->depth) return trace;
  std::vector<Tensor> depths{at::empty({0}, tensor_options_)};
  auto state = initial(1, hiddens.size(0));
  for (std::int64_t t = 0; t < hiddens.size(0); ++t) {
    state = update(state, hiddens.narrow(0, t, 1));
    depths.push_back(structure_->depth(state));
  }
  trace.depth = at::cat(depths).unsqueeze(1);
  return trace;
}

// The programs of a stack in one pass. Its state is a vector of the step.
class RecordedScriptStack final : public RecordedStack {
 public:
  RecordedScriptStack(const ScriptStack& stack, StackPrograms programs, std::int64_t batch,
                      StackStatePtr from)
      : stack_(stack), programs_(std::move(programs)), batch_(batch), from_(std::move(from)) {}

  Traced reading(StepTrace& trace) override {
    state_ = trace.state(
        from_ != nullptr ? stack_.numbers_of(static_cast<const ScriptStackState&>(*from_))
                         : at::zeros({batch_, programs_.update->output}, stack_.tensor_options_));
    if (programs_.appended > 0) room_ = trace.room(programs_.appended);
    // A reading has no actions, so any tensors take their place.
    return trace.array(programs_.reading,
                       operands(trace, std::vector(stack_.action_count(), state_)));
  }
  TracedNoOp update(StepTrace& trace, const Traced& hidden, const Traced&) override {
    std::vector<Traced> actions;
    for (std::size_t i = 0; i < stack_.specs_.size(); ++i)
      actions.push_back(stack_.traced_action(i, hidden));
    const Traced made = trace.array(
        programs_.update, operands(trace, actions.empty() ? std::vector{hidden} : actions));
    trace.bind(state_, made);
    if (room_.defined()) trace.fill(room_, made);
    const auto& definition = *stack_.definition_;
    if (definition.no_op_layer.empty()) return {};
    return no_op_among(actions[stack_.no_op_], stack_.specs_[stack_.no_op_].shape.back(),
                       definition.no_op_column);
  }
  Traced state() const override { return state_; }
  StackStatePtr left(const Tensor& numbers) const override {
    return stack_.with_numbers(from_, numbers);
  }

 private:
  std::vector<Traced> operands(StepTrace& trace, const std::vector<Traced>& actions) const {
    std::vector<Traced> all{state_};
    all.insert(all.end(), actions.begin(), actions.end());
    for (const Tensor& parameter : stack_.own_)
      all.push_back(trace.constant(flat_parameter(parameter)));
    if (room_.defined()) all.push_back(room_);
    return all;
  }

  const ScriptStack& stack_;
  StackPrograms programs_;
  std::int64_t batch_;
  StackStatePtr from_;  // null: the sequence begins with the initial state
  Traced state_, room_;
};

RecordedStackPtr ScriptStack::recorded(const StackRequest& request) const {
  if (!recordable()) return nullptr;
  const auto& from = request.from;
  StackPrograms programs = from == nullptr
                               ? recorded_whole(request.steps)
                               : recorded_from(static_cast<const ScriptStackState&>(*from));
  if (programs.update == nullptr) return nullptr;
  const RecordedCalls recorded_calls(true);
  return std::make_unique<RecordedScriptStack>(
      *this, std::move(programs), request.batch,
      request.driven_by.defined() ? update(from, request.driven_by) : from);
}

// Drives the bare data structure with tensors B x n x ... as values of the action layers.
Tensor simulate_defined(const StackDefinitionPtr& definition, const Json& options,
                        const NamedTensors& inputs) {
  const auto& where = definition->head.where;
  NamedTensors given;
  std::int64_t hidden = 0;
  if (!definition->actions) {
    given["hidden"] = simulate_input(definition->head.origin->name, inputs, "hidden", {-1, -1, -1});
    hidden = given["hidden"].size(2);
  }
  std::int64_t batch = -1, length = -1;
  for (const auto& spec : action_specs(*definition, options, hidden)) {
    std::vector<std::int64_t> shape{batch, length};
    shape.insert(shape.end(), spec.shape.begin(), spec.shape.end());
    const Tensor& values = simulate_input(definition->head.origin->name, inputs, spec.name, shape);
    batch = values.size(0);
    length = values.size(1);
    given[spec.name] = values;
  }
  check(!given.empty(), where, "the list of actions is empty");
  const Tensor& any = given.begin()->second;
  const StackStructure structure(definition, options, {}, any.options(), hidden);
  auto state = structure.initial(any.size(0), any.size(1));
  std::vector<Tensor> readings{structure.reading(state)};
  for (std::int64_t t = 0; t < any.size(1); ++t) {
    NamedTensors drive;
    for (const auto& [name, tensor] : given) drive[name] = tensor.select(1, t);
    state = structure.update(state, drive);
    readings.push_back(structure.reading(state));
  }
  return at::stack(readings, 1);
}

// The tensors that simulate() takes, with the sizes from the defaults.
std::vector<std::pair<std::string, std::string>> inputs_of(const StackDefinition& definition) {
  if (!definition.actions) return {{"hidden", "B x n x H: what drives each step"}};
  Json defaults = Json::object();
  for (const auto& spec : definition.head.options) defaults[spec.name] = spec.default_value;
  std::vector<std::pair<std::string, std::string>> inputs;
  for (const auto& spec : action_specs(definition, defaults, 1))
    inputs.emplace_back(spec.name, fmt::format("B x n{}, by default", spec.text()));
  return inputs;
}

}  // namespace

OptionRows StackOptions::rows() {
  using Self = StackOptions;
  constexpr TypeText kFunction{"function"}, kList{"list of tables or function"};
  return declare<Self>(
             {{"initial", &Self::initial, "initial(self, batch, length) -> state", kFunction},
              {"update", &Self::update, "update(self, state, actions) -> state", kFunction},
              {"reading", &Self::reading, "reading(self, state) -> B x R", kFunction},
              {"actions", &Self::actions, "action layers, each { name, size }", kList},
              {"parameters", &Self::parameters, "each { name, shape }", kList},
              {"no_op", &Self::no_op, "{ action, column } that changes nothing"},
              {"depth", &Self::depth, "depth(self, state) -> B numbers, for traces", kFunction}})
      .with<Self, DefinitionOptions>();
}

std::string define_stack(lua_State* L, StackOptions given) {
  auto definition = std::make_shared<StackDefinition>();
  definition->head = read_head(L, given, "stack", row_names(stack_kinds()));
  const auto& head = definition->head;
  definition->initial = read_function(L, given.initial, head, "initial", "(self, batch, length)");
  definition->update = read_function(L, given.update, head, "update", "(self, state, actions)");
  definition->reading = read_function(L, given.reading, head, "reading", "(self, state)");
  if (!given.depth.key.empty())
    definition->depth = read_function(L, given.depth, head, "depth", "(self, state)");
  definition->actions = read_rows(L, given.actions, head, "actions", "action", {"name", "size"},
                                  {"activation", "bias", "gain", "columns"});
  definition->parameters = read_rows(L, given.parameters, head, "parameters", "parameter",
                                     kParameterPlaces, kParameterNames);
  if (const auto& no_op = given.no_op) {
    check(no_op->is_array() && no_op->size() == 2 && (*no_op)[0].is_string() &&
              (*no_op)[1].is_number_integer() && (*no_op)[1] >= 1,
          head.where + ".no_op", "expected {{ 'action', column }}, columns from 1, got {}",
          no_op->dump());
    definition->no_op_layer = (*no_op)[0];
    definition->no_op_column = (*no_op)[1].get<std::int64_t>() - 1;
  }

  StackKind kind;
  kind.name = head.origin->name;
  kind.doc = head.doc;
  kind.options = head.options;
  kind.make = [definition](const Json& options, const ModuleContext& context) -> StackPtr {
    return std::make_shared<ScriptStack>(definition, options, context);
  };
  if (!definition->parameters) {
    kind.inputs = inputs_of(*definition);
    kind.simulate_options = head.options;
    kind.simulate = [definition](const Json& options, const NamedTensors& inputs) {
      return simulate_defined(definition, options, inputs);
    };
  }
  put_row(session_kinds(L).stacks, std::move(kind));
  document_kind(L, "pd.stack", head);
  return head.origin->name;
}

}  // namespace pushdown
