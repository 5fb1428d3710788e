// pd.task: strings labelled valid or invalid.
#include "base/atomic_file.h"
#include "base/check.h"
#include "bindings/alphabet.h"
#include "bindings/bind.h"
#include "bindings/dataset.h"
#include "bindings/grammar.h"
#include "bindings/inputs.h"
#include "bindings/labelled.h"
#include "bindings/options.h"
#include "bindings/session.h"
#include "task/curriculum.h"
#include "task/labelled_sampling.h"
#include "task/string_floor.h"

namespace pushdown {
namespace {

constexpr std::string_view kTaskLabelledPlace = "task.labelled";
using LabelledPtr = std::shared_ptr<LabelledDataset>;

LabelledDataset labelled_dataset_of(lua_State* L, OptionTable options) {
  LabelledOptions made;
  const auto grammar = options.require<std::shared_ptr<Grammar>>("grammar");
  options.take_into("positives", made.positives);
  options.take_into("negatives", made.negatives);
  const auto lengths = options.require<std::vector<int>>("lengths");
  const auto difficult = options.take<std::variant<double, std::vector<double>>>("difficult");
  options.take_into("swaps", made.swaps);
  options.take_into("edits", made.edits);
  options.take_into("distinct", made.distinct);
  options.take_into("positive_lengths", made.positive_lengths);
  options.take_into("negative_lengths", made.negative_lengths);
  options.take_into("negative_kind", made.negative_kind);
  const auto exclude = options.take<std::variant<LabelledPtr, std::vector<LabelledPtr>>>("exclude");
  const auto seed = options.take<std::uint64_t>("seed");
  options.finish(kTaskLabelledPlace, {"grammar", "positives", "negatives", "lengths", "difficult",
                                      "swaps", "edits", "distinct", "positive_lengths",
                                      "negative_lengths", "negative_kind", "exclude", "seed"});
  check(lengths.size() == 2, kTaskLabelledPlace,
        "lengths must be {{lowest, highest}}, got {} number{}", lengths.size(),
        lengths.size() == 1 ? "" : "s");
  made.shortest = lengths[0];
  made.longest = lengths[1];
  if (difficult) {
    auto shares = std::holds_alternative<double>(*difficult)
                      ? std::vector<double>(2, std::get<double>(*difficult))
                      : std::get<std::vector<double>>(*difficult);
    check(shares.size() == 2, kTaskLabelledPlace,
          "difficult must be a share or {{lowest, highest}}, got {} numbers", shares.size());
    made.difficult_low = shares[0];
    made.difficult_high = shares[1];
  }
  std::vector<LabelledDatasetPtr> excluded;
  if (exclude) {
    if (const auto* one = std::get_if<LabelledPtr>(&*exclude))
      excluded.push_back(*one);
    else
      for (const auto& set : std::get<std::vector<LabelledPtr>>(*exclude)) excluded.push_back(set);
  }
  made.seed = seed_or_next(L, seed);
  return make_labelled(*grammar, made, excluded);
}

LabelledDataset own_strings(OptionTable options) {
  const auto given =
      options.require<std::variant<std::shared_ptr<Alphabet>, std::vector<std::string>>>(
          "alphabet");
  const auto strings = options.require<std::vector<Tokens>>("strings");
  auto labels = options.require<std::vector<bool>>("labels");
  const bool classes = options.take<bool>("classes").value_or(false);
  options.finish("task.labelled_dataset", {"alphabet", "strings", "labels", "classes"});
  const auto* shared = std::get_if<std::shared_ptr<Alphabet>>(&given);
  const Alphabet alphabet = shared ? **shared : Alphabet(std::get<std::vector<std::string>>(given));
  std::vector<Word> words;
  for (const auto& tokens : strings) words.push_back(to_word(alphabet, tokens));
  return LabelledDataset(alphabet, std::move(words), std::move(labels), {},
                         classes ? LabelMeaning::observed_class : LabelMeaning::membership);
}

LabelledDataset load_labelled(lua_State* L, const std::string& path) {
  return parse_labelled(read_input(L, "data", path), path);
}

void save_labelled(const LabelledDataset& dataset, const std::string& path) {
  write_file(path, to_text(dataset));
}

std::vector<std::string> labelled_strings_of(const LabelledDataset& dataset) {
  std::vector<std::string> texts;
  for (const auto& word : dataset.words()) texts.push_back(dataset.alphabet().text(word));
  return texts;
}

std::vector<std::int64_t> labelled_lengths_of(const LabelledDataset& dataset) {
  std::vector<std::int64_t> lengths;
  for (const auto& word : dataset.words())
    lengths.push_back(static_cast<std::int64_t>(word.size()));
  return lengths;
}

std::vector<LabelledDataset> split_set(lua_State* L, const LabelledDataset& dataset,
                                       const std::vector<double>& shares, OptionTable options) {
  const auto seed = options.take<std::uint64_t>("seed");
  options.finish("labelled.split", {"seed"});
  return split(dataset, shares, seed_or_next(L, seed));
}

LabelledDataset of_length(const LabelledDataset& dataset, std::int64_t shortest,
                          std::int64_t longest) {
  const auto indices = dataset.of_length(shortest, longest);
  check(!indices.empty(), "labelled.of_length", "there are no strings of length {} to {}", shortest,
        longest);
  return dataset.subset(indices);
}

// The valid strings alone, for a language model.
Dataset valid_strings(const LabelledDataset& dataset) {
  std::vector<Word> words;
  for (std::int64_t i = 0; i < dataset.size(); ++i)
    if (dataset.labels()[i]) words.push_back(dataset.words()[i]);
  return Dataset(dataset.alphabet(), std::move(words));
}

std::vector<std::pair<std::string, std::vector<std::vector<int>>>> targets_of(
    const LabelledDataset& dataset, const Grammar& grammar) {
  check(dataset.alphabet() == grammar.alphabet(), "labelled.step_targets",
        "the data set's symbols are {}, the grammar's {}",
        quoted_list(dataset.alphabet().symbols()), quoted_list(grammar.alphabet().symbols()));
  std::vector<std::vector<int>> viable, member;
  for (const auto& targets : step_targets(grammar, dataset.words())) {
    viable.emplace_back(targets.viable.begin(), targets.viable.end());
    member.emplace_back(targets.member.begin(), targets.member.end());
  }
  return {{"viable", std::move(viable)}, {"member", std::move(member)}};
}

std::vector<std::int64_t> wrong_of(const LabelledDataset& dataset, const Grammar& grammar) {
  auto wrong = wrong_labels(dataset, grammar);
  for (auto& index : wrong) ++index;
  return wrong;
}

// A list of {stage=, longest=, random=, epochs=, data=}.
Results phases_of(lua_State* L, const LabelledDataset& dataset, OptionTable options) {
  CurriculumOptions chosen;
  options.take_into("kind", chosen.kind);
  options.take_into("threshold", chosen.threshold);
  options.take_into("step", chosen.step);
  options.take_into("stage_end", chosen.stage_end);
  if (const auto epochs =
          options.take<std::variant<std::int64_t, std::vector<std::int64_t>>>("epochs")) {
    const auto* one = std::get_if<std::int64_t>(&*epochs);
    chosen.epochs =
        one ? std::vector<std::int64_t>{*one} : std::get<std::vector<std::int64_t>>(*epochs);
  }
  options.finish("labelled.curriculum", {"kind", "threshold", "epochs", "step", "stage_end"});
  const auto phases = curriculum(dataset, chosen);
  lua_createtable(L, static_cast<int>(phases.size()), 0);
  const int list = lua_gettop(L);
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const auto& phase = phases[i];
    Json said{{"stage", phase.stage}, {"longest", phase.longest}, {"random", phase.random}};
    if (phase.epochs != kNoEpochLimit) said["epochs"] = phase.epochs;
    Value<Json>::push(L, said);
    Value<LabelledDataset>::push(L, dataset.subset(phase.strings));
    lua_setfield(L, -2, "data");
    lua_rawseti(L, list, static_cast<int>(i) + 1);
  }
  return {1};
}

// {error =, classifier =, errors = {...}}.
Results floor_of(lua_State* L, const LabelledDataset& train, const LabelledDataset& test) {
  const auto floor = string_floor(train, test);
  Json errors = Json::object();
  for (const auto& [name, error] : floor.errors) errors[name] = error;
  Value<Json>::push(
      L, {{"error", floor.error}, {"classifier", floor.classifier}, {"errors", std::move(errors)}});
  return {1};
}

std::string labelled_line_of(const LabelledDataset& dataset) {
  return fmt::format("LabelledDataset: {} valid and {} invalid strings of length {} to {}",
                     dataset.positives(), dataset.negatives(), dataset.shortest(),
                     dataset.longest());
}

}  // namespace

void bind_labelled(Module& module) {
  module
      .def<&labelled_dataset_of>(
          "labelled",
          "labelled{grammar=, lengths=, positives=, negatives=, difficult=, swaps=, "
          "edits=, distinct=, positive_lengths=, negative_lengths=, "
          "negative_kind=, exclude=, seed=} -> "
          "LabelledDataset  Strings of the grammar's language, and others that an exact "
          "oracle made from it rejects.")
      .def<&own_strings>("labelled_dataset",
                         "labelled_dataset{alphabet=, strings=, labels=, classes=} -> "
                         "LabelledDataset  Your own strings; the labels are true (valid) or "
                         "false; with classes = true one string may have both.")
      .def<&load_labelled>(
          "load_labelled",
          "load_labelled(path) -> LabelledDataset  Reads what a labelled data set's save "
          "wrote: a label, a tab and a string a line.");
  Class<LabelledDataset>(module, "Strings over one alphabet, each labelled valid or invalid.")
      .def<&LabelledDataset::size>("size", "labelled:size() -> integer  The number of strings.")
      .def<&LabelledDataset::positives>("positives",
                                        "labelled:positives() -> integer  How many are valid.")
      .def<&LabelledDataset::negatives>("negatives",
                                        "labelled:negatives() -> integer  How many are invalid.")
      .def<&labelled_strings_of>(
          "strings",
          "labelled:strings() -> table  The strings as texts with blanks between "
          "symbols.")
      .def<[](const LabelledDataset& dataset) { return dataset.labels(); }>(
          "labels", "labelled:labels() -> table  True for each valid string, false for others.")
      .def<&labelled_lengths_of>("lengths",
                                 "labelled:lengths() -> table  The length of every string.")
      .def<&LabelledDataset::symbol_count>("symbol_count",
                                           "labelled:symbol_count() -> integer  All symbols "
                                           "together.")
      .def<[](const LabelledDataset& dataset) { return dataset.alphabet(); }>(
          "alphabet", "labelled:alphabet() -> Alphabet  The symbols of the language.")
      .def<&valid_strings>("valid_strings",
                           "labelled:valid_strings() -> Dataset  The valid strings alone.")
      .def<&split_set>("split",
                       "labelled:split(shares, {seed=}) -> table  Parts of these shares with the "
                       "same balance of labels; no string is in two of them.")
      .def<&of_length>("of_length",
                       "labelled:of_length(shortest, longest) -> LabelledDataset  Its strings of "
                       "these lengths, in their order.")
      .def<&phases_of>(
          "curriculum",
          "labelled:curriculum{kind=, threshold=, epochs=, step=, stage_end=} -> table  The phases "
          "of sequential, incremental or two_stage training: a list of {stage=, longest=, random=, "
          "epochs=, data=}, without epochs where a phase has no limit.")
      .def<&targets_of>("step_targets",
                        "labelled:step_targets(grammar) -> table  Lists viable and member: for "
                        "each string and time, from before the first symbol, 1 if what was read "
                        "can still become a string of the language, or is one.")
      .def<[](const LabelledDataset& dataset, const Grammar& grammar) {
        return with_dead_ends(dataset, grammar);
      }>("with_dead_ends",
         "labelled:with_dead_ends(grammar) -> LabelledDataset  The same strings, with the "
         "knowledge "
         "after how many symbols no string of the language can follow any more.")
      .def<[](const LabelledDataset& dataset) { return dataset.dead_ends(); }>(
          "dead_ends",
          "labelled:dead_ends() -> table  After how many symbols each string is hopeless, 0 where "
          "it never is; empty where that is not known.")
      .def<&wrong_of>("wrong_labels",
                      "labelled:wrong_labels(grammar) -> table  The places of the strings whose "
                      "label is not what the grammar says.")
      .def<&floor_of>("floor",
                      "labelled:floor(test) -> table  The least error in percent on another set "
                      "among simple classifiers learnt from this one: {error=, classifier=, "
                      "errors=}, errors by the name of the classifier.")
      .def<&save_labelled>(
          "save", "labelled:save(path)  Writes a text file: a label, a tab and a string a line.")
      .def<&labelled_line_of>(
          "__tostring", "tostring(labelled) -> string  One line about the labelled data set.");
}

}  // namespace pushdown
