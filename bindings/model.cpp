// pd.model: language models.
#include "bindings/model.h"

#include "base/check.h"
#include "bindings/alphabet.h"
#include "bindings/bind.h"
#include "bindings/modules.h"
#include "bindings/options.h"
#include "bindings/session.h"
#include "bindings/tensor.h"

namespace pushdown {
namespace {

std::shared_ptr<LanguageModel> language_model(lua_State* L, OptionTable options) {
  const auto given =
      options.require<std::variant<std::shared_ptr<Alphabet>, std::vector<std::string>>>(
          "alphabet");
  const auto* shared = std::get_if<std::shared_ptr<Alphabet>>(&given);
  Alphabet alphabet = shared ? **shared : Alphabet(std::get<std::vector<std::string>>(given));
  Json rest = options.rest();
  if (!rest.contains("device")) rest["device"] = session(L).device.str();
  if (!rest.contains("seed")) rest["seed"] = seed_or_next(L, std::nullopt);
  return std::make_shared<LanguageModel>(std::move(alphabet), rest);
}

// 1 x n
Tensor word_tensor(const LanguageModel& model, const Tokens& tokens) {
  const Word word = to_word(model.alphabet(), tokens);
  return at::tensor(std::vector<std::int64_t>(word.begin(), word.end()), at::kLong).unsqueeze(0);
}

Tensor logits(const LanguageModel& model, const Tokens& tokens) {
  return model.logits(word_tensor(model, tokens))[0];
}

double log_probability(const LanguageModel& model, const Tokens& tokens) {
  at::NoGradGuard guard;
  return model.log_probabilities(word_tensor(model, tokens)).item<double>();
}

void set_parameters(const LanguageModel& model, const std::map<std::string, Tensor>& values) {
  constexpr auto kWhere = "model.set_parameters";
  std::vector<std::string> names;
  std::map<std::string, Tensor> own;
  for (const auto& [name, tensor] : model.parameters()) {
    names.push_back(name);
    own[name] = tensor;
  }
  // All are checked before any is changed.
  for (const auto& [name, value] : values) {
    const auto near = nearest_names(name, names);
    check(own.contains(name), kWhere, "unknown parameter '{}'{}; the parameters are {}", name,
          near.empty() ? "" : ", did you mean " + near + "?", quoted_list(names));
    check(value.sizes() == own[name].sizes(), kWhere, "'{}' must be {}, got {}", name,
          shape_text(own[name]), shape_text(value));
  }
  at::NoGradGuard guard;
  for (const auto& [name, value] : values) own[name].copy_(value);
}

std::string model_line(const LanguageModel& model) {
  return fmt::format("LanguageModel: {}, {} symbols, {} parameters, {}", model.network().line(),
                     model.alphabet().size(), model.parameter_count(),
                     model.options()["dtype"].get<std::string>());
}

std::vector<std::string> architectures() { return row_names(network_kinds()); }

std::string describe_options(std::optional<std::string> given) {
  const auto& kind = find_row("model.describe", network_kinds(), given.value_or("recurrent"));
  std::string text = "language_model: a language model; " + kind.name + ": " + kind.doc;
  text +=
      "\n  alphabet           Alphabet or list of symbols, required: the symbols of the strings";
  for (const auto& spec : language_model_options(kind.name)) text += "\n  " + describe(spec);
  return text;
}

}  // namespace

void bind_model(lua_State* L) {
  Module module(L, "model", "Language models.");
  module
      .def<&language_model>(
          "language_model",
          "language_model{alphabet=, architecture=, ..., end_symbol=, dtype=, device=, seed=} -> "
          "LanguageModel  A language model with new parameters; see pd.model.describe().")
      .def<&architectures>(
          "architectures",
          "architectures() -> table  The networks a language model can be made of.")
      .def<&describe_options>(
          "describe",
          "describe(architecture='recurrent') -> string  The options of language_model.");
  Class<LanguageModel>(module, "A language model: a network and an output layer.")
      .def<&logits>("logits",
                    "model:logits(tokens) -> Tensor  Scores n x V of every symbol at every "
                    "position of a string; row t predicts symbol t.")
      .def<&log_probability>("log_probability",
                             "model:log_probability(tokens) -> number  Natural logarithm of the "
                             "probability of a string.")
      .def<&LanguageModel::parameters>(
          "parameters",
          "model:parameters() -> table  The trainable tensors by name; they are the model's own.")
      .def<&set_parameters>("set_parameters",
                            "model:set_parameters{name = tensor, ...}  Copies values into "
                            "parameters; the others stay as they are.")
      .def<&LanguageModel::parameter_count>(
          "parameter_count", "model:parameter_count() -> integer  The number of trainable numbers.")
      .def<[](const LanguageModel& model) { return std::make_shared<Alphabet>(model.alphabet()); }>(
          "alphabet", "model:alphabet() -> Alphabet  The symbols of the model.")
      .def<&LanguageModel::options>("options",
                                    "model:options() -> table  All options, defaults filled in.")
      .def<&model_line>("__tostring", "tostring(model) -> string  One line about the model.");
}

}  // namespace pushdown
