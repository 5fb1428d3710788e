// pd.stack: the differentiable stacks, and their bare data structures.
#include "stack/stack.h"

#include "base/check.h"
#include "bindings/binder/kinds.h"
#include "bindings/binder/options.h"
#include "bindings/contract.h"
#include "bindings/define/definition.h"
#include "bindings/model/sequence.h"
#include "bindings/tensor/classes.h"
#include "model/stack_rnn.h"

namespace pushdown {
namespace stack_module {

std::vector<std::string> kind_names(lua_State* L) { return row_names(session_kinds(L).stacks); }

std::string describe_kind(lua_State* L, const std::string& kind) {
  const auto& row = find_row("stack.describe", session_kinds(L).stacks, kind);
  std::string text = describe_row(row, row.options, origin_text(L, "stack", kind));
  if (row.simulate == nullptr) return text;
  text += "\npd.stack.simulate{kind = '" + row.name + "', ...} takes the tensors";
  for (const auto& [name, doc] : row.inputs) text += fmt::format("\n  {:<18} {}", name, doc);
  for (const auto& spec : row.simulate_options) text += "\n  " + describe(spec);
  return text;
}

// The tensors and options of the bare stacks.
std::vector<OptionGroup> groups(lua_State* L) {
  std::vector<OptionGroup> groups;
  for (const auto& kind : session_kinds(L).stacks) {
    if (kind.simulate == nullptr) continue;
    groups.push_back({kind.name, {}});
    for (const auto& [name, doc] : kind.inputs) {
      auto& input = groups.back().options.emplace_back();
      input.spec.name = name;
      input.spec.doc = doc;
      input.type = "Tensor";
    }
    for (auto& option : declared(kind.simulate_options)) groups.back().options.push_back(option);
  }
  return groups;
}

struct Simulated {
  OptionTable all;
  static OptionRows rows() { return declare<Simulated>({}).open(&Simulated::all, "kind", groups); }
};

// Takes tensors and nested tables of numbers out of the options as inputs, by the names that the
// kind declares.
std::pair<Json, NamedTensors> simulation(lua_State* L, OptionTable options) {
  options.push("kind");
  const auto name = Value<std::optional<std::string>>::get(L, lua_gettop(L));
  lua_pop(L, 1);
  check(name.has_value(), "stack.simulate", "expected a table with a 'kind', one of {}",
        quoted_list(kind_names(L)));
  const StackKind& kind = find_row("stack.simulate", session_kinds(L).stacks, *name);
  NamedTensors inputs;
  for (const auto& [input, doc] : kind.inputs) {
    if (!options.has(input)) continue;
    options.push(input);
    try {
      inputs[input] = lua_istable(L, -1) ? tensor_from_lua(L, lua_gettop(L), at::kDouble)
                                         : Value<Tensor>::get(L, lua_gettop(L));
    } catch (WrongType& error) {
      error.index = 1;
      error.path = "." + input + error.path;
      throw;
    }
    lua_pop(L, 1);
  }
  Json rest = options.rest();
  rest["kind"] = *name;
  return {std::move(rest), std::move(inputs)};
}

Tensor simulate_kind(lua_State* L, const Simulated& options) {
  const auto [rest, inputs] = simulation(L, options.all);
  return simulate_stack(rest, inputs, session_kinds(L).stacks);
}

struct StackProgram : ProgramOptions {
  std::int64_t hidden = 20;
  Json stack;
  static OptionRows rows() {
    return declare<StackProgram>(
               {{"hidden", &StackProgram::hidden, "hidden size of the network", at_least(1)}})
        .with<StackProgram, ProgramOptions>()
        .open(&StackProgram::stack, "kind", stack_groups);
  }
};

// The step of a small network with the stack.
std::string program(lua_State* L, const std::variant<std::string, StackProgram>& given,
                    StackProgram options) {
  if (const auto* kind = std::get_if<std::string>(&given))
    options.stack["kind"] = *kind;
  else
    options = std::get<StackProgram>(given);
  std::optional<StackRnn> network;
  return program_text("stack.program", options, [&](std::int64_t steps) {
    Random random(1);
    network.emplace(Json{{"kind", "elman"}, {"hidden", options.hidden}}, options.stack, 2,
                    at::TensorOptions().dtype(at::kFloat), random, Recurrence{}, session_kinds(L));
    const Route route =
        network->route({.words = at::empty({1, steps}, at::kLong), .together = true});
    const auto* planned = std::get_if<PlannedBatch>(&route);
    return planned == nullptr ? StepPlanPtr() : planned->plan;
  });
}

NamedTensors strengths(lua_State* L, const Simulated& options) {
  const auto [rest, inputs] = simulation(L, options.all);
  return simulate_strengths(rest, inputs, session_kinds(L).stacks);
}

}  // namespace stack_module

void bind_stack(lua_State* L) {
  using namespace stack_module;
  Module module(L, "stack", "Differentiable stacks.");
  module.def<&kind_names>("kinds() -> table  Returns the names of the stacks.")
      .def<&describe_kind>(
          "describe(kind) -> string  Describes a stack, its options, and the tensors that simulate "
          "takes.")
      .texts<&kind_names>("a stack", "stack")
      .def<&simulate_kind>(
          "simulate{options} -> Tensor  Drives a bare stack with the tensors and options that "
          "describe(kind) lists. Returns the readings B x (n+1) x R, differentiable with respect "
          "to every tensor. The first reading is the one before any step.")
      .def<&strengths>(
          "strengths{options} -> table  Returns how the same call of simulate changes a memory of "
          "sections with strengths, by name: strengths B x n x K x S after each step; push, pop "
          "and read_strength B x n x K; and read B x n x K x S, the shares in the reading. K is 1 "
          "and S is the number of places of sections, bottom first.")
      .def<&program>(
          "program(kind or {options}) -> string  Returns the recorded program of one step of a "
          "small network with the stack: its operations, with their sizes and their multiply-adds "
          "in a sequence.")
      .def<&define_stack>(
          "define{options} -> string  Makes a kind of stack from Lua functions and returns its "
          "name; see docs/extending.md.")
      .def<&check_stack>(
          "check(kind or {options}) -> Contract  Runs the contract tests on a stack: shapes, "
          "gradients, batches, pieces, options.");
  bind_contract(module);
}

}  // namespace pushdown
