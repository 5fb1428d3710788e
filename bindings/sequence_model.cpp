#include "bindings/sequence_model.h"

#include "base/check.h"
#include "bindings/session.h"

namespace pushdown {

Alphabet required_alphabet(OptionTable& options, const char* key) {
  const auto given =
      options.require<std::variant<std::shared_ptr<Alphabet>, std::vector<std::string>>>(key);
  const auto* shared = std::get_if<std::shared_ptr<Alphabet>>(&given);
  return shared ? **shared : Alphabet(std::get<std::vector<std::string>>(given));
}

Json other_options(lua_State* L, const OptionTable& options) {
  Json rest = options.rest();
  if (!rest.contains("device")) rest["device"] = session(L).device.str();
  if (!rest.contains("seed")) rest["seed"] = seed_or_next(L, std::nullopt);
  return rest;
}

std::pair<Alphabet, Json> model_options(lua_State* L, OptionTable& options) {
  Alphabet alphabet = required_alphabet(options, "alphabet");
  return {std::move(alphabet), other_options(L, options)};
}

std::string model_program(const SequenceModel& model, OptionTable options) {
  auto text = program_text("model.program", options,
                           [&](std::int64_t steps) { return model.network().plan(1, steps); });
  options.finish("model.program", {"steps", "format"});
  return text;
}

void set_parameters_of(const SequenceModel& model, const std::map<std::string, Tensor>& values) {
  constexpr auto kSequenceModelPlace = "model.set_parameters";
  std::vector<std::string> names;
  std::map<std::string, Tensor> own;
  for (const auto& [name, tensor] : model.parameters()) {
    names.push_back(name);
    own[name] = tensor;
  }
  // All are checked before any is changed.
  for (const auto& [name, value] : values) {
    const auto near = nearest_names(name, names);
    check(own.contains(name), kSequenceModelPlace,
          "unknown parameter '{}'{}; the parameters are {}", name,
          near.empty() ? "" : ", did you mean " + near + "?", quoted_list(names));
    check(value.sizes() == own[name].sizes(), kSequenceModelPlace, "'{}' must be {}, got {}", name,
          shape_text(own[name]), shape_text(value));
  }
  at::NoGradGuard guard;
  for (const auto& [name, value] : values) own[name].copy_(value);
}

NamedTensors strengths_of(const SequenceModel& model, const Tensor& words) {
  at::NoGradGuard guard;
  NamedTensors all = model.network().strengths(words);
  check(!all.empty(), "model.strengths", "this model has no memory of sections with strengths");
  for (auto& [name, tensor] : all) tensor = tensor[0];
  return all;
}

std::string line_of(const SequenceModel& model, const char* name) {
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
  for (const auto& spec : specs) text += "\n  " + describe(spec);
  return text;
}

}  // namespace pushdown
