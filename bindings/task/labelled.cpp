// pd.task: strings labelled valid or invalid.
#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/options.h"
#include "bindings/grammar/alphabet.h"
#include "bindings/grammar/classes.h"
#include "bindings/pda/classes.h"
#include "bindings/session/log.h"
#include "bindings/session/state.h"
#include "bindings/task/classes.h"
#include "pda/to_grammar.h"
#include "task/curriculum.h"
#include "task/labelled_sampling.h"
#include "task/string_floor.h"

namespace pushdown {
namespace task_labelled {

using LabelledPtr = std::shared_ptr<LabelledDataset>;

struct MadeLabels : LabelledOptions {
  std::shared_ptr<Grammar> grammar;
  std::shared_ptr<Pda> pda;
  std::array<int, 2> lengths{};
  std::variant<double, std::array<double, 2>> difficult = 0.0;
  OneOrMore<LabelledPtr> exclude;
  std::optional<std::uint64_t> own_seed;
  using Self = MadeLabels;
  static OptionRows rows() {
    return declare<Self>(
        {{"grammar", &Self::grammar, "language of the valid strings"},
         {"pda", &Self::pda, "automaton that accepts the valid strings, instead of a grammar"},
         {"lengths", &Self::lengths, "{lowest, highest} length of a string", required},
         {"positives", &Self::positives, "number of valid strings", at_least(0)},
         {"negatives", &Self::negatives, "number of invalid strings", at_least(0)},
         {"difficult", &Self::difficult,
          "share of negatives made from valid strings; {lowest, highest}: drawn uniformly",
          Between{0, 1}},
         {"swaps", &Self::swaps, "numbers of edits of a difficult negative"},
         {"edits", &Self::edits, "kinds of edits", OneOf{labelled_edits()}},
         {"distinct", &Self::distinct, "which strings occur only once",
          OneOf{{"all", "negatives", "none"}}},
         {"positive_lengths", &Self::positive_lengths, "how the lengths of valid strings are drawn",
          OneOf{{"uniform", "grammar"}}},
         {"negative_lengths", &Self::negative_lengths,
          "how the lengths of random negatives are drawn", OneOf{{"positives", "uniform"}}},
         {"negative_kind", &Self::negative_kind,
          "random and difficult negatives, or negatives with the statistics of valid strings",
          OneOf{{"usual", "matched"}}},
         {"exclude", &Self::exclude, "datasets whose strings must not occur"},
         {"seed", &Self::own_seed, "random seed"}});
  }
};

// The grammar that is given, or that of the automaton.
Grammar grammar_of(const MadeLabels& options) {
  constexpr auto kWhere = "task.labelled";
  check((options.grammar == nullptr) != (options.pda == nullptr), kWhere,
        "expected either a grammar or a pda, got {}", options.grammar ? "both" : "none of them");
  if (options.grammar) return *options.grammar;
  auto grammar = grammar_from_pda(*options.pda).grammar;
  std::vector<std::string> unused;
  for (const auto& symbol : options.pda->alphabet().symbols())
    if (!grammar.alphabet().find(symbol)) unused.push_back(symbol);
  if (!unused.empty())
    log_message("warn",
                fmt::format("[{}] no accepted string has the symbol {}; invalid strings do not "
                            "have it either",
                            kWhere, quoted_list(unused)));
  return grammar;
}

LabelledDataset dataset_of(lua_State* L, MadeLabels options) {
  options.shortest = options.lengths[0];
  options.longest = options.lengths[1];
  if (const auto* share = std::get_if<double>(&options.difficult))
    options.difficult = std::array{*share, *share};
  options.difficult_low = std::get<1>(options.difficult)[0];
  options.difficult_high = std::get<1>(options.difficult)[1];
  const auto& excluded = options.exclude.list;
  options.seed = seed_or_next(L, options.own_seed);
  return make_labelled(grammar_of(options), options, {excluded.begin(), excluded.end()});
}

struct OwnLabels {
  GivenAlphabet alphabet;
  std::vector<Tokens> strings;
  std::vector<bool> labels;
  bool classes = false;
  std::optional<std::vector<std::vector<std::vector<std::string>>>> next_symbols;
  using Self = OwnLabels;
  static OptionRows rows() {
    return declare<Self>(
        {{"alphabet", &Self::alphabet, "symbols of the strings", required},
         {"strings", &Self::strings, "the strings", required, TypeText{"list of strings"}},
         {"labels", &Self::labels, "true for each valid string", required},
         {"classes", &Self::classes,
          "labels are observed classes, so that one string may have both"},
         {"next_symbols", &Self::next_symbols,
          "for each valid string the lists of symbols that may follow after 0 .. n symbols, where "
          "'' is the end; {} for each invalid one",
          TypeText{"list of lists"}}});
  }
};

NextSymbols sets_of(const Alphabet& alphabet,
                    const std::vector<std::vector<std::vector<std::string>>>& given) {
  NextSymbols sets;
  for (const auto& of_string : given) {
    auto& made = sets.emplace_back();
    for (const auto& symbols : of_string) {
      SymbolSet set = 0;
      for (const auto& symbol : symbols)
        set |= SymbolSet{1} << (symbol.empty() ? alphabet.size() : alphabet.id(symbol));
      made.push_back(set);
    }
  }
  return sets;
}

LabelledDataset own_strings(const OwnLabels& own) {
  Alphabet alphabet = alphabet_of(own.alphabet);
  auto words = to_words(alphabet, own.strings);
  const LabelledDataset dataset(
      alphabet, std::move(words), own.labels, {},
      own.classes ? LabelMeaning::observed_class : LabelMeaning::membership);
  return own.next_symbols ? dataset.with_next_symbols(sets_of(alphabet, *own.next_symbols))
                          : dataset;
}

std::vector<LabelledDataset> split_set(lua_State* L, const LabelledDataset& dataset,
                                       const std::vector<double>& shares,
                                       const SeedOption& options) {
  return split(dataset, shares, seed_or_next(L, options.seed));
}

LabelledDataset of_length(const LabelledDataset& dataset, std::int64_t shortest,
                          std::int64_t longest) {
  const auto indices = dataset.of_length(shortest, longest);
  check(!indices.empty(), "labelled.of_length", "there are no strings of {}",
        length_text(shortest, longest));
  return dataset.subset(indices);
}

// Only the valid strings, for a language model.
Dataset valid_strings(const LabelledDataset& dataset) {
  std::vector<Word> words;
  for (std::int64_t i = 0; i < dataset.size(); ++i)
    if (dataset.labels()[i]) words.push_back(dataset.words()[i]);
  return Dataset(dataset.alphabet(), std::move(words));
}

std::vector<std::pair<std::string, std::vector<std::vector<int>>>> targets_of(
    const LabelledDataset& dataset, const Grammar& grammar) {
  check_same_alphabet("labelled.step_targets", "the dataset and the grammar", dataset.alphabet(),
                      grammar.alphabet());
  std::vector<std::vector<int>> viable, member;
  for (const auto& targets : step_targets(grammar, dataset.words())) {
    viable.emplace_back(targets.viable.begin(), targets.viable.end());
    member.emplace_back(targets.member.begin(), targets.member.end());
  }
  return {{"viable", std::move(viable)}, {"member", std::move(member)}};
}

std::vector<std::vector<std::vector<std::string>>> next_of(const LabelledDataset& dataset) {
  std::vector<std::vector<std::vector<std::string>>> result;
  if (dataset.next_symbols() == nullptr) return result;
  const int end = dataset.alphabet().size();
  for (const auto& sets : *dataset.next_symbols()) {
    auto& of_string = result.emplace_back();
    for (const auto set : sets) {
      auto& symbols = of_string.emplace_back();
      for (int v = 0; v <= end; ++v)
        if ((set >> v & 1) != 0)
          symbols.push_back(v < end ? dataset.alphabet().symbols()[v] : std::string());
    }
  }
  return result;
}

std::vector<std::int64_t> wrong_of(const LabelledDataset& dataset, const Grammar& grammar) {
  auto wrong = wrong_labels(dataset, grammar);
  for (auto& index : wrong) ++index;
  return wrong;
}

struct PhaseOptions : CurriculumOptions {
  OneOrMore<std::int64_t> limits;
  using Self = PhaseOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"kind", &Self::kind, "order of the strings", OneOf{curriculum_kinds()}},
         {"threshold", &Self::threshold, "two_stage: maximum length of the first stage"},
         {"epochs", &Self::limits,
          "epoch at which each stage ends; 350, or {200, 350} for two_stage, if absent"},
         {"step", &Self::step, "increase of the maximum length from one pass to the next",
          at_least(1)},
         {"stage_end", &Self::stage_end, "what ends a stage", OneOf{stage_ends()}}});
  }
};

// A list of {stage=, longest=, random=, epochs=, data=}.
Results phases_of(lua_State* L, const LabelledDataset& dataset, PhaseOptions chosen) {
  chosen.epochs = chosen.limits.list;
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

std::string line_of(const LabelledDataset& dataset) {
  return fmt::format("LabelledDataset: {} valid and {} invalid strings of {}", dataset.positives(),
                     dataset.negatives(), length_text(dataset.shortest(), dataset.longest()));
}

}  // namespace task_labelled

void bind_labelled(Module& module) {
  using namespace task_labelled;
  module
      .def<&dataset_of>(
          "labelled{options} -> LabelledDataset  Returns strings of the language of a grammar or "
          "an automaton, and strings that are rejected by an exact oracle made from it.")
      .def<&own_strings>(
          "labelled_dataset{options} -> LabelledDataset  Returns a dataset of given strings.")
      .def<&load_data<&parse_labelled>>(
          "load_labelled(path) -> LabelledDataset  Returns the dataset in a file that "
          "labelled:save wrote, with a label, a tab and a string per line.");
  Class<LabelledDataset>(module, "Strings over one alphabet, each labelled valid or invalid.")
      .def<&LabelledDataset::size>("labelled:size() -> integer  Returns the number of strings.")
      .def<&LabelledDataset::positives>(
          "labelled:positives() -> integer  Returns the number of valid strings.")
      .def<&LabelledDataset::negatives>(
          "labelled:negatives() -> integer  Returns the number of invalid strings.")
      .def<&strings_of<LabelledDataset>>(
          "labelled:strings() -> table  Returns the strings as texts with blanks between symbols.")
      .def<&LabelledDataset::labels>(
          "labelled:labels() -> table  Returns true for each valid string, false for the others.")
      .def<&lengths_of<LabelledDataset>>(
          "labelled:lengths() -> table  Returns the length of every string.")
      .def<&LabelledDataset::symbol_count>(
          "labelled:symbol_count() -> integer  Returns the total number of symbols.")
      .def<&LabelledDataset::alphabet>(
          "labelled:alphabet() -> Alphabet  Returns the symbols of the language.")
      .def<&valid_strings>("labelled:valid_strings() -> Dataset  Returns only the valid strings.")
      .def<&split_set>(
          "labelled:split(shares, {options}) -> table  Returns parts of these shares with the same "
          "balance of labels. No string is in two parts.")
      .def<&of_length>(
          "labelled:of_length(shortest, longest) -> LabelledDataset  Returns the strings of these "
          "lengths in the same order.")
      .def<&phases_of>(
          "labelled:curriculum{options} -> table  Returns the phases of sequential, incremental or "
          "two_stage training as a list of {stage=, longest=, random=, epochs=, data=}. A phase "
          "without a limit has no epochs.")
      .def<&targets_of>(
          "labelled:step_targets(grammar) -> table  Returns the lists viable and member. For each "
          "string and time, from before the first symbol on, they have 1 if the prefix can become "
          "a string of the language, or is one.")
      .def<[](const LabelledDataset& dataset, const Grammar& grammar) {
        return with_dead_ends(dataset, grammar);
      }>("labelled:with_dead_ends(grammar) -> LabelledDataset  Returns the same strings with "
         "dead_ends(): the number of symbols after which no string of the language can follow.")
      .def<[](const LabelledDataset& dataset, const Grammar& grammar) {
        return with_next_symbols(dataset, grammar);
      }>("labelled:with_next_symbols(grammar) -> LabelledDataset  Returns the same strings with "
         "the sets of symbols that may follow each prefix of a valid one.")
      .def<&next_of>(
          "labelled:next_symbols() -> table  Returns for each valid string the lists of symbols "
          "that may follow after 0 .. n symbols, where '' is the end, and {} for each invalid one. "
          "Returns an empty table if this is not known.")
      .def<&LabelledDataset::dead_ends>(
          "labelled:dead_ends() -> table  Returns for each string the number of symbols after "
          "which it cannot become valid, or 0 if there is none. Returns an empty table if this is "
          "not known.")
      .def<&wrong_of>(
          "labelled:wrong_labels(grammar) -> table  Returns the numbers of the strings whose label "
          "the grammar contradicts.")
      .def<&floor_of>(
          "labelled:floor(test) -> table  Returns the smallest error in percent on another set "
          "among simple classifiers learnt from this one: {error=, classifier=, errors=}, with "
          "errors by the name of the classifier.")
      .def<&save_data<LabelledDataset>>(
          "labelled:save(path)  Writes a text file with a label, a tab and a string per line.")
      .def<&line_of>("tostring(labelled) -> string  Returns one line about the dataset.");
}

}  // namespace pushdown
