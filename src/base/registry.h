// A registry is an explicit list of rows. Everything of one kind (stacks, controllers, tasks,
// objectives) is looked up in it by name. There is no static self-registration.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/options.h"

namespace pushdown {

// Make is the type of the function that builds one thing from its resolved options.
template <class Make>
struct RegistryRow {
  std::string name;
  std::string doc;  // one line
  std::vector<OptionSpec> options;
  Make make;
};

// Defines kinds(), the rows that functions of a folder's files return, in the order shown to users:
//   PUSHDOWN_REGISTRY(StackKind, stack_kinds, none_stack(), superposition_stack())
#define PUSHDOWN_REGISTRY(Row, kinds, ...)           \
  Row __VA_ARGS__;                                   \
  const std::vector<Row>& kinds() {                  \
    static const std::vector<Row> rows{__VA_ARGS__}; \
    return rows;                                     \
  }

template <class Row>
std::vector<std::string> row_names(const std::vector<Row>& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(row.name);
  return names;
}

// Returns the row called `kind`. Throws an error that lists the valid kinds if there is none.
template <class Row>
const Row& find_row(std::string_view where, const std::vector<Row>& rows, std::string_view kind) {
  for (const auto& row : rows)
    if (row.name == kind) return row;
  const auto names = row_names(rows);
  const auto near = nearest_names(kind, names);
  fail(where, "unknown kind '{}'{}; the kinds are {}", kind,
       near.empty() ? "" : ", did you mean " + near + "?", quoted_list(names));
}

// Returns the options of every row of a registry, for OptionSpec::inside.
template <auto Rows>
std::vector<KindOptions> options_by_kind() {
  std::vector<KindOptions> all;
  for (const auto& row : Rows()) all.push_back({row.name, row.options});
  return all;
}

// Splits {kind = 'lstm', hidden = 20} into the row and its resolved options (without `kind`).
template <class Row>
std::pair<const Row&, Json> resolve_kind(std::string_view where, const std::vector<Row>& rows,
                                         const Json& given) {
  check(given.is_object() && given.contains("kind") && given["kind"].is_string(), where,
        "expected a table with a 'kind', one of {}", quoted_list(row_names(rows)));
  const Row& row = find_row(where, rows, given["kind"].get<std::string>());
  Json rest = given;
  rest.erase("kind");
  return {row, resolve_options(fmt::format("{} {}", where, row.name), row.options, rest)};
}

// For options that may be a text, the kind alone.
inline Json named_kind(const Json& given) {
  return given.is_string() ? Json{{"kind", given}} : given;
}
// For options whose kind is `usual` if they have none.
inline Json with_kind(Json given, const char* usual) {
  if ((given.is_object() || given.is_null()) && !given.contains("kind")) given["kind"] = usual;
  return given;
}
// Returns the resolved options with the kind in front.
template <class Row>
Json with_defaults(std::string_view where, const std::vector<Row>& rows, const Json& given) {
  const auto [row, resolved] = resolve_kind(where, rows, given);
  Json full{{"kind", row.name}};
  full.update(resolved);
  return full;
}

}  // namespace pushdown
