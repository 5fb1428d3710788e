// Controllers that a script defines.
#include "array/array_function.h"
#include "bindings/define/definition.h"
#include "bindings/define/recording.h"
#include "bindings/tensor/classes.h"
#include "controller/layered.h"
#include "recurrence/trace/array_lowering.h"

namespace pushdown {
namespace {

struct ControllerDefinition {
  DefinitionHead head;
  ScriptFunction initial, step;
  ScriptRows parameters;
  ToldPtr told = std::make_shared<std::set<std::string>>();
};

// A step as a graph. Its inputs are the input, the state and the parameters.
struct RecordedCell {
  ArrayGraph graph;
  std::vector<int> state;  // nodes
  std::size_t hidden = 0;  // index in the state
  std::vector<std::string> names;
  ArrayProgram program;   // everything that it computes
  ArrayProgramPtr whole;  // the same, finished
};
using ControllerDefinitionPtr = std::shared_ptr<const ControllerDefinition>;

class ScriptController : public Controller {
 public:
  ScriptController(ControllerDefinitionPtr definition, const Json& options,
                   const ModuleContext& context)
      : definition_(std::move(definition)),
        hidden_(options["hidden"]),
        input_(context.input),
        options_(context.tensor_options),
        recording_(definition_->head.where, definition_->told) {
    if (definition_->parameters)
      parameters_ = make_parameters(definition_->parameters.rows(options, context.input), options,
                                    definition_->head.where + ".parameters", context);
    {
      const ScriptCall place(definition_->step);
      self_ = make_self(place.state(), options, parameters_, options_,
                        {{"input", context.input}, {"hidden", hidden_}});
    }
    const at::NoGradGuard guard;
    for (const Tensor& own : called_initial(1)) sizes_.push_back(own.size(1));
  }

  OriginPtr origin() const override { return definition_->head.origin; }
  std::int64_t hidden_size() const override { return hidden_; }

  ControllerState initial(std::int64_t batch) const override {
    if (RecordedCalls::wanted()) {
      const std::lock_guard lock(recording_.mutex());
      if (!started_ && ScriptCall::possible(definition_->initial)) find_start();
      if (start_) {
        ControllerState state;
        for (const Tensor& row : *start_) state.push_back(row.expand({batch, -1}));
        return state;
      }
    }
    return called_initial(batch);
  }
  ControllerState called_initial(std::int64_t batch) const {
    ScriptCall call(definition_->initial);
    self_->push(call.state());
    Value<std::int64_t>::push(call.state(), batch);
    call.run(1);
    return state_of(call, 1, definition_->initial, batch);
  }

  // It is one layer, so there are no masks.
  std::pair<Tensor, ControllerState> step(const Tensor& input, const ControllerState& state,
                                          const std::vector<Tensor>&) const override {
    if (RecordedCalls::wanted() && options_.device().is_cpu())
      if (const auto cell = recorded()) return recorded_step(*cell, input, state);
    return called_step(input, state);
  }
  std::pair<Tensor, ControllerState> called_step(const Tensor& input,
                                                 const ControllerState& state) const {
    const ScriptFunction& function = definition_->step;
    ScriptCall call(function);
    self_->push(call.state());
    Value<Tensor>::push(call.state(), input);
    Value<std::vector<Tensor>>::push(call.state(), state);
    call.run(2);
    const auto batch = input.size(0);
    Tensor hidden =
        read_result(call.state(), 1, function, "the hidden vector", {batch, hidden_}, options_);
    ControllerState next = state_of(call, 2, function, batch);
    if (std::none_of(next.begin(), next.end(),
                     [&](const Tensor& own) { return own.is_same(hidden); }))
      function.refuse("the hidden vector that is returned must be one of the state's tensors");
    return {std::move(hidden), std::move(next)};
  }

  bool recordable() const override { return !recording_.refused() && recorded() != nullptr; }
  std::pair<Traced, TracedState> trace(const Traced& x, const TracedState& old,
                                       const std::vector<Traced>&) const override {
    const auto cell = recorded();
    std::vector<ArrayInput> inputs{x};
    inputs.insert(inputs.end(), old.begin(), old.end());
    for (const auto& entry : parameters_) inputs.emplace_back(entry.second);
    TracedState next =
        lower_arrays(StepTrace::of(x), cell->graph, cell->state, inputs, cell->names);
    const Traced hidden = next.at(cell->hidden);
    return {hidden, next};
  }

 private:
  std::pair<Tensor, ControllerState> recorded_step(const RecordedCell& cell, const Tensor& input,
                                                   const ControllerState& state) const {
    std::vector<Tensor> inputs{input};
    inputs.insert(inputs.end(), state.begin(), state.end());
    for (const auto& entry : parameters_) inputs.push_back(entry.second.unsqueeze(0));
    ControllerState next = run_array(cell.whole, inputs).split_with_sizes(sizes_, 1);
    Tensor hidden = next.at(cell.hidden);
    return {std::move(hidden), std::move(next)};
  }
  // Finds the initial state of one sequence if it is the same for all of them and no parameter is a
  // part of it.
  void find_start() const {
    started_ = true;
    const ControllerState one = called_initial(1), more = called_initial(3);
    for (std::size_t i = 0; i < one.size(); ++i)
      if (one[i].requires_grad() || !more[i].equal(one[i].expand_as(more[i]))) return;
    start_ = one;
  }
  // Null if it cannot be recorded.
  std::shared_ptr<const RecordedCell> recorded() const {
    const std::lock_guard lock(recording_.mutex());
    if (recorded_ != nullptr || recording_.busy || !ScriptCall::possible(definition_->step))
      return recorded_;
    const RecordingTurn turn(recording_);
    try {
      const auto cell = record(kRecordedBatch), other = record(kOtherBatch);
      if (cell == nullptr || other == nullptr) return nullptr;
      if (!(cell->program == other->program)) {
        recording_.refuse(
            {"a second call, or one with another number of sequences, does something else",
             definition_->step.position});
        return nullptr;
      }
      recorded_ = cell;
    } catch (const ScriptError& error) {
      if (!error.is_text()) throw;
      recording_.fail(error.what());
    }
    return recorded_;
  }
  std::shared_ptr<const RecordedCell> record(std::int64_t batch) const {
    const at::AutoGradMode with_gradient(true);
    auto cell = std::make_shared<RecordedCell>();
    ArrayRecorder recorder(cell->graph, batch, running_position);
    std::vector<std::vector<double>> inputs;
    const auto add = [&](const std::string& name, std::int64_t size) {
      const auto which = static_cast<int>(inputs.size());
      const Tensor values = recorded_numbers({batch, size}, options_, which);
      recorder.input(values, which, 0);
      inputs.push_back(first_numbers(values));
      cell->names.push_back(name);
      return values;
    };
    const Tensor input = add("input", input_);
    ControllerState old;
    for (std::size_t i = 0; i < sizes_.size(); ++i)
      old.push_back(add(fmt::format("state[{}]", i + 1), sizes_[i]));
    for (const auto& [name, tensor] : parameters_) {
      recorder.parameter(tensor, static_cast<int>(inputs.size()));
      inputs.push_back(first_numbers(tensor.unsqueeze(0)));
      cell->names.push_back(name);
    }
    std::pair<Tensor, ControllerState> made;
    {
      const OperatorWatch watch(recorder);
      made = called_step(input, old);
    }
    std::vector<double> wanted;
    for (std::size_t i = 0; i < made.second.size(); ++i) {
      const Tensor& own = made.second[i];
      if (own.is_same(made.first)) cell->hidden = i;
      if (const auto node = recorder.output(own)) cell->state.push_back(*node);
      const auto numbers = first_numbers(own);
      wanted.insert(wanted.end(), numbers.begin(), numbers.end());
    }
    cell->program.inputs = cell->names;
    const auto refusal =
        add_recorded(recorder, cell->graph, cell->state, definition_->step, cell->program,
                     [&] { return computes(cell->program, inputs, wanted, options_); });
    if (refusal) return recording_.refuse(*refusal), nullptr;
    auto whole = std::make_shared<ArrayProgram>(cell->program);
    whole->finish();
    cell->whole = std::move(whole);
    return cell;
  }
  ControllerState state_of(const ScriptCall& call, int index, const ScriptFunction& function,
                           std::int64_t batch) const {
    auto read = read_state(call.state(), index, function, batch, options_);
    if (!read.frame.is_array() || read.frame.empty() || read.frame.size() != read.tensors.size())
      function.refuse(fmt::format("the state must be a list of tensors, got {}",
                                  result_text(call.state(), index)));
    if (!sizes_.empty() && read.tensors.size() != sizes_.size())
      function.refuse(fmt::format("the state must be a list of {} tensors as at first, got {}",
                                  sizes_.size(), read.tensors.size()));
    for (std::size_t i = 0; i < read.tensors.size(); ++i) {
      const Tensor& own = read.tensors[i];
      const auto wanted = i < sizes_.size() ? sizes_[i] : i == 0 ? hidden_ : -1;
      if (own.dim() != 2 || !own.is_floating_point() || (wanted >= 0 && own.size(1) != wanted))
        function.refuse(fmt::format("state[{}] must be {} x {} of {}, got {} of {}", i + 1, batch,
                                    wanted < 0 ? "any" : std::to_string(wanted),
                                    dtype_name(c10::typeMetaToScalarType(options_.dtype())),
                                    shape_text(own), dtype_name(own.scalar_type())));
    }
    return std::move(read.tensors);
  }

  ControllerDefinitionPtr definition_;
  std::int64_t hidden_, input_;
  at::TensorOptions options_;
  KeptValuePtr self_;
  std::vector<std::int64_t> sizes_;  // sizes of the state's tensors
  mutable RecordingState recording_;
  mutable std::shared_ptr<const RecordedCell> recorded_;
  mutable bool started_ = false;
  mutable std::optional<ControllerState> start_;  // 1 x n each, see find_start()
};

}  // namespace

OptionRows ControllerOptions::rows() {
  using Self = ControllerOptions;
  constexpr TypeText kFunction{"function"};
  return declare<Self>(
             {{"initial", &Self::initial, "initial(self, batch) -> list of tensors", kFunction},
              {"step", &Self::step, "step(self, input, state) -> hidden, state", kFunction},
              {"parameters", &Self::parameters, "each { name, shape }",
               TypeText{"list of tables or function"}}})
      .with<Self, DefinitionOptions>();
}

std::string define_controller(lua_State* L, ControllerOptions given) {
  auto definition = std::make_shared<ControllerDefinition>();
  definition->head = read_head(L, given, "controller", row_names(controller_kinds()));
  auto& head = definition->head;
  // Every controller needs it, because the action layers of the stack are made before the
  // controller.
  const auto is_hidden = [](const OptionSpec& spec) { return spec.name == "hidden"; };
  const auto hidden = std::find_if(head.options.begin(), head.options.end(), is_hidden);
  if (hidden == head.options.end())
    head.options.insert(head.options.begin(), cell_options().front());
  else
    check(hidden->type == OptionSpec::Type::integer && hidden->minimum >= 1, head.where,
          "the option 'hidden' must be an integer with minimum = 1 and a default");
  definition->initial = read_function(L, given.initial, head, "initial", "(self, batch)");
  definition->step = read_function(L, given.step, head, "step", "(self, input, state)");
  definition->parameters = read_rows(L, given.parameters, head, "parameters", "parameter",
                                     kParameterPlaces, kParameterNames);

  put_row(session_kinds(L).controllers,
          ControllerKind{
              head.origin->name, head.doc, head.options,
              [definition](const Json& options, const ModuleContext& context) -> ControllerPtr {
                return std::make_shared<ScriptController>(definition, options, context);
              }});
  document_kind(L, "pd.controller", head);
  return head.origin->name;
}

}  // namespace pushdown
