// pd.task: pairs of a source and a target string.
#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/kinds.h"
#include "bindings/binder/options.h"
#include "bindings/grammar/alphabet.h"
#include "bindings/grammar/classes.h"
#include "bindings/session/state.h"
#include "bindings/task/classes.h"
#include "task/chomsky.h"
#include "task/pair_list.h"

namespace pushdown {
namespace task_pairs {

using Source = std::shared_ptr<PairSource>;

Source shared(const PairSourcePtr& source) { return std::const_pointer_cast<PairSource>(source); }

std::vector<OptionGroup> groups(lua_State*) { return option_groups(pair_kinds()); }

struct MadePairs {
  std::shared_ptr<SynchronousGrammar> grammar;
  Json rest;
  static OptionRows rows() {
    return declare<MadePairs>(
               {{"grammar", &MadePairs::grammar, "grammar of the pairs, for kind = 'grammar'"}})
        .open(&MadePairs::rest, "kind", groups);
  }
};

Source transduction(const MadePairs& options) {
  return shared(make_pairs(options.rest, options.grammar.get()));
}

struct ChomskyOptions {
  Json rest;
  static OptionRows rows() {
    return declare<ChomskyOptions>({}).open(&ChomskyOptions::rest, "", [](lua_State*) {
      std::vector<OptionGroup> groups;
      for (const ChomskyTask& task : chomsky_tasks())
        groups.push_back({task.name, declared(find_row("task", pair_kinds(), task.name).options)});
      return groups;
    });
  }
};

Source chomsky(const std::string& task, const ChomskyOptions& options) {
  const auto& tasks = chomsky_tasks();
  std::vector<std::string> names;
  for (const ChomskyTask& known : tasks) names.push_back(known.name);
  const auto near = nearest_names(task, names);
  check(std::find(names.begin(), names.end(), task) != names.end(), "task.chomsky",
        "unknown task '{}'{}; the tasks are {}", task,
        near.empty() ? "" : ", did you mean " + near + "?", quoted_list(names));
  Json given = options.rest;
  given["kind"] = task;
  return shared(make_pairs(given));
}

Json list_chomsky_tasks() {
  Json list = Json::array();
  for (const ChomskyTask& task : chomsky_tasks())
    list.push_back({{"name", task.name}, {"level", task.level}, {"ends", task.ends}});
  return list;
}

// A file, or a list of {source, target}.
using GivenPairs = std::variant<std::string, std::vector<std::vector<Tokens>>>;

struct AlphabetOptions {
  std::shared_ptr<Alphabet> source, target;
  using Self = AlphabetOptions;
  static OptionRows rows() {
    return declare<Self>({{"source_alphabet", &Self::source,
                           "symbols of the sources; if absent, those in the pairs"},
                          {"target_alphabet", &Self::target,
                           "symbols of the targets; if absent, those in the pairs"}});
  }
};

Source pair_list(lua_State* L, const GivenPairs& given, const AlphabetOptions& options) {
  constexpr auto kWhere = "task.pairs";
  PairAlphabets alphabets;
  if (options.source) alphabets.source = *options.source;
  if (options.target) alphabets.target = *options.target;
  if (const auto* path = std::get_if<std::string>(&given))
    return shared(parse_pairs(read_input(L, "data", *path), *path, alphabets));
  std::vector<NamedPair> named;
  const auto symbols = [](const Tokens& tokens) {
    if (const auto* list = std::get_if<std::vector<std::string>>(&tokens)) return *list;
    std::vector<std::string> found;
    std::istringstream text(std::get<std::string>(tokens));
    for (std::string symbol; text >> symbol;) found.push_back(symbol);
    return found;
  };
  for (const auto& pair : std::get<std::vector<std::vector<Tokens>>>(given)) {
    const auto origin = fmt::format("pair {}", named.size() + 1);
    check(pair.size() == 2, kWhere, "{}: expected {{source, target}}, got {} strings", origin,
          pair.size());
    named.push_back({symbols(pair[0]), symbols(pair[1]), origin});
  }
  return shared(make_pair_list(named, alphabets, "pairs"));
}

Json draw(lua_State* L, const PairSource& source, std::int64_t count, const SeedOption& options) {
  Random random(seed_or_next(L, options.seed), "pairs");
  Json list = Json::array();
  for (const auto& pair : source.draw(count, random))
    list.push_back({{"source", source.source_alphabet().text(pair.source)},
                    {"target", source.target_alphabet().text(pair.target)}});
  return list;
}

std::string line_of(const PairSource& source) {
  return fmt::format("Pairs: {}, {} source symbols, {} target symbols", source.name(),
                     source.source_alphabet().size(), source.target_alphabet().size());
}

}  // namespace task_pairs

void bind_pairs(Module& module) {
  using namespace task_pairs;
  module
      .def<&transduction>(
          "transduction{options} -> Pairs  Returns an endless source of pairs; see "
          "pd.task.describe_transduction(kind).")
      .def<&chomsky>(
          "chomsky(task, {options}) -> Pairs  Returns a task of Deletang et al. (2023), such as "
          "'reverse_string'; see pd.task.chomsky_tasks() and pd.task.describe_transduction(task).")
      .def<&list_chomsky_tasks>(
          "chomsky_tasks() -> table  Returns the tasks of Deletang et al. (2023), each {name=, "
          "level=, ends=}: its level in the hierarchy, and whether the model has to find out where "
          "a target ends.")
      .def<&registry_names<&pair_kinds>>(
          "transductions() -> table  Returns the kinds of endless sources of pairs.")
      .def<&registry_description<&pair_kinds>>(
          "describe_transduction(kind) -> string  Describes the pairs of a kind and its options.")
      .texts<&registry_names<&pair_kinds>>("a kind of pairs")
      .def<&pair_list>(
          "pairs(list, {options}) -> Pairs  Returns the pairs of a list of {source, target}, or of "
          "a file with a pair 'source ||| target' per line.");
  Class<PairSource>(module, "Pairs of a source and a target string, drawn without end.")
      .def<&draw>(
          "pairs:draw(count, {options}) -> table  Returns this number of pairs, each a table with "
          "the texts source and target.")
      .def<&PairSource::source_alphabet>(
          "pairs:source_alphabet() -> Alphabet  Returns the symbols of the sources.")
      .def<&PairSource::target_alphabet>(
          "pairs:target_alphabet() -> Alphabet  Returns the symbols of the targets.")
      .def<&line_of>("tostring(pairs) -> string  Returns one line about the pairs.");
}

}  // namespace pushdown
