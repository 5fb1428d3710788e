#include "bindings/model/sequence.h"

#include <set>

#include "base/check.h"
#include "bindings/session/state.h"
#include "model/stack_rnn.h"
#include "train/records/model_file.h"
#include "train/records/tensor_files.h"

namespace pushdown {

OptionRows ProgramOptions::rows() {
  using Self = ProgramOptions;
  return declare<Self>(
      {{"steps", &Self::steps, "length of the sequence", Between{1, 100'000}},
       {"format",
        &Self::format,
        "text, a graph for Graphviz, or the CUDA C++ that a device compiles for it",
        {{"text", ProgramFormat::text},
         {"dot", ProgramFormat::dot},
         {"cuda", ProgramFormat::cuda}}}});
}

OptionRows ParameterOptions::rows() {
  using Self = ParameterOptions;
  return declare<Self>(
      {{"rename", &Self::rename,
        "table from tensor names to parameter names (false: leave out), or a function of name and "
        "tensor that returns a name, a name and a tensor, or a table of tensors by name",
        TypeText{"table or function"}},
       {"strict", &Self::strict, "missing and left-over names are an error"},
       {"source", &Self::source, "name of the table in messages"}});
}

Tensor word_tensor(const Word& word) {
  return at::tensor(std::vector<std::int64_t>(word.begin(), word.end()), at::kLong).unsqueeze(0);
}

Tensor word_tensor(const SequenceModel& model, const Tokens& tokens) {
  return word_tensor(to_word(model.alphabet(), tokens));
}

std::vector<OptionGroup> option_groups(std::vector<OptionSpec> (*specs)(const std::string&)) {
  std::vector<OptionGroup> groups;
  for (const auto& kind : network_kinds())
    groups.push_back({kind.name, declared(with_session_defaults(specs(kind.name)))});
  return groups;
}

Json with_session(lua_State* L, Json options) {
  if (!options.contains("device")) options["device"] = session(L).device.str();
  if (!options.contains("seed")) options["seed"] = seed_or_next(L, std::nullopt);
  return options;
}

namespace {

// Reads the tensor, or the nested lists of numbers, on top of the stack. Errors name `key`.
Tensor named_tensor(lua_State* L, int argument, const std::string& key, at::ScalarType dtype) {
  try {
    return tensor_from_lua(L, lua_gettop(L), dtype).detach();
  } catch (WrongType& error) {
    error.index = argument;
    error.path = "." + key + error.path;
    throw;
  }
}

}  // namespace

std::string written_program(const char* where, const TracedProgram& program, std::int64_t steps,
                            ProgramFormat format) {
  if (format == ProgramFormat::text) return step_program_text(program, steps);
  if (format == ProgramFormat::dot) return step_program_dot(program, steps);
  const std::string reason = DeviceProgram::refusal(program);
  check(reason.empty(), where, "there is no code for devices: {}", reason);
  DeviceForm form;
  for (const Tensor& matrix : program.matrices)
    form.is_double = matrix.scalar_type() == at::kDouble;
  return DeviceProgram(std::make_shared<const TracedProgram>(program), form).kernels();
}

std::string model_program(const SequenceModel& model, const ProgramOptions& options) {
  return program_text("model.program", options,
                      [&](std::int64_t steps) { return model.network().plan(1, steps); });
}

void set_parameters_of(const SequenceModel& model, Any values) {
  constexpr auto kWhere = "model.set_parameters";
  lua_State* L = values.state;
  if (!lua_istable(L, values.index)) wrong_type(L, values.index, "a table");
  std::vector<std::string> names;
  std::map<std::string, Tensor> own;
  for (const auto& [name, tensor] : model.parameters()) {
    names.push_back(name);
    own[name] = tensor;
  }
  // All values are checked before any parameter is changed.
  std::vector<std::pair<Tensor, Tensor>> copies;
  for (lua_pushnil(L); lua_next(L, values.index) != 0; lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING)
      throw WrongType(values.index, "a table with names as keys", "the key " + type_text(L, -2));
    const std::string name = lua_tostring(L, -2);
    const auto near = nearest_names(name, names);
    check(own.contains(name), kWhere, "unknown parameter '{}'{}; the parameters are {}", name,
          near.empty() ? "" : ", did you mean " + near + "?", quoted_list(names));
    const Tensor value = named_tensor(L, values.index, name, own[name].scalar_type());
    check(value.sizes() == own[name].sizes(), kWhere, "'{}' must be {}, got {}", name,
          shape_text(own[name]), shape_text(value));
    const Tensor converted = value.to(own[name].scalar_type());
    check_finite(kWhere, name, converted);
    copies.emplace_back(own[name], converted);
  }
  at::NoGradGuard guard;
  for (auto& [parameter, value] : copies) parameter.copy_(value);
}

namespace {

constexpr auto kWhere = "model.load_parameters";

// Pops the value on top of the stack under the name that `rename` returned.
void take_renamed(lua_State* L, const std::string& name, const Tensor& tensor,
                  ParameterList& tensors) {
  if (lua_type(L, -1) == LUA_TSTRING)
    tensors.emplace_back(lua_tostring(L, -1), tensor);
  else if (lua_type(L, -1) != LUA_TBOOLEAN || lua_toboolean(L, -1))
    fail(kWhere, "rename of '{}' gives {}: expected a name, or false to leave it out", name,
         type_text(L, lua_gettop(L)));
  lua_pop(L, 1);
}

ParameterList renamed_by_table(lua_State* L, int table, const ParameterList& tensors) {
  ParameterList result;
  std::set<std::string> names;
  for (const auto& [name, tensor] : tensors) {
    names.insert(name);
    lua_pushlstring(L, name.data(), name.size());
    lua_rawget(L, table);
    if (lua_isnil(L, -1)) {
      result.emplace_back(name, tensor);
      lua_pop(L, 1);
    } else {
      take_renamed(L, name, tensor, result);
    }
  }
  for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1))
    check(lua_type(L, -2) == LUA_TSTRING && names.contains(lua_tostring(L, -2)), kWhere,
          "rename has the key {}, which is not a tensor of the source",
          type_text(L, lua_gettop(L) - 1));
  return result;
}

ParameterList renamed_by_function(lua_State* L, int function, const ParameterList& tensors) {
  ParameterList result;
  for (const auto& [name, tensor] : tensors) {
    lua_pushvalue(L, function);
    lua_pushlstring(L, name.data(), name.size());
    Value<Tensor>::push(L, tensor);
    call_lua(L, 2, 2);
    if (lua_istable(L, -2)) {
      for (const auto& entry : Value<std::map<std::string, Tensor>>::get(L, lua_gettop(L) - 1))
        result.push_back(entry);
      lua_pop(L, 2);
      continue;
    }
    // A second result that is not a tensor is the count of string.gsub.
    const bool replaced = lua_type(L, -1) == LUA_TUSERDATA;
    const Tensor value = replaced ? Value<Tensor>::get(L, lua_gettop(L)) : tensor;
    lua_pop(L, 1);
    if (lua_isnil(L, -1))
      lua_pop(L, 1);
    else
      take_renamed(L, name, value, result);
  }
  return result;
}

ParameterList renamed_tensors(lua_State* L, LuaOption option, ParameterList tensors) {
  option.push(L);
  const int rename = lua_gettop(L);
  const int type = lua_type(L, rename);
  check(type == LUA_TNIL || type == LUA_TTABLE || type == LUA_TFUNCTION, kWhere,
        "rename must be a table or a function, got {}", type_text(L, rename));
  if (type == LUA_TTABLE) tensors = renamed_by_table(L, rename, tensors);
  if (type == LUA_TFUNCTION) tensors = renamed_by_function(L, rename, tensors);
  lua_settop(L, rename - 1);
  return tensors;
}

}  // namespace

std::map<std::string, std::vector<std::string>> load_parameters_of(lua_State* L,
                                                                   const SequenceModel& model,
                                                                   Any source,
                                                                   ParameterOptions options) {
  const auto given =
      Value<std::variant<std::string, std::map<std::string, Tensor>>>::get(L, source.index);
  const auto* path = std::get_if<std::string>(&given);
  ParameterList tensors;
  if (path)
    tensors = read_tensors(*path).tensors;
  else
    tensors.assign(std::get<1>(given).begin(), std::get<1>(given).end());
  tensors = renamed_tensors(L, options.rename, std::move(tensors));
  const auto name = options.source.value_or(path ? *path : "the given table");
  const ParameterReport report = load_parameters(model, tensors, name, options.strict);
  return {
      {"matched", report.matched}, {"missing", report.missing}, {"left_over", report.left_over}};
}

void save_model(const SequenceModel& model, const std::string& path) {
  check(path.ends_with(".safetensors"), "model.save", "'{}' must end in .safetensors", path);
  write_safetensors(path, model_file(model, "model.save"));
}

void export_model_to(lua_State* L, const SequenceModel& model, const std::string& folder) {
  export_model(model, folder);
  const auto reader = session(L).root / "scripts" / "tools" / "run_model.py";
  write_file(Path(folder) / "run_model.py", read_file(reader));
}

Results push_strengths(lua_State* L, const SequenceModel& model, const Tensor& words,
                       std::vector<std::string> symbols) {
  at::NoGradGuard guard;
  NamedTensors all = model.network().strengths(words);
  check(!all.empty(), "model.strengths", "this model has no memory of sections with strengths");
  for (auto& [name, tensor] : all) tensor = tensor[0];
  Value<NamedTensors>::push(L, all);
  if (symbols.empty()) {
    const Tensor ids = words[0].to(at::kCPU, at::kLong).contiguous();
    const int size = model.alphabet().size();
    for (std::int64_t t = 0; t < ids.numel(); ++t) {
      const auto id = ids.data_ptr<std::int64_t>()[t];
      symbols.push_back(id < size ? model.alphabet().symbol(static_cast<int>(id)) : "<end>");
    }
  }
  Value<std::vector<std::string>>::push(L, symbols);
  lua_setfield(L, -2, "symbols");
  return {1};
}

std::string line_of_model(const SequenceModel& model, const char* name) {
  return fmt::format("{}: {}, {} symbols, {} parameters, {}", name, model.network().line(),
                     model.alphabet().size(), model.parameter_count(),
                     model.options()["dtype"].get<std::string>());
}

std::string describe_model_options(std::string text, const std::vector<OptionSpec>& specs) {
  text +=
      "\n  alphabet           Alphabet or list of symbols, required: the symbols of the strings";
  return text + option_lines(specs);
}

std::string option_lines(const std::vector<OptionSpec>& specs) {
  std::string text;
  for (const auto& spec : with_session_defaults(specs)) text += "\n  " + describe(spec);
  return text;
}

}  // namespace pushdown
