// The declarations in definitions: options, action layers, parameters.
#include <fmt/ranges.h>

#include "base/check.h"
#include "bindings/define/script_value.h"

namespace pushdown {
namespace {

// Returns the row on top of the stack as a table by name.
Json read_row(lua_State* L, const std::string& where, const std::string& row,
              const std::vector<std::string>& places, const std::vector<std::string>& names) {
  std::vector<std::string> valid = places;
  valid.insert(valid.end(), names.begin(), names.end());
  if (!lua_istable(L, -1))
    fail(where, "{} must be a table such as {{{}}}, got {}", row, fmt::join(places, ", "),
         type_text(L, lua_gettop(L)));
  Json values = Json::object();
  for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
    std::string name;
    if (lua_type(L, -2) == LUA_TNUMBER) {
      const double place = lua_tonumber(L, -2);
      check(place >= 1 && place <= static_cast<double>(places.size()), where,
            "{} has more than the {} entries {}", row, places.size(), quoted_list(places));
      name = places[place - 1];
    } else if (lua_type(L, -2) == LUA_TSTRING) {
      name = lua_tostring(L, -2);
    }
    if (std::find(valid.begin(), valid.end(), name) == valid.end()) {
      const auto near = nearest_names(name, valid);
      fail(where, "{} has no entry '{}'{}; the entries are {}", row, name,
           near.empty() ? "" : ", did you mean " + near + "?", quoted_list(valid));
    }
    try {
      values[name] = Value<Json>::get(L, lua_gettop(L));
    } catch (const WrongType& error) {
      fail(where, "{}, {}{}: expected {}, got {}", row, name, error.path, error.expected,
           error.got);
    }
  }
  return values;
}

std::string name_of(const Json& row, const std::string& where, const std::string& what) {
  const Json name = row.value("name", Json());
  const auto good = [](const std::string& text) {
    return !text.empty() &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == text.npos &&
           (text[0] < '0' || text[0] > '9');
  };
  check(name.is_string() && good(name.get<std::string>()), where,
        "{} needs a name of small letters, digits and _, got {}", what,
        name.is_null() ? "none" : name.dump());
  return name.get<std::string>();
}

OptionSpec option_of(const Json& row, const std::string& where) {
  OptionSpec spec;
  spec.name = name_of(row, where, "every option");
  const auto of = fmt::format("option '{}'", spec.name);
  spec.default_value = row.value("default", Json());
  spec.doc = row.contains("doc") && row["doc"].is_string() ? row["doc"].get<std::string>() : "";
  check(!spec.doc.empty(), where,
        "{} needs a line of documentation: {{ 'size', 20, 'size of a vector' }}", of);
  static const std::vector<std::pair<std::string, OptionSpec::Type>> types{
      {"boolean", OptionSpec::Type::boolean}, {"integer", OptionSpec::Type::integer},
      {"number", OptionSpec::Type::number},   {"text", OptionSpec::Type::text},
      {"list", OptionSpec::Type::list},       {"table", OptionSpec::Type::table}};
  if (row.contains("type")) {
    std::vector<std::string> names;
    bool found = false;
    for (const auto& [name, type] : types) {
      names.push_back(name);
      if (row["type"] == name) spec.type = type, found = true;
    }
    check(found, where, "the type of {} must be one of {}, got {}", of, quoted_list(names),
          row["type"].dump());
  } else {
    const Json& value = spec.default_value;
    check(!value.is_null(), where, "{} needs a default or a type", of);
    spec.type = value.is_boolean()          ? OptionSpec::Type::boolean
                : value.is_number_integer() ? OptionSpec::Type::integer
                : value.is_number()         ? OptionSpec::Type::number
                : value.is_string()         ? OptionSpec::Type::text
                : value.is_array()          ? OptionSpec::Type::list
                                            : OptionSpec::Type::table;
  }
  const auto bound = [&](const char* key, double& limit) {
    if (!row.contains(key)) return;
    check(row[key].is_number(), where, "the {} of {} must be a number, got {}", key, of,
          row[key].dump());
    limit = row[key].get<double>();
  };
  bound("minimum", spec.minimum);
  bound("maximum", spec.maximum);
  for (const auto& choice : row.value("choices", Json::array())) {
    check(choice.is_string(), where, "the choices of {} must be texts, got {}", of, choice.dump());
    spec.choices.push_back(choice.get<std::string>());
  }
  return spec;
}

}  // namespace

Json read_rows(lua_State* L, int index, const std::string& where, const char* what,
               const std::vector<std::string>& places, const std::vector<std::string>& names) {
  check(lua_istable(L, index), where, "expected a list of {}s, got {}", what, type_text(L, index));
  Json rows = Json::array();
  const int size = static_cast<int>(lua_objlen(L, index));
  int entries = 0;
  for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) ++entries;
  check(entries == size, where,
        "expected a list of {0}s, {{ {{ 'name', ... }}, ... }}, got a table "
        "with names",
        what);
  std::vector<std::string> seen;
  for (int k = 1; k <= size; ++k) {
    lua_rawgeti(L, index, k);
    rows.push_back(read_row(L, where, fmt::format("{} {}", what, k), places, names));
    lua_pop(L, 1);
    const auto name = name_of(rows.back(), where, fmt::format("{} {}", what, k));
    check(std::find(seen.begin(), seen.end(), name) == seen.end(), where, "two {}s are called '{}'",
          what, name);
    seen.push_back(name);
  }
  return rows;
}

std::vector<OptionSpec> read_option_specs(lua_State* L, int index, const std::string& where) {
  std::vector<OptionSpec> specs;
  const Json rows = read_rows(L, index, where, "option", {"name", "default", "doc"},
                              {"type", "minimum", "maximum", "choices"});
  for (const auto& row : rows) specs.push_back(option_of(row, where));
  // The defaults must be valid values, too.
  Json defaults = Json::object();
  for (const auto& spec : specs) defaults[spec.name] = spec.default_value;
  resolve_options(where, specs, defaults);
  return specs;
}

ScriptRows::ScriptRows(lua_State* L, int index, std::string where, const char* what,
                       std::vector<std::string> places, std::vector<std::string> names)
    : given_(true),
      where_(std::move(where)),
      what_(what),
      places_(std::move(places)),
      names_(std::move(names)) {
  if (lua_isfunction(L, index))
    function_ = script_function(L, index, where_);
  else
    fixed_ = read_rows(L, index, where_, what_, places_, names_);
}

Json ScriptRows::rows(const Json& options, std::int64_t size) const {
  if (!function_) return fixed_;
  ScriptCall call(function_);
  Value<Json>::push(call.state(), options);
  Value<std::int64_t>::push(call.state(), size);
  call.run(1);
  return read_rows(call.state(), 1, where_, what_, places_, names_);
}

std::int64_t size_of(const Json& value, const Json& options, const std::string& where,
                     const std::string& of) {
  if (value.is_string()) {
    const auto name = value.get<std::string>();
    std::vector<std::string> names;
    for (const auto& [key, ignored] : options.items()) names.push_back(key);
    check(options.contains(name), where, "the size of {} is '{}', which is none of the options {}",
          of, name, quoted_list(names));
    return size_of(options[name], Json::object(), where, of);
  }
  check(value.is_number_integer() && value.get<std::int64_t>() >= 1, where,
        "the size of {} must be a whole number from 1 or the name of an option, got {}", of,
        value.dump());
  return value.get<std::int64_t>();
}

const std::vector<std::string> kParameterPlaces{"name", "shape"};
const std::vector<std::string> kParameterNames{"uniform", "xavier", "normal", "constant"};

ParameterList make_parameters(const Json& rows, const Json& options, const std::string& where,
                              const ModuleContext& context) {
  ParameterList list;
  for (const auto& row : rows) {
    const std::string name = row["name"];
    const auto of = fmt::format("parameter '{}'", name);
    check(row.contains("shape"), where, "{} needs a shape: {{ '{}', {{ 3, 4 }} }}", of, name);
    const Json sizes = row["shape"].is_array() ? row["shape"] : Json::array({row["shape"]});
    std::vector<std::int64_t> shape;
    for (const auto& size : sizes) shape.push_back(size_of(size, options, where, of));
    std::vector<std::string> given;
    for (const auto& how : kParameterNames)
      if (row.contains(how)) given.push_back(how);
    check(given.size() <= 1, where, "{} must start in one way, got {}", of, quoted_list(given));
    const std::string how = given.empty() ? "uniform" : given.front();
    const Json value = row.value(how, Json(0.1));
    check(value.is_number(), where, "'{}' of {} must be a number, got {}", how, of, value.dump());
    const double number = value.get<double>();
    Tensor tensor;
    if (how == "uniform") tensor = uniform_parameter(shape, -number, number, context);
    if (how == "normal") tensor = normal_parameter(shape, number, context);
    if (how == "constant") tensor = constant_parameter(shape, number, context);
    if (how == "xavier") {
      check(shape.size() == 2, where, "'xavier' is for matrices, {} has {} dimensions", of,
            shape.size());
      tensor = xavier_parameter(shape[0], shape[1], number, context);
    }
    list.emplace_back(name, tensor);
  }
  return list;
}

}  // namespace pushdown
