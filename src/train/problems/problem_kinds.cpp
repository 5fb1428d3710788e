#include "train/problems/problem_kinds.h"

#include "base/check.h"
#include "grammar/text.h"
#include "model/attaching_network.h"
#include "train/problems/language_modelling.h"
#include "train/problems/stages.h"

namespace pushdown {
namespace {

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

PUSHDOWN_REGISTRY(ProblemKind, problem_kinds, text_problem(), sentence_problem(),
                  language_problem(), recognizer_problem(), transducer_problem())

OptionSpec bin_width_option() {
  return integer_option("bin_width", 10,
                        "width of the bins by length in symbols; bins start at its multiples", 1);
}

OptionSpec threshold_option() {
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
      bin_width_option(),
      integer_option("chunk", 0,
                     "longer strings are read in pieces of this number of symbols; 0: never, but a "
                     "running text in pieces of 50",
                     0),
      integer_option(
          "stack_chunks", 4,
          "for a running text: number of pieces after which the stack is emptied; 0: never", 0),
      threshold_option(),
      bound_option()};
  return specs;
}

EvaluationOptions evaluation_options(const Measurement& of) {
  EvaluationOptions options{of.options["batch"], of.options["bin_width"]};
  options.should_stop = of.should_stop;
  return options;
}

EvaluationOptions language_evaluation_options(const Measurement& of) {
  EvaluationOptions options = evaluation_options(of);
  options.chunk = of.options["chunk"];
  options.stack_chunks = of.options["stack_chunks"];
  options.threshold = of.options["threshold"];
  return options;
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
  check(kind.data == place_of_data<DatasetPtr>() || attaching(parts.model->network()) == nullptr,
        where, "the layer 'pushdown_attention' learns from a {} of strings with trees, got a {}",
        data_name(place_of_data<DatasetPtr>()), data_name(parts.train.index()));
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
