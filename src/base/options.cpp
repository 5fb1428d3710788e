#include "base/options.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/flush_denormals.h"

namespace pushdown {
namespace {

OptionSpec spec_of(std::string name, OptionSpec::Type type, Json default_value, std::string doc) {
  OptionSpec spec;
  spec.name = std::move(name);
  spec.type = type;
  spec.default_value = std::move(default_value);
  spec.doc = std::move(doc);
  return spec;
}

std::string_view kind_of(const Json& value) {
  if (value.is_null()) return "nothing";
  if (value.is_boolean()) return "a boolean";
  if (value.is_number()) return "a number";
  if (value.is_string()) return "a text";
  return value.is_array() ? "a list" : "a table";
}

std::string shown(const Json& value) {
  // JSON has no infinite numbers.
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (value.is_number() || value.is_boolean()) return value.dump();
  if (value.is_string()) return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return std::string(kind_of(value));
}

Json checked(std::string_view where, const OptionSpec& spec, const Json& value) {
  const auto expected = [&](std::string_view what) {
    fail(where, "option '{}' must be {}, got {}", spec.name, what, shown(value));
  };
  switch (spec.type) {
    case OptionSpec::Type::boolean:
      if (!value.is_boolean()) expected("true or false");
      return value;
    case OptionSpec::Type::integer: {
      if (!value.is_number()) expected("an integer");
      const double number = value.get<double>();
      if (std::floor(number) != number || std::fabs(number) > 9007199254740992.0)
        expected("an integer");
      check_range(where, spec, number);
      return static_cast<std::int64_t>(number);
    }
    case OptionSpec::Type::number:
      if (!value.is_number()) expected("a number");
      check_range(where, spec, value.get<double>());
      // Run folders cannot hold infinite numbers, and computations take denormal ones for 0.
      if (std::isinf(value.get<double>())) expected("finite");
      if (is_denormal(value.get<double>()))
        fail(where, "option '{}' must be 0 or at least 2.3e-308: {} would count as 0", spec.name,
             value.get<double>());
      return value.get<double>();
    case OptionSpec::Type::text:
      if (!value.is_string()) expected("a text");
      check_choice(where, spec, value.get<std::string>());
      return value;
    case OptionSpec::Type::list:
      // An empty Lua table could be a list or a table.
      if (value.is_object() && value.empty()) return Json::array();
      if (!value.is_array()) expected("a list");
      return value;
    case OptionSpec::Type::table:
      if (value.is_array() && value.empty()) return Json::object();
      // A kind given by its name alone uses its own defaults.
      if (value.is_string() && spec.default_value.is_object() &&
          spec.default_value.contains("kind"))
        return Json{{"kind", value}};
      if (!value.is_object()) expected("a table of options");
      return value;
  }
  return value;
}

std::string unknown_option_text(std::string_view where, const std::string& key,
                                const std::vector<std::string>& valid) {
  if (valid.empty())
    return fmt::format("[{}] unknown option '{}'; there are no options", where, key);
  // The last name of a path such as series[1].colr.
  const auto near = nearest_names(key.substr(key.rfind('.') + 1), valid);
  return fmt::format("[{}] unknown option '{}'{}; the options are {}", where, key,
                     near.empty() ? "" : ", did you mean " + near + "?", quoted_list(valid));
}

}  // namespace

UnknownOption::UnknownOption(std::string_view place, std::string name,
                             std::vector<std::string> names)
    : std::invalid_argument(unknown_option_text(place, name, names)),
      where(place),
      key(std::move(name)),
      valid(std::move(names)) {}

void check_range(std::string_view where, const OptionSpec& spec, double value) {
  check(!std::isnan(value), where, "option '{}' must be a number, got nan", spec.name);
  if (value >= spec.minimum && value <= spec.maximum) return;
  if (std::isinf(spec.maximum))
    fail(where, "option '{}' must be at least {}, got {}", spec.name, spec.minimum, value);
  fail(where, "option '{}' must be between {} and {}, got {}", spec.name, spec.minimum,
       spec.maximum, value);
}

void check_choice(std::string_view where, const OptionSpec& spec, const std::string& text) {
  const auto& choices = spec.choices;
  if (choices.empty() || std::find(choices.begin(), choices.end(), text) != choices.end()) return;
  const auto near = nearest_names(text, choices);
  fail(where, "option '{}' must be one of {}, got {}{}", spec.name, quoted_list(choices),
       shown(text), near.empty() ? "" : "; did you mean " + near + "?");
}

OptionSpec boolean_option(std::string name, bool default_value, std::string doc) {
  return spec_of(std::move(name), OptionSpec::Type::boolean, default_value, std::move(doc));
}

OptionSpec integer_option(std::string name, Json default_value, std::string doc, double minimum) {
  auto spec =
      spec_of(std::move(name), OptionSpec::Type::integer, std::move(default_value), std::move(doc));
  spec.minimum = minimum;
  return spec;
}

OptionSpec number_option(std::string name, Json default_value, std::string doc, double minimum) {
  auto spec =
      spec_of(std::move(name), OptionSpec::Type::number, std::move(default_value), std::move(doc));
  spec.minimum = minimum;
  return spec;
}

OptionSpec text_option(std::string name, Json default_value, std::string doc,
                       std::vector<std::string> choices) {
  auto spec =
      spec_of(std::move(name), OptionSpec::Type::text, std::move(default_value), std::move(doc));
  spec.choices = std::move(choices);
  return spec;
}

OptionSpec list_option(std::string name, Json default_value, std::string doc) {
  return spec_of(std::move(name), OptionSpec::Type::list, std::move(default_value), std::move(doc));
}

OptionSpec table_option(std::string name, Json default_value, std::string doc) {
  return spec_of(std::move(name), OptionSpec::Type::table, std::move(default_value),
                 std::move(doc));
}

Json resolve_options(std::string_view where, const std::vector<OptionSpec>& specs,
                     const Json& given) {
  check(given.is_null() || given.is_object() || (given.is_array() && given.empty()), where,
        "options must be a table with named entries, got {}", kind_of(given));
  if (given.is_object()) {
    std::vector<std::string> valid;
    for (const auto& spec : specs) valid.push_back(spec.name);
    for (const auto& [key, value] : given.items()) {
      if (std::find(valid.begin(), valid.end(), key) != valid.end()) continue;
      throw UnknownOption(where, key, valid);
    }
  }
  Json resolved = Json::object();
  for (const auto& spec : specs) {
    const bool has = given.is_object() && given.contains(spec.name) && !given[spec.name].is_null();
    check(has || !spec.required, where, "option '{}' ({}) is missing", spec.name, spec.doc);
    resolved[spec.name] = has ? checked(where, spec, given[spec.name]) : spec.default_value;
  }
  return resolved;
}

std::string_view type_name(OptionSpec::Type type) {
  switch (type) {
    case OptionSpec::Type::boolean: return "boolean";
    case OptionSpec::Type::integer: return "integer";
    case OptionSpec::Type::number: return "number";
    case OptionSpec::Type::text: return "text";
    case OptionSpec::Type::list: return "list";
    case OptionSpec::Type::table: return "table";
  }
  return "value";
}

std::string describe(const OptionSpec& spec) {
  std::string kind(type_name(spec.type));
  if (!spec.choices.empty()) kind = quoted_list(spec.choices);
  const std::string preset = spec.required ? "required"
                             : spec.default_value.is_null()
                                 ? "optional"
                                 : "default " + spec.default_value.dump();
  return fmt::format("{:<18} {}, {}: {}", spec.name, kind, preset, spec.doc);
}

std::string quoted_list(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += "'" + names[i] + "'";
  }
  return text;
}

}  // namespace pushdown
