// The common functions of the modules of all registries: the kinds, and a description of each.
#pragma once
#include "base/registry.h"
#include "bindings/binder/bind.h"

namespace pushdown {

// "lstm: Long short-term memory (...).\n  hidden  integer, default 20: ..."
template <class Row>
std::string describe_row(const Row& row, const std::vector<OptionSpec>& options,
                         const std::string& origin = "") {
  std::string text = row.name + ": " + row.doc + origin;
  for (const auto& spec : options) text += "\n  " + describe(spec);
  return text;
}

// The same for the row called `kind`.
template <class Row>
std::string description_of(const char* where, const std::vector<Row>& rows, const std::string& kind,
                           const std::string& origin = "") {
  const auto& row = find_row(where, rows, kind);
  return describe_row(row, row.options, origin);
}

// The kinds of a registry and their descriptions as functions of Lua.
template <auto Rows>
std::vector<std::string> registry_names() {
  return row_names(Rows());
}
template <auto Rows>
std::string registry_description(lua_State* L, const std::string& kind) {
  return description_of(running_function(L).c_str(), Rows(), kind);
}

// The options of every kind.
template <class Row>
std::vector<OptionGroup> option_groups(const std::vector<Row>& rows) {
  std::vector<OptionGroup> groups;
  for (const auto& row : rows) groups.push_back({row.name, declared(row.options)});
  return groups;
}

// Options that depend on the value of another option or argument.
using SpecsByKind = std::vector<std::pair<std::string, std::vector<OptionSpec>>>;
inline std::vector<OptionGroup> option_groups(const SpecsByKind& specs) {
  std::vector<OptionGroup> groups;
  for (const auto& [kind, options] : specs) groups.push_back({kind, declared(options)});
  return groups;
}
inline Json resolve_by_kind(std::string_view where, const SpecsByKind& specs,
                            const std::string& kind, const Json& given) {
  for (const auto& [name, options] : specs)
    if (name == kind) return resolve_options(where, options, given);
  return resolve_options(where, {}, given);
}

}  // namespace pushdown
