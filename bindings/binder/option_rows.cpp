#include "bindings/binder/option_rows.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/check.h"
#include "bindings/binder/bind.h"

namespace pushdown {
namespace {

// What messages say that a value must be, for each type that is no class.
const std::vector<std::pair<std::string, std::string>> kTypes{
    {"boolean", "true or false"}, {"integer", "an integer"}, {"number", "a number"},
    {"text", "a text"},           {"list", "a list"},        {"table", "a table"},
    {"function", "a function"},   {"value", "a value"}};
constexpr std::size_t kDataTypes = 6;  // the first ones, for definitions

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
    if (name == "inside") continue;
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
    return !text.empty() && (text[0] < '0' || text[0] > '9') &&
           std::all_of(text.begin(), text.end(), [](unsigned char c) {
             return c < 128 && (std::isalnum(c) != 0 || c == '_');
           });
  };
  check(name.is_string() && good(name.get<std::string>()), where,
        "{} needs a name of letters, digits and _, got {}", what,
        name.is_null() ? "none" : name.dump());
  return name.get<std::string>();
}

bool is_type(const std::string& name) {
  return std::any_of(kTypes.begin(), kTypes.end(), [&](const auto& t) { return t.first == name; });
}

// "list of integers or texts" -> two forms of elements. Later plurals belong to the list.
std::vector<TypeForm> forms_of(const std::string& type) {
  constexpr std::string_view kListOf = "list of ", kOr = " or ";
  std::vector<TypeForm> forms;
  for (std::size_t at = 0; at <= type.size();) {
    const auto end = std::min(type.find(kOr, at), type.size());
    TypeForm form{type.substr(at, end - at), false};
    const bool opens = form.name.starts_with(kListOf);
    if (opens) form.name.erase(0, kListOf.size());
    const bool plural =
        form.name.ends_with('s') && is_type(form.name.substr(0, form.name.size() - 1));
    form.listed = opens || (plural && !forms.empty() && forms.back().listed);
    if (form.listed && form.name.ends_with('s')) form.name.pop_back();
    forms.push_back(std::move(form));
    at = end + kOr.size();
  }
  return forms;
}

std::string type_of(const Json& value) {
  if (value.is_boolean()) return "boolean";
  if (value.is_number_integer()) return "integer";
  if (value.is_number()) return "number";
  if (value.is_string()) return "text";
  return value.is_array() ? "list" : "table";
}

// Of a script, an empty table is a list, and lists have elements of one type.
std::string script_type_of(const Json& value) {
  if (value.is_object() && !value.empty()) return "table";
  if (!value.is_structured()) return type_of(value);
  return !value.empty() && value[0].is_number() ? "list of numbers" : "list of texts";
}

ScriptOption option_of(const Json& row, const std::string& where) {
  ScriptOption option;
  OptionSpec& spec = option.declared.spec;
  spec.name = name_of(row, where, "every option");
  const auto of = fmt::format("option '{}'", spec.name);
  spec.default_value = row.value("default", Json());
  spec.doc = row.contains("doc") && row["doc"].is_string() ? row["doc"].get<std::string>() : "";
  check(!spec.doc.empty(), where,
        "{} needs a line of documentation: {{ 'size', 20, 'size of a vector' }}", of);
  spec.required = row.value("required", Json()) == true;
  const Json type = row.value("type", Json());
  check(!type.is_null() || !spec.default_value.is_null(), where, "{} needs a default or a type",
        of);
  option.declared.type =
      type.is_string() ? type.get<std::string>() : script_type_of(spec.default_value);
  option.forms = forms_of(option.declared.type);
  for (const auto& form : option.forms) {
    const bool is_class = !form.name.empty() && form.name[0] >= 'A' && form.name[0] <= 'Z';
    if ((type.is_null() || type.is_string()) && (is_class || is_type(form.name))) continue;
    std::vector<std::string> names;
    for (const auto& [name, ignored] : kTypes) names.push_back(name);
    fail(where, "the type of {} must be one of {}, got {}", of, quoted_list(names), type.dump());
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
  option.row = row;
  return option;
}

// `finite`: of a number that is no element of a list.
bool fits(lua_State* L, const TypeForm& form, int index, bool finite) {
  const auto& name = form.name;
  if (name == "value") return true;
  if (name == "boolean") return lua_isboolean(L, index);
  if (name == "text") return lua_type(L, index) == LUA_TSTRING;
  if (name == "function") return lua_isfunction(L, index);
  if (name == "list" || name == "table") return lua_istable(L, index);
  if (name == "number" || name == "integer") {
    if (lua_type(L, index) != LUA_TNUMBER) return false;
    const double value = lua_tonumber(L, index);
    if (name == "integer")
      return std::floor(value) == value && std::fabs(value) <= 9007199254740992.0;
    return form.listed || !finite || std::isfinite(value);
  }
  return lua_type(L, index) == LUA_TUSERDATA && type_text(L, index).ends_with(" " + name);
}

// "an integer or a list of texts"
std::string expected(const std::vector<TypeForm>& forms, bool listed) {
  std::string text;
  bool in_list = false;
  for (const auto& form : forms) {
    if (listed && !form.listed) continue;
    if (!text.empty()) text += " or ";
    const auto type = std::find_if(kTypes.begin(), kTypes.end(),
                                   [&](const auto& t) { return t.first == form.name; });
    if (form.listed && !listed)
      text += (in_list ? "" : "a list of ") + form.name + "s";
    else
      text += type != kTypes.end()
                  ? type->second
                  : (form.name.find_first_of("AEIOU") == 0 ? "an " : "a ") + form.name;
    in_list = form.listed;
  }
  return text;
}

std::string shown(lua_State* L, int index) {
  switch (lua_type(L, index)) {
    case LUA_TBOOLEAN: return lua_toboolean(L, index) != 0 ? "true" : "false";
    case LUA_TNUMBER: {
      const double value = lua_tonumber(L, index);
      const bool large = std::floor(value) == value && std::fabs(value) > 9007199254740992.0;
      return fmt::format("{:.14g}{}", value,
                         large && std::isfinite(value) ? ", which is beyond 2^53" : "");
    }
    case LUA_TSTRING:
      return Json(lua_tostring(L, index)).dump(-1, ' ', false, Json::error_handler_t::replace);
    default: return type_text(L, index);
  }
}

// Checks values against the options of one call.
class Checker {
 public:
  // `finite`: numbers must be finite, except for those in lists, where nan means a gap.
  Checker(lua_State* L, const std::string& where, bool finite)
      : L_(L), where_(where), finite_(finite) {}

  // The table on top of the stack. `path`: of the table, with a dot.
  void table(const ScriptOptions& options, const std::string& path) {
    luaL_checkstack(L_, 4, "nested too deeply");
    std::optional<std::string> unknown;  // the first one by name
    for (lua_pushnil(L_); lua_next(L_, -2) != 0; lua_pop(L_, 1)) {
      if (lua_type(L_, -2) != LUA_TSTRING)
        fail(where_, "{} must be a table with named entries, got the key {}",
             path.empty() ? "options" : "option '" + path.substr(0, path.size() - 1) + "'",
             shown(L_, lua_gettop(L_) - 1));
      const auto key = Value<std::string>::get(L_, lua_gettop(L_) - 1);
      if (find(options, key) == nullptr && (!unknown || key < *unknown)) unknown = key;
    }
    if (unknown) {
      std::vector<std::string> names;
      for (const auto& option : options) names.push_back(option.declared.spec.name);
      throw UnknownOption(where_, path + *unknown, names);
    }
    for (const auto& option : options) {
      const auto& spec = option.declared.spec;
      lua_getfield(L_, -1, spec.name.c_str());
      if (!lua_isnil(L_, -1))
        value(option, path + spec.name);
      else
        check(!spec.required, where_, "option '{}' ({}) is missing", path + spec.name, spec.doc);
      lua_pop(L_, 1);
    }
  }

  // The value on top of the stack.
  void value(const ScriptOption& option, const std::string& path) {
    const auto has = [&](bool listed) {
      return std::any_of(option.forms.begin(), option.forms.end(), [&](const TypeForm& form) {
        return form.listed == listed &&
               (listed ? lua_istable(L_, -1) : fits(L_, form, lua_gettop(L_), finite_));
      });
    };
    if (has(false)) return limits(option, path);
    if (!has(true)) wrong(option, path, false);
    const auto& spec = option.declared.spec;
    const bool limited = !spec.choices.empty() || !option.inside.empty() ||
                         std::isfinite(spec.minimum) || std::isfinite(spec.maximum);
    for (lua_pushnil(L_); lua_next(L_, -2) != 0; lua_pop(L_, 1)) {
      if (lua_type(L_, -2) != LUA_TNUMBER)
        fail(where_, "option '{}' must be {}, got the key {}", path, expected(option.forms, false),
             shown(L_, lua_gettop(L_) - 1));
      const bool good =
          std::any_of(option.forms.begin(), option.forms.end(), [&](const TypeForm& form) {
            return form.listed && fits(L_, form, lua_gettop(L_), finite_);
          });
      if (good && !limited) continue;
      const auto place = fmt::format("{}[{:.14g}]", path, lua_tonumber(L_, -2));
      if (!good) wrong(option, place, true);
      limits(option, place);
    }
  }

 private:
  static const ScriptOption* find(const ScriptOptions& options, const std::string& key) {
    for (const auto& option : options)
      if (option.declared.spec.name == key) return &option;
    return nullptr;
  }
  [[noreturn]] void wrong(const ScriptOption& option, const std::string& path, bool listed) {
    fail(where_, "option '{}' must be {}, got {}", path, expected(option.forms, listed),
         shown(L_, lua_gettop(L_)));
  }
  void limits(const ScriptOption& option, const std::string& path) {
    OptionSpec spec = option.declared.spec;
    spec.name = path;
    if (lua_type(L_, -1) == LUA_TNUMBER &&
        (std::isfinite(spec.minimum) || std::isfinite(spec.maximum)))
      check_range(where_, spec, lua_tonumber(L_, -1));
    if (lua_type(L_, -1) == LUA_TSTRING) check_choice(where_, spec, lua_tostring(L_, -1));
    if (lua_istable(L_, -1) && !option.inside.empty()) table(option.inside, path + ".");
  }

  lua_State* L_;
  const std::string& where_;
  bool finite_;
};

void push_default(lua_State* L, const ScriptOption& option) {
  Value<Json>::push(L, option.declared.spec.default_value);
}

// Pushes the number, or true or false, that a text means as this type, or else the text.
void push_meaning(lua_State* L, const TypeForm& form, const std::string& text) {
  Value<std::string>::push(L, text);
  const bool number = (form.name == "integer" || form.name == "number") && lua_isnumber(L, -1);
  const bool boolean = form.name == "boolean" && (text == "true" || text == "false");
  if (number) lua_pushnumber(L, lua_tonumber(L, -1));
  if (boolean) lua_pushboolean(L, text == "true");
  if (number || boolean) lua_remove(L, -2);
}

// The elements of a list on a command line.
std::vector<std::string> elements_of(const std::string& text) {
  std::vector<std::string> elements;
  if (text.empty()) return elements;
  const Json list = text[0] == '[' ? try_parse_json(text) : Json();
  if (list.is_array() && std::all_of(list.begin(), list.end(),
                                     [](const Json& element) { return element.is_string(); }))
    return list.get<std::vector<std::string>>();
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(',', at), text.size());
    elements.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return elements;
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
  return option_specs(read_rows(L, index, where, "option", {"name", "default", "doc"},
                                {"type", "minimum", "maximum", "choices"}),
                      where);
}

std::vector<OptionSpec> option_specs(const Json& rows, const std::string& where) {
  std::vector<OptionSpec> specs;
  // The defaults must be valid values, too.
  Json defaults = Json::object();
  for (const auto& row : rows) {
    OptionSpec spec = option_of(row, where).declared.spec;
    std::vector<std::string> names(kDataTypes);
    for (std::size_t k = 0; k < kDataTypes; ++k) names[k] = kTypes[k].first;
    const std::string type =
        row.contains("type") ? row["type"].get<std::string>() : type_of(spec.default_value);
    const auto at = std::find(names.begin(), names.end(), type);
    check(at != names.end(), where, "the type of option '{}' must be one of {}, got \"{}\"",
          spec.name, quoted_list(names), type);
    // In the order of kTypes.
    spec.type = static_cast<OptionSpec::Type>(at - names.begin());
    defaults[spec.name] = spec.default_value;
    specs.push_back(std::move(spec));
  }
  resolve_options(where, specs, defaults);
  return specs;
}

ScriptOptions read_script_options(lua_State* L, int index, const std::string& where) {
  ScriptOptions options;
  const Json rows = read_rows(L, index, where, "option", {"name", "default", "doc"},
                              {"type", "minimum", "maximum", "choices", "required", "inside",
                               "short", "repeated", "may_change"});
  for (const auto& row : rows) {
    ScriptOption option = option_of(row, where);
    lua_rawgeti(L, index, static_cast<int>(options.size()) + 1);
    lua_getfield(L, -1, "inside");
    if (!lua_isnil(L, -1)) option.inside = read_script_options(L, lua_gettop(L), where);
    lua_pop(L, 2);
    if (!option.declared.spec.default_value.is_null()) {
      push_default(L, option);
      Checker(L, where, false).value(option, option.declared.spec.name);
      lua_pop(L, 1);
    }
    options.push_back(std::move(option));
  }
  return options;
}

void push_resolved(lua_State* L, int index, const ScriptOptions& options,
                   const std::string& where) {
  const bool given = !lua_isnoneornil(L, index);
  check(!given || lua_istable(L, index), where, "expected a table of options, got {}",
        shown(L, index));
  if (given)
    lua_pushvalue(L, index);
  else
    lua_newtable(L);
  Checker(L, where, true).table(options, "");
  lua_createtable(L, 0, static_cast<int>(options.size()));
  for (const auto& option : options) {
    const char* name = option.declared.spec.name.c_str();
    lua_getfield(L, -2, name);
    if (lua_isnil(L, -1)) lua_pop(L, 1), push_default(L, option);
    lua_setfield(L, -2, name);
  }
  lua_remove(L, -2);
}

void push_from_text(lua_State* L, const ScriptOption& option, const std::string& text) {
  const std::string& name = option.declared.spec.name;
  std::string written = "--" + name;
  std::replace(written.begin(), written.end(), '_', '-');
  const TypeForm& form = option.forms.front();
  // A seed in another form, such as 2.08e+15, has often lost digits.
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  check(digits || (name != "seed" && !name.ends_with("_seed")), "",
        "option '{}' must be an integer from 0 with all its digits, got '{}'", written, text);
  if (!form.listed && form.name != "list") {
    push_meaning(L, form, text);
  } else {
    lua_newtable(L);
    int place = 0;
    for (const auto& element : elements_of(text)) {
      push_meaning(L, form, element);
      lua_rawseti(L, -2, ++place);
    }
  }
  Checker(L, "", false).value(option, written);
}

Json told(const ScriptOptions& options) {
  Json list = Json::array();
  for (const auto& option : options) {
    Json row = told(option.declared);
    for (const char* key : {"short", "repeated", "may_change"})
      if (option.row.contains(key)) row[key] = option.row[key];
    if (!option.inside.empty()) row["inside"] = told(option.inside);
    list.push_back(std::move(row));
  }
  return list;
}

}  // namespace pushdown
