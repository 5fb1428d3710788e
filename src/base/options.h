// Named, typed options. A row of a registry, a trainer or a sampler declares its options as a list
// of OptionSpec. resolve_options() merges the user's options with the defaults, checks types,
// ranges and choices, and rejects unknown keys with the nearest valid ones. The result contains
// every option, so it is also the full configuration that a run folder records.
#pragma once
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/nearest.h"

namespace pushdown {

struct KindOptions;

struct OptionSpec {
  enum class Type { boolean, integer, number, text, list, table };

  std::string name;
  Type type = Type::text;
  Json default_value;  // null: the option is absent unless given
  std::string doc;     // one line
  bool required = false;
  std::vector<std::string> choices = {};  // for a text option; empty: any text
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  // For a table option: the options in the table, for each kind that it can have. Messages name the
  // table to which an option belongs.
  std::vector<KindOptions> (*inside)() = nullptr;
  // For the checks of a kind on small models (analysis/contract.h): the value there, null for the
  // default; and further values to check, each a table of the option and of others that it needs.
  // All choices of a text and both booleans are checked without being listed.
  Json small = nullptr;
  std::vector<Json> tried = {};

  OptionSpec& require() { return required = true, *this; }
  OptionSpec& between(double low, double high) { return minimum = low, maximum = high, *this; }
  OptionSpec& holding(std::vector<KindOptions> (*options)()) { return inside = options, *this; }
  OptionSpec& in_small(Json value) { return small = std::move(value), *this; }
  OptionSpec& trying(Json value, Json needed = Json::object()) {
    needed[name] = std::move(value);
    return tried.push_back(std::move(needed)), *this;
  }
};

// The options of one kind; the name is empty if a table has no kinds.
struct KindOptions {
  std::string kind;
  std::vector<OptionSpec> options;
};

// An option that none of the declared ones is. The message names the nearest of the valid ones.
class UnknownOption : public std::invalid_argument {
 public:
  UnknownOption(std::string_view where, std::string key, std::vector<std::string> valid);

  const std::string where, key;
  const std::vector<std::string> valid;
};

OptionSpec boolean_option(std::string name, bool default_value, std::string doc);
OptionSpec integer_option(std::string name, Json default_value, std::string doc,
                          double minimum = -std::numeric_limits<double>::infinity());
OptionSpec number_option(std::string name, Json default_value, std::string doc,
                         double minimum = -std::numeric_limits<double>::infinity());
OptionSpec text_option(std::string name, Json default_value, std::string doc,
                       std::vector<std::string> choices = {});
OptionSpec list_option(std::string name, Json default_value, std::string doc);
OptionSpec table_option(std::string name, Json default_value, std::string doc);

// Returns the given options with all defaults filled in, in the order of `specs`. Throws
// std::invalid_argument that starts with `where` and names the key, what was expected and what was
// given. An integer option accepts 3 and 3.0 and stores an integer; a number option stores a
// double.
Json resolve_options(std::string_view where, const std::vector<OptionSpec>& specs,
                     const Json& given);

// Throw std::invalid_argument for a number outside the range of the option, or a text that is none
// of its choices.
void check_range(std::string_view where, const OptionSpec& spec, double value);
void check_choice(std::string_view where, const OptionSpec& spec, const std::string& text);

// Returns the name of the type used in messages and help: "integer", "text", ...
std::string_view type_name(OptionSpec::Type type);
// Returns one line of help: "states     integer, default 2     number of PDA states".
std::string describe(const OptionSpec& spec);

// Returns the names as text: "'a', 'b' and 'c'".
std::string quoted_list(const std::vector<std::string>& names);

}  // namespace pushdown
