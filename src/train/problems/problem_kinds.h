// Everything that can be trained and measured: one row for each kind of model and data. Trainers,
// evaluation, run folders and help all go by these rows.
#pragma once
#include <variant>

#include "task/dataset.h"
#include "task/labelled_dataset.h"
#include "task/running_text.h"
#include "task/token_file.h"
#include "task/transduction.h"
#include "train/problems/problem.h"

namespace pushdown {

// Data of any kind.
using ProblemData =
    std::variant<DatasetPtr, RunningTextPtr, TokenFilePtr, LabelledDatasetPtr, PairSourcePtr>;

struct ProblemParts {
  SequenceModelPtr model;
  ProblemData train;
  std::optional<ProblemData> second = std::nullopt;  // validation set; of a transducer, test pairs
  GrammarPtr grammar = nullptr;                      // of the language, to measure by
  const std::vector<ObjectiveKind>& objectives = objective_kinds();

  // The parts as what they are.
  template <class Model>
  std::shared_ptr<Model> model_as() const {
    return std::dynamic_pointer_cast<Model>(model);
  }
  template <class Data>
  const Data& train_as() const {
    return std::get<Data>(train);
  }
  template <class Data>
  Data second_as() const {
    return second ? std::get<Data>(*second) : nullptr;
  }
};

struct Measurement {
  SequenceModelPtr model;
  ProblemData data;
  GrammarPtr grammar = nullptr;
  Json options = Json::object();  // resolved, or as they were given
  std::function<bool()> should_stop = nullptr;

  template <class Model>
  const Model& model_as() const {
    return dynamic_cast<const Model&>(*model);
  }
  template <class Data>
  const Data& data_as() const {
    return std::get<Data>(data);
  }
};

struct ProblemKind {
  std::string name;
  std::string doc;               // "a language model on a running text"
  std::string model;             // kind() of the model
  std::string model_name;        // for the reader: "LanguageModel"
  std::size_t data;              // the alternative of ProblemData, place_of_data()
  const char* second = "valid";  // or "test": what the second data are
  bool by_grammar = false;       // whether it can be measured by a grammar
  const std::vector<OptionSpec>& (*options)();
  const std::vector<OptionSpec>& (*evaluation_options)();
  ProblemPtr (*make)(const ProblemParts& parts);
  // Nothing when should_stop said so. Places of strings count from 0.
  std::optional<Json> (*evaluate)(const Measurement& of);
  // Whether a stored text holds such data, and its data.
  bool (*holds)(const std::string& text) = [](const std::string&) { return true; };
  ProblemData (*parse)(const std::string& text, const std::string& file);
};
const std::vector<ProblemKind>& problem_kinds();

// What the rows share. The place of a type in ProblemData:
template <class Data>
std::size_t place_of_data() {
  return ProblemData(Data()).index();
}
// The options of measurements of language models, and some of other measurements.
const std::vector<OptionSpec>& language_evaluation();
OptionSpec bin_width_option();
OptionSpec threshold_option();
// The values of these options.
EvaluationOptions evaluation_options(const Measurement& of);
EvaluationOptions language_evaluation_options(const Measurement& of);
// The next symbols by the grammar of a measurement, null without one.
template <class Data>
NextSymbolsPtr next_symbols_of(const Measurement& of, const Data& data) {
  if (of.grammar == nullptr) return nullptr;
  check_same_alphabet("train.evaluate", "the data and the grammar", data.alphabet(),
                      of.grammar->alphabet());
  return std::make_shared<NextSymbols>(next_symbols(*of.grammar, data.words()));
}
template <class Found>
std::optional<Json> as_json(const std::optional<Found>& found) {
  return found ? std::optional(to_json(*found)) : std::nullopt;
}

// "Dataset": what the reader calls such data.
const char* data_name(std::size_t data);

// The problem of these parts. std::invalid_argument: a model that cannot learn such data, second
// data of another kind, a grammar where there is nothing to measure by it.
ProblemPtr make_problem(std::string_view where, const ProblemParts& parts);
// The numbers of a model on data, after resolving the options.
std::optional<Json> measure(std::string_view where, Measurement of);

// A text and the file it was read from.
struct StoredText {
  std::string text, file;
};
struct StoredStrings {
  StoredText train;
  std::optional<StoredText> valid = std::nullopt;
};
// The problem that a run folder holds. `in_stages`: a training in stages; otherwise there is one
// element.
ProblemPtr stored_problem(const SequenceModelPtr& model, const std::vector<StoredStrings>& stages,
                          bool in_stages, const std::optional<StoredText>& grammar = std::nullopt,
                          const std::vector<ObjectiveKind>& objectives = objective_kinds());

}  // namespace pushdown
