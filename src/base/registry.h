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

}  // namespace pushdown
