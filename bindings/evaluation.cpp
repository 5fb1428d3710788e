#include "bindings/evaluation.h"

#include "analysis/agreement.h"
#include "base/check.h"
#include "bindings/bind.h"
#include "bindings/grammar.h"
#include "bindings/interrupt.h"
#include "bindings/number.h"
#include "train/accuracy.h"
#include "train/evaluation.h"
#include "train/sentence_modelling.h"
#include "train/text_reader.h"
#include "train/transduction_accuracy.h"

namespace pushdown {
namespace {

const std::vector<OptionSpec>& evaluation_options() {
  static const std::vector<OptionSpec> specs{
      integer_option("batch", 10,
                     "strings of equal length measured at once; streams of a running text", 1),
      integer_option("bin_width", 10, "symbols; the bins of length start at its multiples", 1),
      integer_option("chunk", 0,
                     "longer strings are read in pieces of so many symbols; 0: never, a running "
                     "text in pieces of 50",
                     0),
      integer_option("stack_chunks", 4,
                     "of a running text: pieces after which the stack is emptied; 0: never", 0),
      text_option("decision", "own", "of a recognizer, in place of its own",
                  {"own", "last", "mean", "every"}),
      list_option("decisions", Json::array(),
                  "of a recognizer: further ones, measured on the same answers"),
      number_option("threshold", 0,
                    "with a grammar: a symbol is predicted if its probability is above this; 0: "
                    "half of the uniform one",
                    0)
          .between(0, 1),
      list_option("thresholds", Json::array(),
                  "of a recognizer, with a grammar: further ones, measured on the same answers")};
  return specs;
}

// A measurement that was not interrupted.
Json finished(lua_State* L, std::optional<Json> result) {
  if (!result) {
    stop_if_interrupted(L);
    throw std::runtime_error("interrupted");
  }
  return *std::move(result);
}

const std::vector<OptionSpec>& pair_evaluation_options() {
  static const std::vector<OptionSpec> specs{
      integer_option("pairs", 1000, "pairs that are drawn and measured", 1),
      integer_option("seed", 0, "seed of these pairs", 0),
      integer_option("batch", 10, "pairs measured at once", 1),
      integer_option("bin_width", 10, "symbols; the bins of source length start at its multiples",
                     1)};
  return specs;
}

Json evaluate_transducer(lua_State* L, const Transducer& model, const PairSource& source,
                         const EvaluateOptions& given) {
  constexpr auto kEvaluationPlace = "train.evaluate";
  check(given.grammar == nullptr, kEvaluationPlace, "a Transducer has no option 'grammar'");
  const Json options = resolve_options(kEvaluationPlace, pair_evaluation_options(), given.rest);
  check_alphabets(kEvaluationPlace, model, source);
  EvaluationOptions evaluation{options["batch"], options["bin_width"]};
  evaluation.should_stop = interrupt_check(L);
  Random random(options["seed"].get<std::uint64_t>(), "pairs to be measured");
  const auto pairs = source.draw(options["pairs"], random);
  std::optional<Json> result;
  if (const auto found = evaluate(model, pairs, evaluation)) {
    result = to_json(*found);
    (*result)["wrong"] = Json::array();
    for (const auto index : found->wrong)
      (*result)["wrong"].push_back(
          {{"source", source.source_alphabet().text(pairs[index].source)},
           {"target", source.target_alphabet().text(pairs[index].target)}});
  }
  return finished(L, std::move(result));
}

template <class Data>
NextSymbolsPtr next_symbols_of(const Data& data, const Grammar& grammar) {
  check(data.alphabet() == grammar.alphabet(), "train.evaluate",
        "the data's symbols are {}, the grammar's {}", quoted_list(data.alphabet().symbols()),
        quoted_list(grammar.alphabet().symbols()));
  return std::make_shared<NextSymbols>(next_symbols(grammar, data.words()));
}

}  // namespace

AnyModel any_model(const SequenceModelPtr& model) {
  if (auto recognizer = std::dynamic_pointer_cast<Recognizer>(model)) return recognizer;
  if (auto transducer = std::dynamic_pointer_cast<Transducer>(model)) return transducer;
  return std::dynamic_pointer_cast<LanguageModel>(model);
}

const char* class_of(const AnyData& data) {
  return std::visit([](const auto& of) { return ClassName<std::decay_t<decltype(*of)>>::value; },
                    data);
}

OptionRows EvaluateOptions::rows() {
  return declare<EvaluateOptions>(
             {{"grammar", &EvaluateOptions::grammar,
               "grammar of the language: measures whether all possible next symbols are predicted, "
               "and whether every prefix is judged correctly"}})
      .open(&EvaluateOptions::rest, "", [](lua_State*) {
        return std::vector<OptionGroup>{
            {"a language model or recognizer", declared(evaluation_options())},
            {"a transducer", declared(pair_evaluation_options())}};
      });
}

Json evaluate_model(lua_State* L, const AnyModel& model, const AnyData& data,
                    const EvaluateOptions& given) {
  constexpr auto kEvaluationPlace = "train.evaluate";
  const auto* transducer = std::get_if<TransducerPtr>(&model);
  if (transducer != nullptr) {
    const auto* source = std::get_if<std::shared_ptr<PairSource>>(&data);
    check(source != nullptr, kEvaluationPlace, "a Transducer is measured on Pairs");
    return evaluate_transducer(L, **transducer, **source, given);
  }
  const auto& grammar = given.grammar;
  const Json options = resolve_options(kEvaluationPlace, evaluation_options(), given.rest);
  EvaluationOptions evaluation{options["batch"], options["bin_width"], options["chunk"]};
  evaluation.stack_chunks = options["stack_chunks"];
  evaluation.threshold = options["threshold"];
  evaluation.should_stop = interrupt_check(L);
  const std::string decision = options["decision"];
  if (decision != "own") evaluation.decision = parse_decision(kEvaluationPlace, decision);
  for (const Json& further : options["decisions"]) {
    check(further.is_string(), kEvaluationPlace, "decisions must be texts, got {}", further.dump());
    evaluation.decisions.push_back(parse_decision(kEvaluationPlace, further));
  }
  for (const Json& further : options["thresholds"]) {
    check(further.is_number() && further >= 0 && further <= 1, kEvaluationPlace,
          "thresholds must be numbers from 0 to 1, got {}", further.dump());
    evaluation.thresholds.push_back(further);
  }
  std::optional<Json> result;
  const auto* recognizer = std::get_if<std::shared_ptr<Recognizer>>(&model);
  if (recognizer != nullptr) {
    const auto* labelled = std::get_if<std::shared_ptr<LabelledDataset>>(&data);
    check(labelled != nullptr, kEvaluationPlace,
          "a Recognizer is measured on a LabelledDataset, got a {}", class_of(data));
    check(evaluation.chunk == 0, kEvaluationPlace,
          "a Recognizer reads whole strings; leave out chunk");
    if (grammar) evaluation.next_symbols = next_symbols_of(**labelled, *grammar);
    if (const auto found = evaluate(**recognizer, **labelled, evaluation)) {
      result = to_json(*found);
      (*result)["wrong"] = Json::array();
      for (const auto index : found->wrong) (*result)["wrong"].push_back(index + 1);
      for (std::size_t d = 0; d < found->decided.size(); ++d)
        (*result)["decisions"][options["decisions"][d].get<std::string>()] =
            to_json(found->decided[d]);
    }
  } else {
    check(!std::holds_alternative<std::shared_ptr<LabelledDataset>>(data) &&
              !std::holds_alternative<std::shared_ptr<PairSource>>(data),
          kEvaluationPlace, "a LanguageModel is measured on a Dataset, a RunningText or Sentences");
    check(!evaluation.decision && evaluation.decisions.empty() && evaluation.thresholds.empty(),
          kEvaluationPlace,
          "a LanguageModel decides nothing; leave out decision, decisions and thresholds");
    const auto& language_model = *std::get<std::shared_ptr<LanguageModel>>(model);
    const auto* strings = std::get_if<std::shared_ptr<Dataset>>(&data);
    check(!grammar || strings != nullptr, kEvaluationPlace,
          "a grammar is for strings: a Dataset or a LabelledDataset");
    if (grammar) evaluation.next_symbols = next_symbols_of(**strings, *grammar);
    if (const auto* text = std::get_if<std::shared_ptr<RunningText>>(&data)) {
      if (const auto found = evaluate(language_model, *text, evaluation)) result = to_json(*found);
    } else if (const auto* sentences = std::get_if<std::shared_ptr<TokenFile>>(&data)) {
      if (const auto found = evaluate(language_model, **sentences, evaluation))
        result = to_json(*found);
    } else if (const auto found = evaluate(language_model, **strings, evaluation)) {
      result = to_json(*found);
    }
  }
  return finished(L, std::move(result));
}

struct AgreementOptions {
  std::int64_t batch = 100;
  static OptionRows rows() {
    return declare<AgreementOptions>({{"batch", &AgreementOptions::batch,
                                       "prefixes of one length judged at once", at_least(1)}});
  }
};

// {accuracy =, judged =, attractors = {{attractors =, judged =, accuracy =}}, wrong = {...}}
Json agreement(lua_State* L, const LanguageModel& model, const NumberData& data,
               const AgreementOptions& options) {
  const auto found = agreement_cases(data.examples, model.alphabet());
  const auto right = judge_agreement(model, found.cases, options.batch, interrupt_check(L));
  if (!right) finished(L, std::nullopt);
  struct Share {
    std::int64_t judged = 0, right = 0;
    Json accuracy() const {
      return judged > 0 ? Json(100.0 * static_cast<double>(right) / static_cast<double>(judged))
                        : Json();
    }
  };
  Share all;
  std::map<int, Share> by_attractors;
  Json wrong = Json::array();
  for (std::size_t i = 0; i < right->size(); ++i) {
    const auto number = found.examples[i];
    for (Share* share : {&all, &by_attractors[data.examples[number].attractors]}) {
      ++share->judged;
      share->right += (*right)[i];
    }
    if (!(*right)[i]) wrong.push_back(number + 1);
  }
  Json rows = Json::array();
  for (const auto& [attractors, share] : by_attractors)
    if (attractors >= 0)
      rows.push_back(
          {{"attractors", attractors}, {"judged", share.judged}, {"accuracy", share.accuracy()}});
  return {{"accuracy", all.accuracy()},
          {"judged", all.judged},
          {"attractors", std::move(rows)},
          {"wrong", std::move(wrong)}};
}

void bind_evaluation(Module& module) {
  module.def<&agreement>("agreement",
                         "agreement(model, examples, {options}) -> table  Returns in how many "
                         "percent of the examples, of those with both forms in its vocabulary, a "
                         "LanguageModel gives the verb's own form a greater probability than the "
                         "other one: accuracy, judged, the same by attractors, and the numbers of "
                         "the `wrong` ones.");
  module.def<&evaluate_model>(
      "evaluate",
      "evaluate(model, data, {options}) -> table  Measures a model, in all and in `bins` by "
      "length. "
      "For a LanguageModel, returns cross-entropy in nats per symbol, perplexity of a RunningText "
      "or of Sentences, and lower_bound and cross_entropy_difference where known. For a "
      "Recognizer, "
      "returns accuracy, error (percent), missed, false_positives, the places of the misclassified "
      "strings as `wrong`, and the tables `decisions` and `next_symbol_accuracies`. For a "
      "Transducer, returns coarse and fine accuracy, perplexity and the `wrong` pairs.");
}

}  // namespace pushdown
