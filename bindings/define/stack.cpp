// Stacks that a script defines.
#include "array/appended_parts.h"
#include "array/unread_numbers.h"
#include "bindings/define/definition.h"
#include "bindings/define/recording.h"
#include "bindings/tensor/tensor.h"
#include "recurrence/array_lowering.h"
#include "stack/kinds.h"

namespace pushdown {
namespace {

const std::vector<std::string> kActivations{"linear", "sigmoid", "tanh", "softmax"};

struct StackDefinition {
  DefinitionHead head;
  ScriptFunction initial, update, reading;
  ScriptRows actions, parameters;
  std::string no_op_layer;  // "" if there is no action no_op
  std::int64_t no_op_column = 0;
  ToldPtr told = std::make_shared<std::set<std::string>>();
};
using StackDefinitionPtr = std::shared_ptr<const StackDefinition>;

// An action layer: an affine map of the hidden vector, with its values in their shape.
struct ActionSpec {
  std::string name, activation;
  std::vector<std::int64_t> shape;  // shape of the values of one sequence
  bool bias = true;
  double gain = 1;

  std::int64_t rows() const {
    std::int64_t count = 1;
    for (const auto size : shape) count *= size;
    return count;
  }
  std::string text() const {
    std::string sizes;
    for (const auto size : shape) sizes += fmt::format(" x {}", size);
    return sizes;
  }
};

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
    specs.push_back(std::move(spec));
  }
  return specs;
}

struct ScriptStackState : StackState {
  ScriptState value;
  std::int64_t batch = 0;

  StackStatePtr detached() const override {
    auto copy = std::make_shared<ScriptStackState>(*this);
    for (Tensor& tensor : copy->value.tensors) tensor = tensor.detach();
    return copy;
  }
  std::size_t bytes() const override {
    std::size_t total = 0;
    for (const Tensor& tensor : value.tensors) total += tensor_bytes(tensor);
    return total;
  }
  std::vector<Tensor> tensors() const override {
    std::vector<Tensor> all;
    for (const Tensor& tensor : value.tensors)
      if (tensor.is_floating_point()) all.push_back(tensor);
    return all;
  }
  StackStatePtr with_tensors(const std::vector<Tensor>& given) const override {
    check_state_tensors("stack.state", tensors(), given);
    auto copy = std::make_shared<ScriptStackState>(*this);
    auto next = given.begin();
    for (Tensor& tensor : copy->value.tensors)
      if (tensor.is_floating_point()) tensor = *next++;
    return copy;
  }
};

// The bare data structure: the definition's functions on states.
class Structure {
 public:
  Structure(StackDefinitionPtr definition, const Json& options, const ParameterList& parameters,
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

  std::int64_t reading_size() const { return reading_size_; }

  StackStatePtr initial(std::int64_t batch, std::int64_t length) const {
    ScriptCall call(definition_->initial);
    self_->push(call.state());
    Value<std::int64_t>::push(call.state(), batch);
    Value<std::int64_t>::push(call.state(), length);
    call.run(1);
    return state_of(call, definition_->initial, batch);
  }

  // `drive`: the values of the action layers by name, or only `hidden` if there are no layers.
  StackStatePtr update(const StackStatePtr& state, const NamedTensors& drive) const {
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

  Tensor reading(const StackStatePtr& state) const {
    return read(static_cast<const ScriptStackState&>(*state), reading_size_);
  }

  // For sequences of `steps` steps whose actions have these names and shapes. An empty list: the
  // hidden vector.
  std::variant<RecordedStack, ArrayRefusal> record(const std::vector<ActionSpec>& actions,
                                                   std::int64_t steps) const {
    return Recording(*this, actions, steps).run();
  }
  // For any number of steps from a state of the form of `state`. The programs are missing if a step
  // changes this form.
  std::variant<RecordedStack, ArrayRefusal> record_from(const std::vector<ActionSpec>& actions,
                                                        const ScriptStackState& state) const {
    return Recording(*this, actions, 0).run_from(state);
  }

 private:
  // The programs of one step, and the state after it.
  struct RecordedStep {
    ArrayProgram reading, update;
    StackStatePtr state;
  };

  class Recording {
   public:
    Recording(const Structure& of, const std::vector<ActionSpec>& actions, std::int64_t steps)
        : of_(of), actions_(actions), steps_(steps) {
      names_.push_back("state");
      for (const auto& spec : actions) names_.push_back(spec.name);
      if (actions.empty()) names_.push_back("hidden");
      for (const auto& entry : of.parameters_) names_.push_back(entry.first);
    }

    std::variant<RecordedStack, ArrayRefusal> run() {
      const at::AutoGradMode with_gradient(true);
      ArrayProgram reading, update;
      reading.inputs = update.inputs = names_;
      RecordedStep last, other;
      std::vector<std::vector<std::int64_t>> sizes;  // of the state before each step
      for (std::int64_t t = 0; t < steps_ && !refusal_; ++t) {
        const bool settled = t > 1 && same_form(before_, last.state);
        before_ = last.state;
        sizes.push_back(sizes_of(before_));
        RecordedStep now = step(t, kRecordedBatch, before_);
        if (refusal_) break;
        if (t < 2) {
          // Sizes and numbers must not depend on the batch or on earlier calls.
          other = step(t, kOtherBatch, other.state);
          if (!refusal_ && !(now.reading == other.reading && now.update == other.update))
            refusal_ = differs();
          if (refusal_) break;
        }
        const bool same = t > 1 && now.reading == last.reading && now.update == last.update;
        if (same) {
          reading.steps.push_back(reading.steps.back());
          update.steps.push_back(update.steps.back());
        } else {
          reading.append(now.reading);
          update.append(now.update);
        }
        last = std::move(now);
        if (same && settled && same_form(before_, last.state)) {
          // All further steps are the same.
          reading.steps.resize(static_cast<std::size_t>(steps_), reading.steps.back());
          update.steps.resize(static_cast<std::size_t>(steps_), update.steps.back());
          sizes.resize(static_cast<std::size_t>(steps_), sizes.back());
          break;
        }
        if (reading.instructions.size() + update.instructions.size() > kMostInstructions)
          refusal_ = ArrayRefusal{
              fmt::format("its steps differ and take more than {} instructions", kMostInstructions),
              of_.definition_->update.position};
      }
      if (refusal_) return *refusal_;
      // Nothing reads the state after the last step.
      update.steps.pop_back();
      update.append_idle();
      update.output = std::max<std::int64_t>(1, update.output);
      const auto appended = share_appended_parts(sizes, reading, update);
      drop_unread_numbers(reading, update);
      reading.finish();
      update.finish();
      return RecordedStack{std::make_shared<const ArrayProgram>(std::move(reading)),
                           std::make_shared<const ArrayProgram>(std::move(update)), appended};
    }

    std::variant<RecordedStack, ArrayRefusal> run_from(const ScriptStackState& state) {
      const at::AutoGradMode with_gradient(true);
      const auto like = [&](std::int64_t batch) {
        auto made = std::make_shared<ScriptStackState>(state);
        made->batch = batch;
        int number = 0;
        for (Tensor& tensor : made->value.tensors) {
          auto sizes = tensor.sizes().vec();
          sizes[0] = batch;
          const Tensor values = recorded_numbers(sizes, of_.options_, --number);
          tensor = tensor.scalar_type() == at::kBool ? values.gt(0.5) : values;
        }
        return made;
      };
      const StackStatePtr first = like(kRecordedBatch);
      const RecordedStep made = step(1, kRecordedBatch, first);
      if (refusal_) return *refusal_;
      if (!same_form(first, made.state)) return RecordedStack{};
      const RecordedStep other = step(1, kOtherBatch, like(kOtherBatch));
      if (!refusal_ && !(made.reading == other.reading && made.update == other.update))
        refusal_ = differs();
      if (refusal_) return *refusal_;
      ArrayProgram reading = made.reading, update = made.update;
      reading.finish();
      update.finish();
      return RecordedStack{std::make_shared<const ArrayProgram>(std::move(reading)),
                           std::make_shared<const ArrayProgram>(std::move(update))};
    }

   private:
    static constexpr std::size_t kMostInstructions = 100'000;

    ArrayRefusal differs() const {
      return {"it does something else when it is called again, or with another number of sequences",
              of_.definition_->update.position};
    }

    static bool same_form(const StackStatePtr& a, const StackStatePtr& b) {
      const auto &one = static_cast<const ScriptStackState&>(*a).value,
                 &other = static_cast<const ScriptStackState&>(*b).value;
      return one.frame == other.frame && one.tensors.size() == other.tensors.size() &&
             std::equal(one.tensors.begin(), one.tensors.end(), other.tensors.begin(),
                        [](const Tensor& x, const Tensor& y) { return x.sizes() == y.sizes(); });
    }

    // Of the parts of a state, for one sequence.
    static std::vector<std::int64_t> sizes_of(const StackStatePtr& state) {
      std::vector<std::int64_t> sizes;
      if (state == nullptr) return sizes;
      const auto& own = static_cast<const ScriptStackState&>(*state);
      for (const Tensor& tensor : own.value.tensors) sizes.push_back(tensor.numel() / own.batch);
      return sizes;
    }

    RecordedStep step(std::int64_t t, std::int64_t batch, const StackStatePtr& old) {
      RecordedStep made;
      made.reading.inputs = made.update.inputs = names_;
      record(t, batch, old, true, made);
      if (!refusal_) record(t, batch, old, false, made);
      return made;
    }

    void record(std::int64_t t, std::int64_t batch, const StackStatePtr& old, bool reading,
                RecordedStep& made) {
      ArrayGraph graph;
      ArrayRecorder recorder(graph, batch, running_position);
      std::vector<std::vector<double>> inputs(1);
      auto state = std::make_shared<ScriptStackState>();
      if (old != nullptr) {
        *state = static_cast<const ScriptStackState&>(*old);
        std::int64_t offset = 0;
        for (Tensor& tensor : state->value.tensors) {
          if (!tensor.is_floating_point() && tensor.scalar_type() != at::kBool) {
            refusal_ = ArrayRefusal{"a state has whole numbers in a tensor",
                                    of_.definition_->update.position};
            return;
          }
          tensor = tensor.detach().clone();
          recorder.input(tensor, 0, offset);
          offset += tensor.numel() / batch;
          const auto numbers = first_numbers(tensor);
          inputs[0].insert(inputs[0].end(), numbers.begin(), numbers.end());
        }
      }
      int which = 1;
      NamedTensors drive;
      const auto action = [&](const std::string& name, std::vector<std::int64_t> shape) {
        shape.insert(shape.begin(), batch);
        const Tensor values = recorded_numbers(shape, of_.options_, which);
        recorder.input(values, which++, 0);
        inputs.push_back(first_numbers(values));
        drive[name] = values;
      };
      for (const auto& spec : actions_) action(spec.name, spec.shape);
      if (actions_.empty()) action("hidden", {of_.hidden_});
      for (const auto& entry : of_.parameters_) {
        recorder.parameter(entry.second, which++);
        inputs.push_back(first_numbers(entry.second.unsqueeze(0)));
      }
      std::vector<Tensor> results;
      StackStatePtr from = state;
      {
        const OperatorWatch watch(recorder);
        if (old == nullptr) from = of_.initial(batch, steps_);
        if (reading) {
          results = {of_.reading(from)};
        } else {
          made.state = of_.update(from, drive);
          results = static_cast<const ScriptStackState&>(*made.state).value.tensors;
        }
      }
      std::vector<int> nodes;
      std::vector<double> wanted;
      for (const Tensor& result : results) {
        if (const auto node = recorder.output(result)) nodes.push_back(*node);
        const auto numbers = first_numbers(result);
        wanted.insert(wanted.end(), numbers.begin(), numbers.end());
      }
      const ScriptFunction& function = reading ? of_.definition_->reading : of_.definition_->update;
      refusal_ = recorder.refusal();
      // A tail call of a Lua function has no line.
      if (refusal_ && refusal_->position.empty()) refusal_->position = function.position;
      if (refusal_) return;
      ArrayProgram& program = reading ? made.reading : made.update;
      try {
        add_step(graph, nodes, program);
        if ((t < 3 || t + 1 == steps_) && batch == kRecordedBatch &&
            !computes(program, inputs, wanted, of_.options_))
          refusal_ = ArrayRefusal{"what is recorded gives other numbers", function.position};
      } catch (const std::invalid_argument& error) {
        refusal_ = ArrayRefusal{error.what(), function.position};
      }
    }

    const Structure& of_;
    const std::vector<ActionSpec>& actions_;
    std::int64_t steps_;
    std::vector<std::string> names_;
    StackStatePtr before_;
    std::optional<ArrayRefusal> refusal_;
  };

  StackStatePtr state_of(const ScriptCall& call, const ScriptFunction& function,
                         std::int64_t batch) const {
    auto state = std::make_shared<ScriptStackState>();
    state->value = read_state(call.state(), 1, function, batch, options_);
    state->batch = batch;
    return state;
  }
  Tensor read(const StackState& state, std::int64_t size = -1) const {
    const auto& own = static_cast<const ScriptStackState&>(state);
    ScriptCall call(definition_->reading);
    self_->push(call.state());
    own.value.push(call.state());
    call.run(1);
    return read_result(call.state(), 1, definition_->reading, "the reading", {own.batch, size},
                       options_);
  }

  StackDefinitionPtr definition_;
  at::TensorOptions options_;
  ParameterList parameters_;
  std::int64_t hidden_;
  KeptValuePtr self_;
  std::int64_t reading_size_ = 0;
};

class ScriptStack : public Stack {
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
    return structure_->initial(batch, length);
  }
  StackStatePtr update(const StackStatePtr& state, const Tensor& hidden) const override {
    NamedTensors drive;
    if (specs_.empty()) drive["hidden"] = hidden;
    for (std::size_t i = 0; i < specs_.size(); ++i) drive[specs_[i].name] = action(i, hidden);
    return structure_->update(state, drive);
  }
  Tensor reading(const StackStatePtr& state) const override { return structure_->reading(state); }
  std::optional<NoOp> no_op(const Tensor& hidden) const override {
    if (definition_->no_op_layer.empty()) return std::nullopt;
    return no_op_among(action(no_op_, hidden), definition_->no_op_column);
  }

  bool recordable() const override { return !recording_.refused(); }
  bool records(std::int64_t steps) const override {
    return recordable() && recorded(steps).update != nullptr;
  }
  Tensor state_numbers(const StackStatePtr& state) const override {
    const auto& own = static_cast<const ScriptStackState&>(*state);
    if (!recordable() || recorded_from(own).update == nullptr) return {};
    std::vector<Tensor> parts;
    for (const Tensor& tensor : own.value.tensors)
      parts.push_back(tensor.reshape({own.batch, -1}).to(tensor_options_));
    return at::cat(parts, 1);
  }
  StackStatePtr with_state_numbers(const StackStatePtr& old, const Tensor& numbers) const override {
    auto state = std::make_shared<ScriptStackState>(static_cast<const ScriptStackState&>(*old));
    std::int64_t first = 0;
    for (Tensor& tensor : state->value.tensors) {
      const auto count = tensor.numel() / state->batch;
      tensor = numbers.narrow(1, first, count).reshape(tensor.sizes()).to(tensor.scalar_type());
      first += count;
    }
    return state;
  }
  Traced record_reading(StepTrace& trace, std::int64_t batch, std::int64_t steps,
                        const StackStatePtr& from) const override {
    const RecordedStack found = from != nullptr
                                    ? recorded_from(static_cast<const ScriptStackState&>(*from))
                                    : recorded(steps);
    const Traced state =
        trace.state(from != nullptr ? state_numbers(from)
                                    : at::zeros({batch, found.update->output}, tensor_options_));
    std::vector<Traced> kept{state};
    if (found.appended > 0) kept.push_back(trace.room(found.appended));
    trace.keep_memory(kept, found.update);
    std::vector<Traced> operands{state};
    // A reading has no actions, so any tensors take their place.
    operands.resize(1 + action_count(), state);
    add_parameters(trace, operands);
    operands.insert(operands.end(), kept.begin() + 1, kept.end());
    return trace.array(found.reading, operands);
  }
  TracedNoOp record(StepTrace& trace, const Traced& hidden, const Traced&,
                    std::int64_t steps) const override {
    const std::vector<Traced> kept = trace.kept_memory();
    std::vector<Traced> operands{kept[0]};
    for (std::size_t i = 0; i < specs_.size(); ++i) operands.push_back(traced_action(i, hidden));
    if (specs_.empty()) operands.push_back(hidden);
    add_parameters(trace, operands);
    operands.insert(operands.end(), kept.begin() + 1, kept.end());
    const Traced made = trace.array(trace.kept_update(), operands);
    trace.bind(kept[0], made);
    if (kept.size() > 1) trace.fill(kept[1], made);
    if (definition_->no_op_layer.empty()) return {};
    return no_op_among(operands[1 + no_op_], specs_[no_op_].shape.back(),
                       definition_->no_op_column);
  }

 private:
  std::size_t action_count() const { return std::max<std::size_t>(1, specs_.size()); }
  void add_parameters(StepTrace& trace, std::vector<Traced>& operands) const {
    for (const Tensor& parameter : own_)
      operands.push_back(trace.constant(flat_parameter(parameter)));
  }
  // The programs of this number of steps, or none if the step cannot be recorded.
  RecordedStack recorded(std::int64_t steps) const {
    return find_or_record(recorded_, steps, [&] { return structure_->record(specs_, steps); });
  }
  // The programs of any number of steps from a state of this form.
  RecordedStack recorded_from(const ScriptStackState& state) const {
    if (state.value.tensors.empty() || grows_) return {};
    std::string form = state.value.frame.dump();
    for (const Tensor& tensor : state.value.tensors) form += " " + shape_text(tensor[0]);
    const RecordedStack found = find_or_record(
        recorded_from_, form, [&] { return structure_->record_from(specs_, state); });
    // A state that grows has another form at every step.
    grows_ = grows_ || (found.update == nullptr && recorded_from_.contains(form));
    return found;
  }
  template <class Key, class Record>
  RecordedStack find_or_record(std::map<Key, RecordedStack>& all, const Key& key,
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
      return all[key] = std::get<RecordedStack>(std::move(made));
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
  std::optional<Structure> structure_;
  std::size_t no_op_ = 0;
  at::TensorOptions tensor_options_;
  std::vector<Tensor> own_;  // the parameters that do not belong to action layers
  mutable RecordingState recording_;
  mutable std::map<std::int64_t, RecordedStack> recorded_;      // by number of steps
  mutable std::map<std::string, RecordedStack> recorded_from_;  // by the form of the state
  mutable std::atomic<bool> grows_ = false;  // a step changes the form of the state
};

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
  const Structure structure(definition, options, {}, any.options(), hidden);
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
              {"no_op", &Self::no_op, "{ action, column } that changes nothing"}})
      .with<Self, DefinitionOptions>();
}

std::string define_stack(lua_State* L, StackOptions given) {
  auto definition = std::make_shared<StackDefinition>();
  definition->head = read_head(L, given, "stack", row_names(stack_kinds()));
  const auto& head = definition->head;
  definition->initial = read_function(L, given.initial, head, "initial", "(self, batch, length)");
  definition->update = read_function(L, given.update, head, "update", "(self, state, actions)");
  definition->reading = read_function(L, given.reading, head, "reading", "(self, state)");
  definition->actions = read_rows(L, given.actions, head, "actions", "action", {"name", "size"},
                                  {"activation", "bias", "gain"});
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
