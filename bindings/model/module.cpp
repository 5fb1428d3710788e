// pd.model: language models.
#include "bindings/model/classes.h"

#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/kinds.h"
#include "bindings/binder/options.h"
#include "bindings/define/definition.h"
#include "bindings/grammar/unknown.h"
#include "bindings/model/sequence.h"
#include "bindings/pda/classes.h"
#include "bindings/session/state.h"
#include "bindings/tensor/classes.h"
#include "grammar/semiring.h"
#include "model/network_automaton.h"
#include "model/stack_rnn.h"
#include "model/sublayer.h"

namespace pushdown {
namespace model_module {

std::shared_ptr<LanguageModel> language_model(lua_State* L,
                                              const NewModel<&language_model_options>& made) {
  return std::make_shared<LanguageModel>(alphabet_of(made.alphabet), with_session(L, made.rest),
                                         session_kinds(L));
}

std::shared_ptr<Recognizer> recognizer(lua_State* L, const NewModel<&recognizer_options>& made) {
  return std::make_shared<Recognizer>(alphabet_of(made.alphabet), with_session(L, made.rest),
                                      session_kinds(L));
}

Tensor logits(const LanguageModel& model, const Tokens& tokens) {
  return model.logits(word_tensor(model, tokens))[0];
}

double log_probability(const LanguageModel& model, const Tokens& tokens,
                       const UnknownSymbol& options) {
  at::NoGradGuard guard;
  const auto word = known_word(model.alphabet(), tokens, options.unknown);
  return word ? model.log_probabilities(word_tensor(*word)).item<double>() : kMinusInfinity;
}

ModelState begin(const LanguageModel& model, std::optional<std::int64_t> batch,
                 std::optional<std::int64_t> length) {
  return {model.begin(batch.value_or(1), length.value_or(0)), !batch};
}

// The symbols of one string, or one entry for each string of a batch : B x c
using Words = std::variant<std::string, std::vector<Tokens>>;
Tensor words_tensor(const LanguageModel& model, const Words& words, const ModelState& state) {
  constexpr auto kWhere = "model.read";
  const auto* list = std::get_if<std::vector<Tokens>>(&words);
  if (list == nullptr || state.single) {
    check(state.single, kWhere, "expected a list of {} strings, got one text", state.reading.batch);
    if (list == nullptr) return word_tensor(model, std::get<std::string>(words));
    std::vector<std::string> symbols;
    for (const auto& symbol : *list) {
      check(std::holds_alternative<std::string>(symbol), kWhere,
            "expected the symbols of one string, got a list of lists");
      symbols.push_back(std::get<std::string>(symbol));
    }
    return word_tensor(model, symbols);
  }
  check(static_cast<std::int64_t>(list->size()) == state.reading.batch, kWhere,
        "expected a list of {} strings, got {}", state.reading.batch, list->size());
  std::vector<Tensor> rows;
  for (const auto& tokens : *list) rows.push_back(word_tensor(model, tokens));
  for (const auto& row : rows)
    check(row.size(1) == rows[0].size(1), kWhere,
          "the strings of a batch must have the same length, got {} and {}", rows[0].size(1),
          row.size(1));
  return at::cat(rows);
}

std::tuple<Tensor, ModelState> read(const LanguageModel& model, const Words& words,
                                    const ModelState& state) {
  auto [logits, next] = model.read(words_tensor(model, words, state), state.reading);
  return {state.single ? logits[0] : logits, ModelState{std::move(next), state.single}};
}

std::tuple<Tensor, ModelState> next_logits(const LanguageModel& model, const ModelState& state) {
  auto [logits, next] = model.next(state.reading);
  return {state.single ? logits[0] : logits, ModelState{std::move(next), state.single}};
}

std::string state_line(const ModelState& state) {
  return fmt::format("ModelState: after {} symbols of {}", state.reading.symbols,
                     state.single ? "a string" : fmt::format("{} strings", state.reading.batch));
}

std::shared_ptr<const StringAutomaton> automaton_of(const LanguageModel& model,
                                                    const Tokens& tokens) {
  return std::make_shared<StringAutomaton>(
      network_automaton(model, to_word(model.alphabet(), tokens)));
}

Trace stack_automaton(const LanguageModel& model, const Tokens& tokens) {
  return Trace(automaton_of(model, tokens));
}

std::optional<PdaRun> best_run(const LanguageModel& model, const Tokens& tokens) {
  return best_run_of(automaton_of(model, tokens), true);
}

Tensor transition_weights(const LanguageModel& model, const Tokens& tokens) {
  return log_transition_weights(model, to_word(model.alphabet(), tokens));
}

Results strengths(lua_State* L, const LanguageModel& model, const Tokens& tokens) {
  return push_strengths(L, model, word_tensor(model, tokens));
}
Results recognizer_strengths(lua_State* L, const Recognizer& model, const Tokens& tokens) {
  return push_strengths(L, model, model.input(word_tensor(model, tokens)));
}

struct GradientOption {
  bool gradient = false;
  static OptionRows rows() {
    return declare<GradientOption>(
        {{"gradient", &GradientOption::gradient,
          "records gradients, as in a training pass; false: evaluates as accepts() does"}});
  }
};

Recognition recognition_of(const Recognizer& model, const Tokens& tokens, bool gradient) {
  const at::AutoGradMode mode(gradient);
  return model.run(word_tensor(model, tokens));
}

// The scores before the first symbol and after every pass.
Tensor scores(const Recognizer& model, const Tokens& tokens, const GradientOption& options) {
  return recognition_of(model, tokens, options.gradient).scores[0];
}

// The probabilities of the next symbol after every symbol : m x V.
Tensor next_symbols(const Recognizer& model, const Tokens& tokens, const GradientOption& options) {
  check(model.predicts_next_symbol(), "model.next_symbols",
        "the model must have next_symbol = true");
  const Tensor hiddens = recognition_of(model, tokens, options.gradient).hiddens;
  return model.next_scores(hiddens.narrow(1, 1, hiddens.size(1) - 1))[0].softmax(1);
}

bool accepts(const Recognizer& model, const Tokens& tokens, const UnknownSymbol& options) {
  at::NoGradGuard guard;
  const auto word = known_word(model.alphabet(), tokens, options.unknown);
  return word && model.decisions(word_tensor(*word)).item<double>() > model.threshold();
}

std::string describe_options(std::optional<std::string> given) {
  const auto& kind = find_row("model.describe", network_kinds(), given.value_or("recurrent"));
  return describe_model_options("language_model: a language model; " + kind.name + ": " + kind.doc,
                                language_model_options(kind.name));
}

std::string describe_recognizer(std::optional<std::string> given) {
  const auto& kind =
      find_row("model.describe_recognizer", network_kinds(), given.value_or("recurrent"));
  return describe_model_options(
      "recognizer: tells valid strings from others; " + kind.name + ": " + kind.doc,
      recognizer_options(kind.name));
}

constexpr NamedDoc kStrengths(
    "model:strengths(tokens) -> table  Returns how a memory of sections with strengths "
    "changes while the model reads a string, by name: strengths n x K x S after each symbol; "
    "push, pop and read_strength n x K; read n x K x S, the shares in the reading; "
    "push_distribution, pop_distribution and read_distribution n x K x (k+1) of expected "
    "values; and symbols, the symbols read. K is the number of memories and S the number of "
    "places, bottom first.");

}  // namespace model_module

void bind_model(lua_State* L) {
  using namespace model_module;
  Module module(L, "model",
                "Language models, recognizers and transducers, and the automata in them.");
  module
      .def<&language_model>(
          "language_model{options} -> LanguageModel  Returns a language model with new parameters; "
          "see pd.model.describe().")
      .def<&recognizer>(
          "recognizer{options} -> Recognizer  Returns a recognizer of valid strings with new "
          "parameters; see pd.model.describe_recognizer().")
      .def<&describe_recognizer>(
          "describe_recognizer(architecture='recurrent') -> string  Describes the options of "
          "recognizer.")
      .texts<&registry_names<&network_kinds>>()
      .def<&registry_names<&network_kinds>>(
          "architectures() -> table  Returns the architectures that a model can have.")
      .def<&describe_options>(
          "describe(architecture='recurrent') -> string  Describes the options of language_model.")
      .texts<&registry_names<&network_kinds>>("an architecture");
  module
      .def<&registry_names<&layer_kinds>>(
          "layers() -> table  Returns the kinds of layers of a transformer.")
      .def<&registry_description<&layer_kinds>>(
          "describe_layer(kind) -> string  Describes a layer of a transformer and its options.")
      .texts<&registry_names<&layer_kinds>>("a layer", "layers");
  Class<LanguageModel> language_models(module, "A language model: a network and an output layer.");
  language_models
      .def<&logits>(
          "model:logits(tokens) -> Tensor  Returns the scores of every symbol at every position of "
          "a string, n x V. Row t predicts symbol t.")
      .def<&model_module::log_probability>(
          "model:log_probability(tokens, {options}) -> number  Returns the natural logarithm of "
          "the probability of a string.")
      .def<&begin>(
          "model:begin(batch, length) -> ModelState  Returns the state before the first symbol of "
          "one string, or of `batch` strings read together. `length` is the expected number of "
          "symbols.")
      .def<&read>(
          "model:read(words, state) -> Tensor, ModelState  Returns the scores that predict the "
          "next symbols, c x V or for a batch B x c x V, as rows of logits, and the state after "
          "these symbols. The network reads the last of them only with the next piece: the first c "
          "symbols make c - 1 steps.")
      .def<&next_logits>(
          "model:next_logits(state) -> Tensor, ModelState  Returns the scores of what comes next, "
          "the end symbol included, V or for a batch B x V, and a state in which they are already "
          "computed.")
      .def<&strengths>(kStrengths)
      .def<&stack_automaton>(
          "model:stack_automaton(tokens) -> Trace  Returns all runs, on a string, of the pushdown "
          "automaton in a network with a nondeterministic stack.")
      .def<&model_module::best_run>(
          "model:best_run(tokens) -> Run  Returns the run of greatest weight: what the network "
          "pushes, replaces and pops while it reads the string.")
      .def<&transition_weights>(
          "model:log_transition_weights(tokens) -> Tensor  Returns the logarithms of the "
          "transition weights that the network gives a nondeterministic stack at each symbol, n x "
          "C x W.");
  bind_predictions(language_models);
  bind_trace_method(language_models);
  bind_hidden(language_models);
  bind_sequence_model(language_models);
  Class<Recognizer> recognizers(module,
                                "A recognizer: a network that decides whether a string is valid.");
  recognizers
      .def<&accepts>(
          "model:accepts(tokens, {options}) -> boolean  Returns whether the model classifies a "
          "string as valid.")
      .def<&scores>(
          "model:scores(tokens, {options}) -> Tensor  Returns the scores before the first symbol "
          "and after each pass, the end symbol last. A string is valid if its score is above 0, or "
          "above 1/2 for output = 'own'.")
      .def<&recognizer_strengths>(kStrengths)
      .def<&next_symbols>(
          "model:next_symbols(tokens, {options}) -> Tensor  Returns the probabilities m x V of the "
          "next symbol after every pass of a string, for a model with next_symbol = true.");
  bind_trace_method(recognizers);
  bind_hidden(recognizers);
  bind_sequence_model(recognizers);
  bind_stack_trace(module);
  Class<ModelState>(module, "The state of a model in a string that it reads in pieces.")
      .def<[](const ModelState& state) {
        return ModelState{state.reading.detached(), state.single};
      }>("state:detach() -> ModelState  Returns the same state without its gradient graph, so that "
         "no gradient flows back through it.")
      .def<[](const ModelState& state) { return state.reading.symbols; }>(
          "state:symbols() -> integer  Returns the number of symbols that have been read.")
      .def<[](const ModelState& state) { return state.reading.state->bytes(); }>(
          "state:bytes() -> integer  Returns the memory that the state uses in bytes.")
      .def<&state_line>("tostring(state) -> string  Returns one line about the state.");
}

}  // namespace pushdown
