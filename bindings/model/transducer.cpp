// pd.model: transducers.
#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/kinds.h"
#include "bindings/define/definition.h"
#include "bindings/model/classes.h"
#include "bindings/model/sequence.h"
#include "bindings/session/state.h"
#include "bindings/task/classes.h"

namespace pushdown {
namespace model_transducer {

struct NewTransducer {
  std::shared_ptr<PairSource> pairs;
  std::optional<GivenAlphabet> source, target;
  Json rest;
  using Self = NewTransducer;
  static OptionRows rows() {
    return declare<Self>(
               {{"pairs", &Self::pairs, "pairs whose alphabets the model uses"},
                {"source_alphabet", &Self::source, "symbols of the sources, if there are no pairs"},
                {"target_alphabet", &Self::target,
                 "symbols of the targets, if there are no pairs"}})
        .open(&Self::rest, "architecture",
              [](lua_State*) { return option_groups(transducer_options); });
  }
};

TransducerPtr transducer(lua_State* L, const NewTransducer& made) {
  constexpr auto kWhere = "model.transducer";
  check(!made.pairs || (!made.source && !made.target), kWhere,
        "give either pairs or the alphabets, not both");
  check(made.pairs || (made.source && made.target), kWhere,
        "expected pairs, or source_alphabet and target_alphabet");
  return std::make_shared<Transducer>(
      made.pairs ? made.pairs->source_alphabet() : alphabet_of(*made.source),
      made.pairs ? made.pairs->target_alphabet() : alphabet_of(*made.target),
      with_session(L, made.rest), session_kinds(L));
}

// One text and its target, or a list of each.
using Sources = std::variant<std::string, std::vector<Tokens>>;

std::vector<Word> words_of(const Alphabet& alphabet, const Sources& texts) {
  if (const auto* one = std::get_if<std::string>(&texts)) return {to_word(alphabet, *one)};
  std::vector<Word> words;
  for (const auto& text : std::get<std::vector<Tokens>>(texts))
    words.push_back(to_word(alphabet, text));
  return words;
}

struct TranslateOptions {
  std::optional<std::int64_t> longest;
  std::int64_t beam = 1;
  static OptionRows rows() {
    return declare<TranslateOptions>(
        {{"longest", &TranslateOptions::longest,
          "maximum length of a target; if absent, twice the longest source plus 10",
          Between{0, kLongestString}},
         {"beam", &TranslateOptions::beam,
          "number of most probable beginnings that are kept after each symbol; 1: the most "
          "probable "
          "symbol after each step",
          Between{1, 100'000}}});
  }
};

Json translate(const Transducer& model, const Sources& sources, const TranslateOptions& options) {
  const auto words = words_of(model.alphabet(), sources);
  std::size_t greatest = 0;
  for (const auto& word : words) greatest = std::max(greatest, word.size());
  const auto longest = options.longest.value_or(2 * static_cast<std::int64_t>(greatest) + 10);
  std::vector<Transducer::Translation> translations;
  if (options.beam == 1)
    translations = model.translate(words, longest);
  else
    for (const auto& word : words)
      translations.push_back(model.translate(word, longest, options.beam));
  Json targets = Json::array();
  for (const auto& found : translations)
    targets.push_back(model.target_alphabet().text(found.target) + (found.ended ? "" : " ..."));
  return std::holds_alternative<std::string>(sources) ? targets[0] : targets;
}

double log_probability(const Transducer& model, const Tokens& source, const Tokens& target) {
  at::NoGradGuard guard;
  const auto joint =
      model.joint({to_word(model.alphabet(), source)}, {to_word(model.target_alphabet(), target)});
  return -model.losses(joint).sum(at::kDouble).item<double>();
}

Results strengths(lua_State* L, const Transducer& model, const Tokens& source,
                  const Tokens& target) {
  const Word from = to_word(model.alphabet(), source),
             to = to_word(model.target_alphabet(), target);
  const auto joint = model.joint({from}, {to});
  std::vector<std::string> symbols{"<s>"};
  for (const int symbol : from) symbols.push_back(model.alphabet().symbol(symbol));
  if (!model.along()) symbols.push_back("|||");
  for (const int symbol : model.along() ? Word() : to)
    symbols.push_back(model.target_alphabet().symbol(symbol));
  return push_strengths(L, model, joint.inputs, symbols);
}

std::string describe_transducer(std::optional<std::string> given) {
  const auto& kind =
      find_row("model.describe_transducer", network_kinds(), given.value_or("recurrent"));
  return "transducer: reads a source string and writes a target string; " + kind.name + ": " +
         kind.doc +
         "\n  source_alphabet    Alphabet or list of symbols, required unless pairs are given"
         "\n  target_alphabet    Alphabet or list of symbols, required unless pairs are given"
         "\n  pairs              Pairs, optional: whose alphabets these are" +
         option_lines(transducer_options(kind.name));
}

}  // namespace model_transducer

void bind_transducer(lua_State* L) {
  using namespace model_transducer;
  lua_getfield(L, -1, "model");
  {
    Module module(L, "pd.model");
    module
        .def<&transducer>(
            "transducer{options} -> Transducer  Returns a transducer with new parameters; see "
            "pd.model.describe_transducer().")
        .def<&describe_transducer>(
            "describe_transducer(architecture='recurrent') -> string  Describes the options of "
            "transducer.")
        .texts<&registry_names<&network_kinds>>();
    Class<Transducer> type(module,
                           "A transducer: reads a source string and writes a target string.");
    type.def<&translate>(
            "model:translate(source, {options}) -> string  Returns the target that the model "
            "writes for a source, or a list of targets for a list of sources. Each symbol is the "
            "most probable one after the symbols before it; with `beam` the target is the most "
            "probable one that a beam search finds. A target that has not ended after `longest` "
            "symbols ends with ' ...'.")
        .def<&model_transducer::log_probability>(
            "model:log_probability(source, target) -> number  Returns the natural logarithm of the "
            "probability of a target and its end, given the source.")
        .def<&strengths>(
            "model:strengths(source, target) -> table  Returns how a memory of sections with "
            "strengths changes while the model reads start, source, separator and target: the "
            "tensors of pd.stack.strengths without the batch dimension, and symbols, the symbols "
            "read; with alignment 'along', start and source.")
        .def<&Transducer::target_alphabet>(
            "model:target_alphabet() -> Alphabet  Returns the symbols of the targets.");
    bind_trace_method(type);
    bind_hidden(type);
    bind_sequence_model(type);
  }
  lua_pop(L, 1);
}

}  // namespace pushdown
