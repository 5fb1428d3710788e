// pd.task: dependency treebanks, and examples of number prediction.
#include "bindings/task/classes.h"

#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/kinds.h"
#include "bindings/binder/options.h"
#include "bindings/grammar/alphabet.h"
#include "bindings/session/state.h"
#include "task/file_set.h"
#include "task/number_treebank.h"
#include "task/number_words.h"
#include "task/tokenizer.h"

namespace pushdown {

template <>
inline constexpr auto kClassName<ConlluFiles> = "ConlluFiles";

namespace task_numbers {

constexpr auto kWhere = "task.number_examples";

ConlluFiles open_conllu(lua_State* L, const PathText& path) {
  auto files = files_named("task.conllu", path, ".conllu");
  note_input_files(L, "data", files);
  return ConlluFiles(std::move(files));
}

// Returns the next sentence as lists of the same length, or nil at the end.
Json next_sentence(ConlluFiles& files) {
  const auto sentence = files.next();
  if (!sentence) return nullptr;
  Json table{{"id", sentence->id}, {"line", sentence->line}};
  for (const char* key :
       {"forms", "lemmas", "upos", "xpos", "features", "heads", "relations", "ranges"})
    table[key] = Json::array();
  for (const auto& word : sentence->words) {
    table["forms"].push_back(word.form);
    table["lemmas"].push_back(word.lemma);
    table["upos"].push_back(word.upos);
    table["xpos"].push_back(word.xpos);
    table["features"].push_back(word.features);
    table["heads"].push_back(word.head);
    table["relations"].push_back(word.relation);
  }
  table["surface"] = forms(*sentence, true);
  for (const auto& range : sentence->ranges)
    table["ranges"].push_back({{"first", range.first}, {"last", range.last}, {"form", range.form}});
  return table;
}

NumberExamples from_treebank(lua_State* L, const PathText& path,
                             const NumberTreebankOptions& options) {
  note_input_files(L, "data", files_named(kWhere, path, ".conllu"));
  NumberTreebank bank(options);
  visit_conllu(path, [&](const ConlluSentence& sentence) { bank.add(sentence); });
  auto examples = bank.finish();
  check(!examples.empty(), kWhere, "'{}' has no present verb with a noun as its subject before it",
        path);
  return examples;
}

Fold lower_case() {
  TokenizerOptions lower;
  lower.lower = true;
  return [tokenizer = std::make_shared<Tokenizer>(lower)](std::string_view word) {
    return tokenizer->folded(word);
  };
}

// The options that belong to only one format.
const SpecsByKind& format_options() {
  static const SpecsByKind specs{
      {"lines", {}},
      {"table", {text_option("words", "sentence", "column with the words")}},
      {"conllu",
       {boolean_option("auxiliaries", true, "auxiliaries count as verbs"),
        boolean_option("proper_nouns", false, "proper nouns count as subjects"),
        boolean_option("surface", false, "words as in the text: don't, not do n't"),
        boolean_option("one_for_each_sentence", false, "takes one random example of each sentence"),
        integer_option("seed", 0, "random seed of that choice", 0)}}};
  return specs;
}

struct ExampleOptions {
  std::optional<std::string> format;
  bool lower = false;
  Json rest;
  using Self = ExampleOptions;
  static OptionRows rows() {
    return declare<Self>(
               {{"format", &Self::format,
                 "published lines or table, or a treebank; if absent, according to the file name",
                 OneOf{{"lines", "table", "conllu"}}},
                {"lower", &Self::lower, "converts all words to lower case"}})
        .open(&Self::rest, "format", [](lua_State*) { return option_groups(format_options()); });
  }
};

NumberData examples(lua_State* L, const PathText& path, const ExampleOptions& options) {
  const auto format = options.format.value_or(number_format(path));
  const Json own = resolve_by_kind(kWhere, format_options(), format, options.rest);
  const auto fold = options.lower ? lower_case() : Fold();
  if (format == "conllu") {
    NumberTreebankOptions all{own["auxiliaries"],           own["proper_nouns"], own["surface"],
                              own["one_for_each_sentence"], own["seed"],         fold};
    return {from_treebank(L, path, all)};
  }
  NumberData data;
  for (const auto& file : files_named(kWhere, path, format == "table" ? ".tsv" : "")) {
    const auto text = read_input(L, "data", file);
    auto more = format == "table" ? parse_number_table(text, file.string(), own["words"], fold)
                                  : parse_number_lines(text, file.string(), fold);
    std::move(more.begin(), more.end(), std::back_inserter(data.examples));
  }
  return data;
}

const NumberExample& at(const NumberData& data, std::int64_t number) {
  const auto size = static_cast<std::int64_t>(data.examples.size());
  check(number >= 1 && number <= size, "examples.example", "the examples are 1 to {}, got {}", size,
        number);
  return data.examples[number - 1];
}

Json example_table(const NumberData& data, std::int64_t number) {
  const auto& example = at(data, number);
  Json table{{"prefix", example.prefix},
             {"plural", example.plural},
             {"homogeneous", example.homogeneous()}};
  if (example.attractors >= 0) table["attractors"] = example.attractors;
  if (example.intervening >= 0) table["intervening"] = example.intervening;
  if (!example.verb.empty()) table["verb"] = example.verb;
  if (!example.other.empty()) table["other"] = example.other;
  return table;
}

std::vector<std::string> prefixes(const NumberData& data) {
  std::vector<std::string> list;
  for (const auto& example : data.examples) list.push_back(example.prefix);
  return list;
}

std::vector<bool> plurals(const NumberData& data) {
  std::vector<bool> list;
  for (const auto& example : data.examples) list.push_back(example.plural);
  return list;
}

struct ExampleFilterOptions : NumberFilter {
  using Self = ExampleFilterOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"attractors", &Self::attractors, "number of attractors"},
         {"homogeneous", &Self::homogeneous, "only attractors between subject and verb"},
         {"both_forms", &Self::both_forms, "the verb is known in both numbers"},
         {"plural", &Self::plural, "the verb is plural"}});
  }
};

NumberData where(const NumberData& data, const ExampleFilterOptions& filter) {
  return {examples_where(data.examples, filter)};
}

std::vector<NumberData> parts_of(lua_State* L, const NumberData& data,
                                 const std::optional<std::vector<double>>& shares,
                                 const SeedOption& options) {
  Random random(seed_or_next(L, options.seed), "parts of number prediction");
  std::vector<NumberData> parts;
  for (auto& part :
       split_examples(data.examples, shares.value_or(std::vector<double>{9, 1, 90}), random))
    parts.push_back({std::move(part)});
  return parts;
}

// {singular =, plural =, both_forms =, attractors = {{attractors =, examples =, homogeneous =}}}
Json counts(const NumberData& data) {
  const NumberCounts found = count_examples(data.examples);
  Json list = Json::array();
  for (const auto& [attractors, group] : found.by_attractors)
    list.push_back({{"attractors", attractors},
                    {"examples", group.examples},
                    {"homogeneous", group.homogeneous}});
  return {{"singular", found.singular},
          {"plural", found.plural},
          {"both_forms", found.both_forms},
          {"attractors", list}};
}

void save(const NumberData& data, const PathText& path) {
  write_file(path, number_lines(data.examples));
}

std::string line_of(const NumberData& data) {
  return fmt::format("NumberData: {} example{} of number prediction, {} plural",
                     data.examples.size(), data.examples.size() == 1 ? "" : "s",
                     count_examples(data.examples).plural);
}

Alphabet vocabulary(const NumberData& data, std::optional<std::int64_t> limit) {
  return number_vocabulary(data.examples, limit.value_or(0));
}

LabelledDataset labelled(const NumberData& data, const Alphabet& vocabulary) {
  return number_dataset(data.examples, vocabulary);
}

}  // namespace task_numbers

void bind_number(Module& module) {
  using namespace task_numbers;
  module
      .def<&open_conllu>(
          "conllu(path) -> ConlluFiles  Returns an iterator over the sentences of a treebank in "
          "CoNLL-U: a file, the *.conllu files of a folder, or the files that match a pattern. "
          "Each sentence is a table with the lists forms, lemmas, upos, xpos, features, heads, "
          "relations, surface and ranges, and with id and line.")
      .def<&examples>(
          "number_examples(path, {options}) -> NumberData  Returns examples of number prediction "
          "from the published files ('lines' or 'table') or a treebank ('conllu').");
  Class<ConlluFiles>(module, "The sentences of a treebank, one after the other.")
      .def<[](ConlluFiles& files, Any, Any) { return next_sentence(files); }>(
          "__call", "files() -> table  Returns the next sentence, or nil at the end.")
      .def<[](const ConlluFiles& files) {
        return fmt::format("ConlluFiles: {} file{}", files.files(), files.files() == 1 ? "" : "s");
      }>("tostring(files) -> string  Returns one line about the files.");
  Class<NumberData>(module, "Prefixes of sentences whose next word is a singular or plural verb.")
      .def<[](const NumberData& data) { return data.examples.size(); }>(
          "examples:size() -> integer  Returns the number of examples.")
      .def<&example_table>(
          "examples:example(number) -> table  Returns a table with prefix (a text), plural and "
          "homogeneous and, if they are known, attractors, intervening, verb and other (the verb "
          "in the other number).")
      .def<&prefixes>("examples:prefixes() -> table  Returns the words before the verbs as texts.")
      .def<&plurals>(
          "examples:plural() -> table  Returns for each example whether its verb is plural.")
      .def<&where>(
          "examples:where{options} -> NumberData  Returns the examples with these properties.")
      .def<&parts_of>(
          "examples:split(shares={9, 1, 90}, {options}) -> table  Returns parts in random order, "
          "by default training, validation and test as in Linzen et al.")
      .def<&counts>(
          "examples:counts() -> table  Returns the numbers of examples: singular, plural, with "
          "both_forms, and with each number of attractors.")
      .def<&vocabulary>(
          "examples:vocabulary(size=0) -> Alphabet  Returns a vocabulary of <unk> and the most "
          "frequent words of the prefixes, with `size` words in all; 0: all words.")
      .def<&labelled>(
          "examples:labelled(alphabet) -> LabelledDataset  Returns the prefixes as strings over a "
          "vocabulary with <unk>, labelled true for a plural verb.")
      .def<&save>("examples:save(path)  Writes a file in the format of the published files.")
      .def<&line_of>("tostring(examples) -> string  Returns one line about the examples.");
}

}  // namespace pushdown
