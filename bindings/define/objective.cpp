// Objectives that a script defines.
#include "bindings/define/definition.h"
#include "bindings/tensor/tensor.h"

namespace pushdown {
namespace {

struct ObjectiveDefinition {
  DefinitionHead head;
  ScriptFunction losses;
  bool next_symbol = false;
};
using ObjectiveDefinitionPtr = std::shared_ptr<const ObjectiveDefinition>;

class ScriptObjective : public Objective {
 public:
  ScriptObjective(ObjectiveDefinitionPtr definition, Json options)
      : definition_(std::move(definition)), options_(std::move(options)) {}

  OriginPtr origin() const override { return definition_->head.origin; }
  bool needs_next_symbol() const override { return definition_->next_symbol; }

  Tensor losses(const ObjectiveBatch& batch) const override {
    ScriptCall call(definition_->losses);
    lua_State* L = call.state();
    make_self(L, options_, {}, batch.scores.options(), {})->push(L);
    lua_createtable(L, 0, 12);
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
    // Lua counts from 1; 0 means that no symbol follows.
    tensor("next", batch.next.defined() ? batch.next + 1 : Tensor());
    tensor("viable", batch.viable);
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

 private:
  ObjectiveDefinitionPtr definition_;
  Json options_;
};

}  // namespace

OptionRows ObjectiveOptions::rows() {
  using Self = ObjectiveOptions;
  return declare<Self>(
             {{"losses", &Self::losses, "losses(self, batch) -> B losses", TypeText{"function"}},
              {"needs_next_symbol", &Self::needs_next_symbol,
               "the model must predict the next symbol"}})
      .with<Self, DefinitionOptions>();
}

std::string define_objective(lua_State* L, ObjectiveOptions given) {
  auto definition = std::make_shared<ObjectiveDefinition>();
  definition->head = read_head(L, given, "objective", row_names(objective_kinds()));
  const auto& head = definition->head;
  definition->losses = read_function(L, given.losses, head, "losses", "(self, batch)");
  definition->next_symbol = given.needs_next_symbol;
  put_row(session_kinds(L).objectives,
          ObjectiveKind{head.origin->name, head.doc, head.options,
                        [definition](const Json& options) -> ObjectivePtr {
                          return std::make_unique<ScriptObjective>(definition, options);
                        }});
  document_kind(L, "pd.train.objectives", head);
  return head.origin->name;
}

}  // namespace pushdown
