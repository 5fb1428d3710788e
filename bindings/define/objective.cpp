// Objectives that a script defines.
#include "bindings/define/definition.h"
#include "bindings/define/recording.h"
#include "bindings/tensor/classes.h"

namespace pushdown {
namespace {

struct ObjectiveDefinition {
  DefinitionHead head;
  ScriptFunction losses;
  bool next_symbol = false, next_sets = false;
  ToldPtr told = std::make_shared<std::set<std::string>>();
};
using ObjectiveDefinitionPtr = std::shared_ptr<const ObjectiveDefinition>;

class ScriptObjective : public Objective {
 public:
  ScriptObjective(ObjectiveDefinitionPtr definition, Json options)
      : definition_(std::move(definition)),
        options_(std::move(options)),
        recording_(definition_->head.where, definition_->told) {}

  OriginPtr origin() const override { return definition_->head.origin; }
  bool needs_next_symbol() const override { return definition_->next_symbol; }
  bool needs_next_sets() const override { return definition_->next_sets; }

  Tensor losses(const ObjectiveBatch& batch) const override {
    ObjectiveBatch own = batch;
    // Lua counts from 1; 0 means that no symbol follows.
    if (own.next.defined()) own.next = own.next + 1;
    return call(own);
  }

  // The program contains the values that the function reads from the script, so it is recorded
  // again when the script may have changed them.
  void script_ran() const override {
    const std::lock_guard lock(recording_.mutex());
    programs_.clear();
  }

  ArrayProgramPtr program(const ObjectiveForm& form) const override {
    const Key key{form.all_passes, form.first, form.length, form.ends, form.viable, form.next_sets};
    const std::lock_guard lock(recording_.mutex());
    if (const auto found = programs_.find(key); found != programs_.end()) return found->second;
    if (recording_.refused() || recording_.busy || !form.options.device().is_cpu() ||
        !ScriptCall::possible(definition_->losses))
      return nullptr;
    const RecordingTurn turn(recording_);
    try {
      const auto made = record(form, kRecordedBatch);
      if (made == nullptr) return nullptr;
      if (!repeats_) {
        const auto other = record(form, kOtherBatch);
        if (other == nullptr) return nullptr;
        if (!(*made == *other)) {
          recording_.refuse(
              {"a second call, or one with another number of strings, does something else",
               definition_->losses.position});
          return nullptr;
        }
        repeats_ = true;
      }
      made->finish();
      return programs_[key] = made;
    } catch (const ScriptError& error) {
      if (!error.is_text()) throw;
      recording_.fail(error.what());
    }
    return nullptr;
  }

 private:
  // Returns null if it cannot be recorded.
  std::shared_ptr<ArrayProgram> record(const ObjectiveForm& form, std::int64_t batch) const {
    const at::AutoGradMode with_gradient(true);
    ArrayGraph graph;
    ArrayRecorder recorder(graph, batch, running_position);
    auto program = std::make_shared<ArrayProgram>();
    ObjectiveBatch own;
    own.passes = form.passes;
    own.first = form.first;
    own.ends = form.ends;
    own.length = form.length > 0 ? form.length : form.all_passes / form.passes;
    std::vector<std::vector<double>> inputs;
    // `most`: the numbers are integers from 0 to this one.
    const auto input = [&](const char* name, Tensor& tensor, bool given,
                           std::vector<std::int64_t> sizes, std::int64_t most,
                           at::ScalarType type) {
      const auto which = static_cast<int>(inputs.size());
      program->inputs.push_back(name);
      inputs.emplace_back();
      if (!given) return;
      sizes.insert(sizes.begin(), batch);
      tensor = recorded_numbers(sizes, form.options, which);
      if (most > 0) tensor = (tensor * static_cast<double>(most + 1)).floor().to(type);
      recorder.input(tensor, which, 0);
      inputs.back() = first_numbers(tensor);
    };
    const auto type = c10::typeMetaToScalarType(form.options.dtype());
    const auto steps = form.all_passes, outcomes = form.outcomes;
    input("scores", own.scores, true, {steps}, 0, type);
    input("hiddens", own.hiddens, true, {steps, form.hidden}, 0, type);
    input("labels", own.labels, true, {}, 1, type);
    input("next_scores", own.next_scores, outcomes > 0, {steps, outcomes}, 0, type);
    input("next", own.next, outcomes > 0, {steps}, outcomes, at::kLong);
    input("viable", own.viable, form.viable, {}, own.length + 1, at::kLong);
    input("next_sets", own.next_sets, form.next_sets, {steps, outcomes}, 2, at::kLong);
    Tensor losses;
    {
      const OperatorWatch watch(recorder);
      losses = call(own);
    }
    const auto node = recorder.output(losses);
    const auto refusal =
        add_recorded(recorder, graph, {node.value_or(0)}, definition_->losses, *program, [&] {
          return repeats_ || computes(*program, inputs, first_numbers(losses), form.options);
        });
    if (refusal) return recording_.refuse(*refusal), nullptr;
    return program;
  }

  // Returns the losses of a batch in the form that the function receives.
  Tensor call(const ObjectiveBatch& batch) const {
    ScriptCall call(definition_->losses);
    lua_State* L = call.state();
    make_self(L, options_, {}, batch.scores.options(), {})->push(L);
    lua_createtable(L, 0, 13);
    const auto tensor = [L](const char* name, const Tensor& value) {
      if (!value.defined()) return;
      Value<Tensor>::push(L, value);
      lua_setfield(L, -2, name);
    };
    tensor("scores", batch.scores);
    tensor("hiddens", batch.hiddens);
    tensor("weights", batch.weights);
    tensor("labels", batch.labels);
    tensor("next_scores", batch.next_scores);
    tensor("next", batch.next);
    tensor("viable", batch.viable);
    tensor("next_sets", batch.next_sets);
    const auto number = [L](const char* name, std::int64_t value) {
      Value<std::int64_t>::push(L, value);
      lua_setfield(L, -2, name);
    };
    number("first", batch.first);
    number("passes", batch.passes);
    number("length", batch.length > 0 ? batch.length : batch.scores.size(1) / batch.passes);
    lua_pushboolean(L, batch.ends);
    lua_setfield(L, -2, "ends");
    call.run(1);
    return read_result(L, 1, definition_->losses, "the losses", {batch.scores.size(0)},
                       batch.scores.options());
  }

  ObjectiveDefinitionPtr definition_;
  Json options_;
  mutable RecordingState recording_;
  // Whether a second call has recorded the same.
  mutable bool repeats_ = false;
  // Passes, first, length, ends, and whether `viable` and `next_sets` are known.
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, bool, bool, bool>;
  mutable std::map<Key, std::shared_ptr<const ArrayProgram>> programs_;
};

}  // namespace

OptionRows ObjectiveOptions::rows() {
  using Self = ObjectiveOptions;
  return declare<Self>(
             {{"losses", &Self::losses, "losses(self, batch) -> B losses", TypeText{"function"}},
              {"needs_next_symbol", &Self::needs_next_symbol,
               "the model must predict the next symbol"},
              {"needs_next_sets", &Self::needs_next_sets,
               "the same, and the training strings must have sets of next symbols"}})
      .with<Self, DefinitionOptions>();
}

std::string define_objective(lua_State* L, ObjectiveOptions given) {
  auto definition = std::make_shared<ObjectiveDefinition>();
  definition->head = read_head(L, given, "objective", row_names(objective_kinds()));
  const auto& head = definition->head;
  definition->losses = read_function(L, given.losses, head, "losses", "(self, batch)");
  definition->next_symbol = given.needs_next_symbol || given.needs_next_sets;
  definition->next_sets = given.needs_next_sets;
  put_row(session_kinds(L).objectives,
          ObjectiveKind{head.origin->name, head.doc, head.options,
                        [definition](const Json& options) -> ObjectivePtr {
                          return std::make_unique<ScriptObjective>(definition, options);
                        }});
  document_kind(L, "pd.train.objectives", head);
  return head.origin->name;
}

}  // namespace pushdown
