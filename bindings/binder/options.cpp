#include "bindings/binder/options.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/flush_denormals.h"
#include "base/stopping.h"
#include "base/utf8.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/text.h"

namespace pushdown {
namespace {

constexpr int kDeepestTable = 64;
// A table may contain another table or a text many times.
constexpr std::size_t kMostValues = 1 << 22, kMostBytes = std::size_t{256} << 20;

// Reads the value on top of the stack. Errors name argument `i`.
class Reader {
 public:
  Reader(lua_State* L, int i) : L_(L), index_(i) {}

  Json read(int depth, const std::string& path) {
    stop_();
    if (++values_ > kMostValues) wrong("at most 4 million values", "more", path);
    switch (lua_type(L_, -1)) {
      case LUA_TNIL: return nullptr;
      case LUA_TBOOLEAN: return lua_toboolean(L_, -1) != 0;
      case LUA_TNUMBER: return number(lua_tonumber(L_, -1));
      case LUA_TSTRING: return text(path);
      case LUA_TTABLE: break;
      default: wrong("a number, string, boolean or table", type_text(L_, lua_gettop(L_)), path);
    }
    if (depth == kDeepestTable) wrong("fewer than 64 nested tables", "more (or a cycle)", path);
    luaL_checkstack(L_, 4, "nested too deeply");
    const std::size_t size = lua_objlen(L_, -1);
    return size > 0 ? list(size, depth, path) : object(depth, path);
  }

  const std::set<std::string>* skipped = nullptr;  // keys of the outermost table that are left out

 private:
  [[noreturn]] void wrong(std::string expected, std::string got, const std::string& path) {
    WrongType error(index_, std::move(expected), std::move(got));
    error.path = path;
    throw error;
  }

  static Json number(double value) {
    if (std::floor(value) == value && std::fabs(value) <= 9007199254740992.0 && !is_denormal(value))
      return static_cast<std::int64_t>(value);
    return value;
  }

  Json text(const std::string& path) {
    std::size_t size = 0;
    const char* data = lua_tolstring(L_, -1, &size);
    const std::string_view view(data, size);
    if ((bytes_ += size) > kMostBytes) wrong("at most 256 MB of text", "more", path);
    if (const auto place = find_invalid_utf8(view))
      wrong("UTF-8 text", describe_byte(view, *place), path);
    return std::string(view);
  }

  Json list(std::size_t size, int depth, const std::string& path) {
    Json values = Json::array();
    for (std::size_t k = 1; k <= size; ++k) {
      lua_rawgeti(L_, -1, static_cast<int>(k));
      values.push_back(read(depth + 1, path + "[" + std::to_string(k) + "]"));
      lua_pop(L_, 1);
    }
    for (lua_pushnil(L_); lua_next(L_, -2) != 0; lua_pop(L_, 1)) {
      const bool in_list = lua_type(L_, -2) == LUA_TNUMBER && lua_tonumber(L_, -2) >= 1 &&
                           lua_tonumber(L_, -2) <= static_cast<double>(size) &&
                           std::floor(lua_tonumber(L_, -2)) == lua_tonumber(L_, -2);
      if (!in_list) wrong("a list or a table with names", "a mixture of both", path);
    }
    return values;
  }

  Json object(int depth, const std::string& path) {
    // Lua's own order differs from run to run, so the keys are sorted and configurations compare
    // equal.
    std::map<std::string, Json> sorted;
    for (lua_pushnil(L_); lua_next(L_, -2) != 0; lua_pop(L_, 1)) {
      if (lua_type(L_, -2) != LUA_TSTRING)
        wrong("a table with names as keys", "the key " + type_text(L_, lua_gettop(L_) - 1), path);
      std::size_t length = 0;
      const char* name = lua_tolstring(L_, -2, &length);
      const std::string key(name, length);
      if (find_invalid_utf8(key)) wrong("keys in UTF-8", "a key that is not", path);
      if (depth == 0 && skipped && skipped->contains(key)) continue;
      sorted.emplace(key, read(depth + 1, path + "." + key));
    }
    Json values = Json::object();
    auto& entries = values.get_ref<Json::object_t&>();  // without a search for each key
    for (auto& [key, value] : sorted) entries.emplace_back(key, std::move(value));
    return values;
  }

  lua_State* L_;
  int index_;
  std::size_t values_ = 0, bytes_ = 0;
  StopCheck stop_;
};

// Returns the names of all options, those of the groups last.
std::vector<std::string> names_of(lua_State* L, const OptionRows& rows) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  };
  add(rows.by);
  for (const auto& row : rows.rows) add(row.spec.name);
  if (rows.groups)
    for (const auto& group : rows.groups(L))
      for (const auto& option : group.options) add(option.spec.name);
  return names;
}

}  // namespace

Json Value<Json>::get(lua_State* L, int i) {
  if (lua_isnoneornil(L, i)) return nullptr;
  lua_pushvalue(L, i);
  Json value = Reader(L, i).read(0, "");
  lua_pop(L, 1);
  return value;
}

int Value<Json>::push(lua_State* L, const Json& value) {
  luaL_checkstack(L, 4, "nested too deeply");
  switch (value.type()) {
    case Json::value_t::boolean: lua_pushboolean(L, value.get<bool>()); break;
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
    case Json::value_t::number_float: lua_pushnumber(L, value.get<double>()); break;
    case Json::value_t::string:
      Value<std::string>::push(L, value.get_ref<const std::string&>());
      break;
    case Json::value_t::array:
      lua_createtable(L, static_cast<int>(value.size()), 0);
      for (std::size_t k = 0; k < value.size(); ++k) {
        push(L, value[k]);
        lua_rawseti(L, -2, static_cast<int>(k) + 1);
      }
      break;
    case Json::value_t::object:
      lua_createtable(L, 0, static_cast<int>(value.size()));
      for (const auto& [key, element] : value.items()) {
        Value<std::string>::push(L, key);
        push(L, element);
        lua_rawset(L, -3);
      }
      break;
    default: lua_pushnil(L);
  }
  return 1;
}

bool OptionTable::push_field(const std::string& key) const {
  if (!lua_istable(L_, index_)) return false;
  luaL_checkstack(L_, 4, "nested too deeply");
  lua_pushlstring(L_, key.data(), key.size());
  lua_rawget(L_, index_);
  if (!lua_isnil(L_, -1)) return true;
  lua_pop(L_, 1);
  return false;
}

bool OptionTable::has(const std::string& key) const {
  if (!push_field(key)) return false;
  lua_pop(L_, 1);
  return true;
}

void OptionTable::push(const std::string& key) {
  read_.insert(key);
  if (!push_field(key)) lua_pushnil(L_);
}

Json OptionTable::rest() const {
  if (!lua_istable(L_, index_)) return Json::object();
  Reader reader(L_, index_);
  reader.skipped = &read_;
  lua_pushvalue(L_, index_);
  Json value = reader.read(0, "");
  lua_pop(L_, 1);
  if (value.is_array()) throw WrongType(index_, "options by name, {name = value}", "a list");
  return value;
}

void OptionTable::refuse_unknown(const OptionRows& rows) const {
  std::vector<std::string> names;
  for (const auto& row : rows.rows) names.push_back(row.spec.name);
  for (lua_pushnil(L_); lua_next(L_, index_) != 0; lua_pop(L_, 1)) {
    if (lua_type(L_, -2) != LUA_TSTRING)
      throw WrongType(index_, "options by name, {name = value}",
                      "the key " + type_text(L_, lua_gettop(L_) - 1));
    const auto key = Value<std::string>::get(L_, lua_gettop(L_) - 1);
    if (std::find(names.begin(), names.end(), key) != names.end()) continue;
    if (find_invalid_utf8(key)) throw WrongType(index_, "keys in UTF-8", "a key that is not");
    throw UnknownOption(running_function(L_), key, names);
  }
}

void read_options(lua_State* L, int index, const OptionRows& rows, void* options) {
  const bool given = lua_istable(L, index);
  if (!given && !lua_isnoneornil(L, index)) throw WrongType(L, index, "a table of options");
  OptionTable table(L, index);
  if (given && !rows.groups) table.refuse_unknown(rows);
  for (const auto& row : rows.rows) {
    if (!row.read) continue;  // one of the core
    table.read_.insert(row.spec.name);
    if (table.push_field(row.spec.name)) {
      row.read(L, index, options);
    } else if (row.spec.required) {
      WrongType error(index, "a value (" + row.type + ")", "nothing");
      error.path = "." + row.spec.name;
      throw error;
    }
  }
  if (!rows.read_rest) return;
  try {
    rows.read_rest(table, options);
  } catch (const WrongType& error) {
    // A misspelt option may have a value that only the declared ones can have.
    if (!error.path.starts_with('.') || !rows.groups) throw;
    const auto names = names_of(L, rows);
    const std::string key = error.path.substr(1, error.path.find_first_of(".[", 1) - 1);
    if (std::find(names.begin(), names.end(), key) != names.end()) throw;
    throw UnknownOption(running_function(L), key, names);
  }
}

std::vector<DeclaredOption> declared(const std::vector<OptionSpec>& specs) {
  std::vector<DeclaredOption> options;
  for (const auto& spec : specs) options.push_back({spec, std::string(type_name(spec.type))});
  return options;
}

Json told(const DeclaredOption& option) {
  const auto& spec = option.spec;
  Json row{{"name", spec.name}, {"type", option.type}, {"doc", spec.doc}};
  if (spec.required)
    row["required"] = true;
  else if (!spec.default_value.is_null())
    row["default"] = spec.default_value;
  if (!spec.choices.empty()) row["choices"] = spec.choices;
  if (spec.inside != nullptr)
    if (const auto kinds = spec.inside(); kinds.size() == 1 && kinds[0].kind.empty())
      for (const auto& inner : declared(kinds[0].options)) row["inside"].push_back(told(inner));
  if (std::isfinite(spec.minimum)) row["minimum"] = spec.minimum;
  if (std::isfinite(spec.maximum)) row["maximum"] = spec.maximum;
  return row;
}

std::string names_text(lua_State* L, const OptionRows& rows) {
  constexpr std::size_t kMost = 14;
  std::vector<std::string> names = names_of(L, rows);
  const bool by_itself =
      !rows.by.empty() && std::none_of(rows.rows.begin(), rows.rows.end(),
                                       [&](const auto& row) { return row.spec.name == rows.by; });
  const auto own = rows.rows.size() + (by_itself ? 1 : 0);
  const bool shortened = names.size() > std::max(own, kMost);
  if (shortened) names.resize(own);
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name + "=";
  return shortened ? text + (text.empty() ? "..." : ", ...") : text;
}

std::string running_function(lua_State* L) {
  const char* text = lua_tostring(L, lua_upvalueindex(1));
  const std::string_view name(text ? text : "");
  return std::string(name.starts_with("pd.") ? name.substr(3) : name);
}

namespace {

constexpr const char* kOptionsKey = "pushdown.options";  // full name -> RowsFunction

// The options of the groups. Each is listed once, with the groups that have it if not all do.
void add_groups(Json& list, const std::string& by, const std::vector<OptionGroup>& groups) {
  std::vector<std::pair<Json, Json>> found;  // an option, and the titles of its groups
  for (const auto& group : groups)
    for (const auto& option : group.options) {
      const Json row = told(option);
      auto same = std::find_if(found.begin(), found.end(),
                               [&](const auto& other) { return other.first == row; });
      if (same == found.end()) same = found.emplace(found.end(), row, Json::array());
      same->second.push_back(group.title);
    }
  const auto is_by = [&](const Json& row) { return row["name"] == by; };
  if (!by.empty() && std::none_of(list.begin(), list.end(), is_by) &&
      std::none_of(found.begin(), found.end(), [&](const auto& one) { return is_by(one.first); })) {
    Json row{
        {"name", by}, {"type", "text"}, {"doc", "name of the kind"}, {"choices", Json::array()}};
    for (const auto& group : groups) row["choices"].push_back(group.title);
    list.insert(list.begin(), row);
  }
  for (auto& [row, titles] : found) {
    if (titles.size() < groups.size()) {
      row["of"] = titles;
      if (!by.empty()) row["by"] = by;
    }
    list.push_back(row);
  }
}

}  // namespace

void note_options(lua_State* L, const std::string& full_name, RowsFunction rows) {
  push_registry_table(L, kOptionsKey);
  lua_pushlightuserdata(L, reinterpret_cast<void*>(rows));
  lua_setfield(L, -2, full_name.c_str());
  lua_pop(L, 1);
}

std::vector<std::string> functions_with_options(lua_State* L) {
  std::vector<std::string> names;
  push_registry_table(L, kOptionsKey);
  for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) names.emplace_back(lua_tostring(L, -2));
  lua_pop(L, 1);
  std::sort(names.begin(), names.end());
  return names;
}

RowsFunction noted_options(lua_State* L, const std::string& full_name) {
  push_registry_table(L, kOptionsKey);
  lua_getfield(L, -1, full_name.c_str());
  const auto rows = reinterpret_cast<RowsFunction>(lua_touserdata(L, -1));
  lua_pop(L, 2);
  return rows;
}

std::optional<Json> options_of(lua_State* L, const std::string& full_name) {
  const auto rows = noted_options(L, full_name);
  if (rows == nullptr) return std::nullopt;
  Json list = Json::array();
  for (const auto& row : rows().rows) list.push_back(told(row));
  if (rows().groups) add_groups(list, rows().by, rows().groups(L));
  return list;
}

}  // namespace pushdown
