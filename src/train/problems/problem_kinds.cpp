#include "train/problems/problem_kinds.h"

#include "base/check.h"
#include "grammar/text.h"
#include "task/dataset_text.h"
#include "task/pair_text.h"
#include "train/evaluation/accuracy.h"
#include "train/evaluation/evaluation.h"
#include "train/evaluation/transduction_accuracy.h"
#include "train/problems/language_modelling.h"
#include "train/problems/recognition.h"
#include "train/problems/sentence_modelling.h"
#include "train/problems/stages.h"
#include "train/problems/text_modelling.h"
#include "train/problems/text_reader.h"
#include "train/problems/transduction.h"

namespace pushdown {
namespace {

constexpr auto kWhere = "train.evaluate";

OptionSpec bin_width() {
  return integer_option("bin_width", 10,
                        "width of the bins by length in symbols; bins start at its multiples", 1);
}

OptionSpec threshold() {
  return number_option("threshold", 0,
                       "with a grammar: a symbol counts as predicted if its probability is above "
                       "this; 0: above half of the uniform probability",
                       0)
      .between(0, 1);
}

const std::vector<OptionSpec>& language_evaluation() {
  static const std::vector<OptionSpec> specs{
      integer_option("batch", 10,
                     "number of strings of equal length measured at once; for a running text, "
                     "number of parallel streams",
                     1),
      bin_width(),
      integer_option("chunk", 0,
                     "longer strings are read in pieces of this number of symbols; 0: never, but a "
                     "running text in pieces of 50",
                     0),
      integer_option(
          "stack_chunks", 4,
          "for a running text: number of pieces after which the stack is emptied; 0: never", 0),
      threshold(),
      bound_option()};
  return specs;
}

const std::vector<OptionSpec>& recognizer_evaluation() {
  static const std::vector<OptionSpec> specs{
      integer_option("batch", 10, "number of strings of equal length measured at once", 1),
      bin_width(),
      text_option("decision", "own", "decision rule; own: that of the model",
                  {"own", "last", "mean", "every"}),
      list_option("decisions", Json::array(),
                  "further decision rules, measured on the same answers"),
      threshold(),
      list_option("thresholds", Json::array(),
                  "with a grammar: further thresholds, measured on the same answers")};
  return specs;
}

const std::vector<OptionSpec>& pair_evaluation() {
  static const std::vector<OptionSpec> specs{
      integer_option("pairs", 1000, "number of pairs that are drawn and measured", 1),
      integer_option("seed", 0, "random seed of these pairs", 0),
      integer_option("batch", 10, "number of pairs measured at once", 1),
      integer_option("bin_width", 10,
                     "width of the bins by source length in symbols; bins start at its multiples",
                     1)};
  return specs;
}

template <class Model>
std::shared_ptr<Model> as(const SequenceModelPtr& model) {
  return std::dynamic_pointer_cast<Model>(model);
}

template <class Data>
Data second_of(const ProblemParts& parts) {
  return parts.second ? std::get<Data>(*parts.second) : nullptr;
}

EvaluationOptions common_options(const Measurement& of) {
  EvaluationOptions options{of.options["batch"], of.options["bin_width"]};
  options.should_stop = of.should_stop;
  return options;
}

template <class Data>
EvaluationOptions language_options(const Measurement& of, const Data& data) {
  EvaluationOptions options = common_options(of);
  options.chunk = of.options["chunk"];
  options.stack_chunks = of.options["stack_chunks"];
  options.threshold = of.options["threshold"];
  return options;
}

template <class Data>
NextSymbolsPtr next_symbols_by(const GrammarPtr& grammar, const Data& data) {
  if (grammar == nullptr) return nullptr;
  check_same_alphabet(kWhere, "the data and the grammar", data.alphabet(), grammar->alphabet());
  return std::make_shared<NextSymbols>(next_symbols(*grammar, data.words()));
}

template <class Found>
std::optional<Json> told(const std::optional<Found>& found) {
  return found ? std::optional(to_json(*found)) : std::nullopt;
}

std::optional<Json> evaluate_strings(const Measurement& of) {
  const Dataset& data = *std::get<DatasetPtr>(of.data);
  auto options = language_options(of, data);
  options.next_symbols = next_symbols_by(of.grammar, data);
  options.bound_of_strings = of.options["bound"] == "string";
  return told(evaluate(*as<LanguageModel>(of.model), data, options));
}

std::optional<Json> evaluate_text(const Measurement& of) {
  const auto& text = std::get<RunningTextPtr>(of.data);
  return told(evaluate(*as<LanguageModel>(of.model), text, language_options(of, *text)));
}

std::optional<Json> evaluate_sentences(const Measurement& of) {
  const TokenFile& sentences = *std::get<TokenFilePtr>(of.data);
  return told(evaluate(*as<LanguageModel>(of.model), sentences, language_options(of, sentences)));
}

std::optional<Json> evaluate_recognizer(const Measurement& of) {
  const LabelledDataset& data = *std::get<LabelledDatasetPtr>(of.data);
  EvaluationOptions options = common_options(of);
  options.threshold = of.options["threshold"];
  options.next_symbols = next_symbols_by(of.grammar, data);
  const std::string decision = of.options["decision"];
  if (decision != "own") options.decision = parse_decision(kWhere, decision);
  for (const Json& further : of.options["decisions"]) {
    check(further.is_string(), kWhere, "decisions must be texts, got {}", further.dump());
    options.decisions.push_back(parse_decision(kWhere, further));
  }
  for (const Json& further : of.options["thresholds"]) {
    check(further.is_number() && further >= 0 && further <= 1, kWhere,
          "thresholds must be numbers from 0 to 1, got {}", further.dump());
    options.thresholds.push_back(further);
  }
  const auto found = evaluate(*as<Recognizer>(of.model), data, options);
  auto result = told(found);
  if (!result) return result;
  (*result)["wrong"] = found->wrong;
  for (std::size_t d = 0; d < found->decided.size(); ++d)
    (*result)["decisions"][of.options["decisions"][d].get<std::string>()] =
        to_json(found->decided[d]);
  return result;
}

std::optional<Json> evaluate_pairs(const Measurement& of) {
  const auto model = as<Transducer>(of.model);
  const PairSource& source = *std::get<PairSourcePtr>(of.data);
  check_alphabets(kWhere, *model, source);
  Random random(of.options["seed"].get<std::uint64_t>(), "pairs to be measured");
  const auto pairs = source.draw(of.options["pairs"], random);
  const auto found = evaluate(*model, pairs, common_options(of));
  auto result = told(found);
  if (!result) return result;
  (*result)["wrong"] = Json::array();
  for (const auto index : found->wrong)
    (*result)["wrong"].push_back({{"source", source.source_alphabet().text(pairs[index].source)},
                                  {"target", source.target_alphabet().text(pairs[index].target)}});
  return result;
}

bool any_text(const std::string&) { return true; }

template <class Data>
std::size_t place_of_data() {
  return ProblemData(Data()).index();
}

// What cannot be read is the environment's fault: the file was written by a run.
auto reading(const StoredText& stored, auto parse) {
  try {
    return parse(stored.text, stored.file);
  } catch (const std::invalid_argument& error) {
    fail_environment("run_folder", "'{}' cannot be read: {}", stored.file, error.what());
  }
}

const ProblemKind& find_problem(std::string_view where, const SequenceModel& model,
                                const ProblemData& data) {
  std::string name, known;
  for (const auto& kind : problem_kinds()) {
    if (kind.model != model.kind()) continue;
    if (kind.data == data.index()) return kind;
    name = kind.model_name;
    known += (known.empty() ? "" : " or ") + std::string(data_name(kind.data));
  }
  fail(where, "a {} needs a {}, got a {}", name, known, data_name(data.index()));
}

void check_grammar(std::string_view where, const ProblemKind& kind, const GrammarPtr& grammar) {
  check(grammar == nullptr || kind.by_grammar, where, "{} cannot be measured by a grammar",
        kind.doc);
}

}  // namespace

const std::vector<ProblemKind>& problem_kinds() {
  static const std::vector<ProblemKind> kinds{
      {"text", "a language model on a running text", "language_model", "LanguageModel",
       place_of_data<RunningTextPtr>(), "valid", false, text_modelling_options, language_evaluation,
       [](const ProblemParts& parts) {
         return text_modelling(as<LanguageModel>(parts.model),
                               std::get<RunningTextPtr>(parts.train),
                               second_of<RunningTextPtr>(parts));
       },
       evaluate_text, [](const std::string& text) { return is_running_text(text); },
       [](const std::string& text, const std::string& file) -> ProblemData {
         return std::make_shared<const RunningText>(parse_running_text(text, file));
       }},
      {"sentences", "a language model on sentences", "language_model", "LanguageModel",
       place_of_data<TokenFilePtr>(), "valid", false, sentence_modelling_options,
       language_evaluation,
       [](const ProblemParts& parts) {
         return sentence_modelling(as<LanguageModel>(parts.model),
                                   std::get<TokenFilePtr>(parts.train),
                                   second_of<TokenFilePtr>(parts));
       },
       evaluate_sentences, [](const std::string& text) { return is_token_note(text); },
       [](const std::string& text, const std::string& file) -> ProblemData {
         return noted_file(text, file);
       }},
      {"language_model", "a language model on strings", "language_model", "LanguageModel",
       place_of_data<DatasetPtr>(), "valid", true, language_modelling_options, language_evaluation,
       [](const ProblemParts& parts) {
         return language_modelling(as<LanguageModel>(parts.model),
                                   std::get<DatasetPtr>(parts.train), second_of<DatasetPtr>(parts),
                                   parts.grammar);
       },
       evaluate_strings, any_text,
       [](const std::string& text, const std::string& file) -> ProblemData {
         return std::make_shared<const Dataset>(parse_dataset(text, file));
       }},
      {"recognizer", "a recognizer", "recognizer", "Recognizer",
       place_of_data<LabelledDatasetPtr>(), "valid", true, recognition_options,
       recognizer_evaluation,
       [](const ProblemParts& parts) {
         return recognition(as<Recognizer>(parts.model), std::get<LabelledDatasetPtr>(parts.train),
                            second_of<LabelledDatasetPtr>(parts), parts.objectives, parts.grammar);
       },
       evaluate_recognizer, any_text,
       [](const std::string& text, const std::string& file) -> ProblemData {
         return std::make_shared<const LabelledDataset>(parse_labelled(text, file));
       }},
      {"transducer", "a transducer", "transducer", "Transducer", place_of_data<PairSourcePtr>(),
       "test", false, transduction_options, pair_evaluation,
       [](const ProblemParts& parts) {
         return transduction(as<Transducer>(parts.model), std::get<PairSourcePtr>(parts.train),
                             second_of<PairSourcePtr>(parts));
       },
       evaluate_pairs, any_text,
       [](const std::string& text, const std::string& file) -> ProblemData {
         return parse_pair_source(text, file);
       }}};
  return kinds;
}

const char* data_name(std::size_t data) {
  static constexpr const char* kNames[]{"Dataset", "RunningText", "Sentences", "LabelledDataset",
                                        "Pairs"};
  static_assert(std::size(kNames) == std::variant_size_v<ProblemData>);
  return kNames[data];
}

ProblemPtr make_problem(std::string_view where, const ProblemParts& parts) {
  const ProblemKind& kind = find_problem(where, *parts.model, parts.train);
  check(!parts.second || parts.second->index() == kind.data, where,
        "'{}' of {} must be a {}, got a {}", kind.second, kind.doc, data_name(kind.data),
        parts.second ? data_name(parts.second->index()) : "");
  check_grammar(where, kind, parts.grammar);
  return kind.make(parts);
}

std::optional<Json> measure(std::string_view where, Measurement of) {
  const ProblemKind& kind = find_problem(where, *of.model, of.data);
  check_grammar(where, kind, of.grammar);
  of.options = resolve_options(where, kind.evaluation_options(), of.options);
  return kind.evaluate(of);
}

ProblemPtr stored_problem(const SequenceModelPtr& model, const std::vector<StoredStrings>& stages,
                          bool in_stages, const std::optional<StoredText>& grammar,
                          const std::vector<ObjectiveKind>& objectives) {
  for (const auto& kind : problem_kinds()) {
    if (kind.model != model->kind() || !kind.holds(stages.front().train.text)) continue;
    GrammarPtr known;
    if (grammar)
      known = reading(*grammar, [](const auto& text, const auto& file) {
        return std::make_shared<const Grammar>(parse_grammar(text, file));
      });
    std::vector<ProblemPtr> problems;
    for (const StoredStrings& stored : stages) {
      ProblemParts parts{model, reading(stored.train, kind.parse), std::nullopt, known, objectives};
      if (stored.valid) parts.second = reading(*stored.valid, kind.parse);
      problems.push_back(kind.make(parts));
    }
    return in_stages ? staged(std::move(problems)) : problems.front();
  }
  fail("run_folder", "a {} cannot be trained", model->kind());
}

}  // namespace pushdown
