#include "bindings/binder/option_places.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace pushdown {
namespace {

// Names of options in other libraries, and here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kSynonyms{
    {{"lr", "learning_rate"},
     {"hidden_size", "hidden"},
     {"hidden_dim", "hidden"},
     {"hidden_units", "hidden"},
     {"num_layers", "layers"},
     {"n_layers", "layers"},
     {"batch_size", "batch"},
     {"num_epochs", "epochs"},
     {"max_epochs", "epochs"}}};

// The functions whose options users mix up.
constexpr std::array kMakers{"pd.model.language_model", "pd.model.recognizer",
                             "pd.model.transducer", "pd.train.trainer"};

std::string name_here(const std::string& key) {
  for (const auto& [there, here] : kSynonyms)
    if (key == there) return std::string(here);
  return key;
}

bool declares(const std::vector<OptionSpec>& specs, const std::string& name) {
  return std::any_of(specs.begin(), specs.end(), [&](const auto& s) { return s.name == name; });
}

// Returns "optimizer = { learning_rate = ... }" if the option is one of those in the table.
std::string place_inside(const OptionSpec& table, const std::string& name) {
  if (table.inside == nullptr) return "";
  const auto kinds = table.inside();
  const auto has = [&](const KindOptions& kind) { return declares(kind.options, name); };
  const auto first = std::find_if(kinds.begin(), kinds.end(), has);
  if (first == kinds.end()) return "";
  // A kind without options, such as a stack of kind 'none', is no choice for this option.
  const bool of_all = std::all_of(kinds.begin(), kinds.end(), [&](const KindOptions& kind) {
    return kind.options.empty() || has(kind);
  });
  return fmt::format("{} = {{ {}{} = ... }}", table.name,
                     of_all ? "" : "kind = '" + first->kind + "', ", name);
}

// An option of a function, with the kind of object that has it if not all have.
struct FunctionOption {
  OptionSpec spec;
  std::string kind;
};

std::vector<FunctionOption> options_of_function(lua_State* L, const OptionRows& rows) {
  std::vector<FunctionOption> all;
  for (const auto& row : rows.rows) all.push_back({row.spec, ""});
  if (!rows.groups) return all;
  for (const auto& group : rows.groups(L))
    for (const auto& option : group.options) all.push_back({option.spec, group.title});
  return all;
}

// Returns the place of the option among those of a function, or nothing. `itself`: the table of the
// function is a place, too; an option that only one of its kinds has comes last.
std::string place_among(const std::vector<FunctionOption>& options, const std::string& by,
                        const std::string& name, bool itself) {
  for (const auto& [spec, kind] : options)
    if (itself && spec.name == name && (by.empty() || kind.empty())) return name + " = ...";
  for (const auto& [spec, kind] : options)
    if (auto place = place_inside(spec, name); !place.empty()) return place;
  for (const auto& [spec, kind] : options) {
    if (spec.name != name) continue;
    if (itself) return name + " = ...";
    if (!kind.empty() && !by.empty()) return fmt::format("{} = '{}', {} = ...", by, kind, name);
  }
  return "";
}

}  // namespace

std::string misplaced_option_text(lua_State* L, const UnknownOption& error) {
  const std::string name = name_here(error.key);
  const auto message = [&](const std::string& what) {
    return fmt::format("[{}] unknown option '{}': {}", error.where, error.key, what);
  };
  const char* text = lua_tostring(L, lua_upvalueindex(1));
  const std::string running = text ? text : "";
  std::vector<std::string> valid = error.valid;
  std::vector<FunctionOption> options;
  const auto rows = noted_options(L, running);
  if (rows != nullptr) options = options_of_function(L, rows());
  const auto among = [&](const std::string& one, bool with_tables) {
    return std::any_of(options.begin(), options.end(), [&](const FunctionOption& o) {
      return o.spec.name == one && (!with_tables || o.spec.inside != nullptr);
    });
  };
  // The wrong table is the function's own if it may contain the tables of the function, or if the
  // function has all of its options.
  const bool own =
      rows != nullptr &&
      (std::any_of(valid.begin(), valid.end(),
                   [&](const auto& one) { return one == rows().by || among(one, true); }) ||
       std::all_of(valid.begin(), valid.end(), [&](const auto& one) { return among(one, false); }));
  // The core does not know the options that the binding has read before.
  if (own)
    for (auto row = rows().rows.rbegin(); row != rows().rows.rend(); ++row)
      if (std::find(valid.begin(), valid.end(), row->spec.name) == valid.end())
        valid.insert(valid.begin(), row->spec.name);
  if (std::find(valid.begin(), valid.end(), name) != valid.end())
    return message(fmt::format("it is called '{}' here", name));
  if (rows != nullptr)
    if (const auto place = place_among(options, rows().by, name, !own); !place.empty())
      return message("it belongs to " + (own ? place : running + "{ " + place + " }"));
  const std::string all = UnknownOption(error.where, error.key, valid).what();
  if (std::find(kMakers.begin(), kMakers.end(), running) == kMakers.end()) return all;
  for (const std::string maker : kMakers) {
    if (maker == running) continue;
    const auto& others = noted_options(L, maker)();
    if (const auto place = place_among(options_of_function(L, others), others.by, name, true);
        !place.empty())
      return message("it belongs to " + maker + "{ " + place + " }");
  }
  return all;
}

}  // namespace pushdown
