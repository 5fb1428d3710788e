#include "bindings/binder/bind.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "base/lost_precision.h"
#include "base/options.h"
#include "bindings/binder/interrupt.h"
#include "bindings/binder/memory_reserve.h"
#include "bindings/binder/option_places.h"
#include "bindings/binder/registry_keys.h"
#include "bindings/binder/unknown_name.h"
#include "bindings/session/log.h"
#include "tensor/error_text.h"

namespace pushdown {
namespace {

constexpr const char* kDocsKey = "pushdown.docs";  // full name -> doc string

std::string upvalue_text(lua_State* L, int i) {
  const char* text = lua_tostring(L, lua_upvalueindex(i));
  return text ? text : "";
}

// "zeros(shape, options) -> tensor": a doc string up to its sentence.
std::string usage_of(const std::string& doc) { return doc.substr(0, doc.find("  ")); }

// Returns "shape" for argument 1 of zeros(shape, options), or "" if the usage line has no name for
// it.
std::string argument_name(const std::string& usage, int argument) {
  const auto bracket = usage.find_first_of("({");
  if (bracket != usage.npos && usage[bracket] == '{') return argument == 1 ? "options" : "";
  const auto open = usage.find('('), close = usage.rfind(')', usage.find(" -> "));
  if (open == usage.npos || close == usage.npos || close < open) return "";
  std::string names = usage.substr(open + 1, close - open - 1) + ",";
  for (std::size_t begin = 0; begin < names.size(); --argument) {
    const auto end = names.find(',', begin);
    if (argument == 1) {
      const auto first = names.find_first_not_of(" [", begin);
      const auto last = names.find_last_not_of(" ],", end);
      if (first == names.npos || last < first) return "";
      return names[first] == '{' ? "options" : names.substr(first, last - first + 1);
    }
    begin = end + 1;
  }
  return "";
}

void push_wrong_call(lua_State* L, const std::string& message) {
  const auto usage = usage_of(upvalue_text(L, 2));
  push_error(L, usage.empty() ? message : message + "\n  usage: " + usage);
}

// Returns whether the function is called with ':', so that the user does not count its first
// argument. Operators have no such argument.
bool is_method(const std::string& full_name) {
  const auto colon = full_name.find(':');
  return colon != full_name.npos && full_name.compare(colon, 3, ":__") != 0;
}

// __index with a user-defined part: names are methods, and all other keys go to the class.
// Upvalues: 1 full name, 2 doc, 3 methods, 4 the function of the class.
int index_object(lua_State* L) {
  if (lua_type(L, 2) == LUA_TSTRING) {
    lua_settop(L, 2);
    lua_gettable(L, lua_upvalueindex(3));
    return 1;
  }
  lua_pushvalue(L, lua_upvalueindex(4));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
  return 1;
}

}  // namespace

WrongType::WrongType(lua_State* L, int index, std::string expected)
    : WrongType(index, std::move(expected), type_text(L, index)) {}

void wrong_type(lua_State* L, int index, const char* expected) {
  throw WrongType(L, index, expected);
}

void wrong_class(lua_State* L, int index, const char* class_name) {
  throw WrongType(L, index, with_article(class_name));
}

void wrong_integer(int index, bool is_unsigned, std::int64_t got) {
  throw WrongType(index, is_unsigned ? "an integer from 0" : "a smaller integer",
                  std::to_string(got));
}

void wrong_size(int index, std::size_t expected, std::size_t got) {
  throw WrongType(index, "a list of " + std::to_string(expected), "one of " + std::to_string(got));
}

void* object_at(lua_State* L, int index, void* key) {
  if (lua_type(L, index) != LUA_TUSERDATA || !lua_getmetatable(L, index)) return nullptr;
  lua_pushlightuserdata(L, key);
  lua_rawget(L, LUA_REGISTRYINDEX);
  const bool same = lua_rawequal(L, -1, -2) != 0;
  lua_pop(L, 2);
  return same ? lua_touserdata(L, index) : nullptr;
}

namespace {

LossFlag lost_precision{false};

// Once in a process.
void warn_of_losses() {
  static std::atomic<bool> warned{false};
  if (!warned.exchange(true))
    log_message("warn",
                "a nondeterministic stack has transition weights so far apart that its number type "
                "loses runs on which later readings may depend: probabilities and gradients may be "
                "wrong; try dtype = 'float64' or smaller weights");
}

}  // namespace

int guarded(lua_State* L, int (*body)(lua_State*)) {
  refill_memory_reserve();
  try {
    const StopScope scope(interrupt_flag());
    const FlushDenormals flush;
    const LossScope losses(&lost_precision);
    const int results = body(L);
    if (!watches_losses()) warn_of_losses();
    return results;
  } catch (const WrongType& error) {
    push_error(L, error);
  } catch (const WrongCount& error) {
    push_error(L, error);
  } catch (const ScriptError& error) {
    error.push(L);
  } catch (const UnknownOption& error) {
    push_error(L, misplaced_option_text(L, error));
  } catch (const std::exception& error) {
    refill_memory_reserve();
    push_error(L, error_text(error));
  }
  return lua_error(L);
}

std::string type_text(lua_State* L, int index) {
  switch (lua_type(L, index)) {
    case LUA_TNONE: return "nothing";
    case LUA_TNIL: return "nil";
    case LUA_TBOOLEAN: return lua_toboolean(L, index) ? "true" : "false";
    case LUA_TNUMBER: {
      lua_pushvalue(L, index);  // lua_tostring would change the original value
      std::string text = lua_tostring(L, -1);
      lua_pop(L, 1);
      return "the number " + text;
    }
    case LUA_TSTRING: {
      const std::string text = lua_tostring(L, index);
      return text.size() <= 40 && text.find_first_of("\n\r\033") == text.npos ? "'" + text + "'"
                                                                              : "a string";
    }
    case LUA_TUSERDATA:
      if (lua_getmetatable(L, index)) {
        lua_getfield(L, -1, "__name");
        const char* name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : nullptr;
        const std::string text = name ? with_article(name) : "an object";
        lua_pop(L, 2);
        return text;
      }
      return "an object";
    default: return std::string("a ") + luaL_typename(L, index);
  }
}

std::int64_t get_integer(lua_State* L, int i) {
  if (lua_type(L, i) != LUA_TNUMBER) throw WrongType(L, i, "an integer");
  const double number = lua_tonumber(L, i);
  if (!(std::fabs(number) <= 9007199254740992.0) || std::floor(number) != number)
    throw WrongType(L, i, "an integer");
  return static_cast<std::int64_t>(number);
}

std::string user_position(lua_State* L) {
  // Skips the library's own scripts in share/pushdown/scripts/lib, because the user's code is
  // further out. If there is only library code, its innermost line is still the best answer.
  lua_getfield(L, LUA_REGISTRYINDEX, "pushdown.library");
  const char* text = lua_tostring(L, -1);
  const std::string library = text ? text : "";
  lua_pop(L, 1);
  std::string fallback;
  lua_Debug frame;
  for (int level = 0; lua_getstack(L, level, &frame) != 0; ++level) {
    lua_getinfo(L, "Sl", &frame);
    if (frame.currentline <= 0) continue;
    const std::string_view source(frame.source);
    const std::string name(source.starts_with("@") || source.starts_with("=") ? source.substr(1)
                                                                              : frame.short_src);
    const std::string position = name + ":" + std::to_string(frame.currentline) + ": ";
    if (library.empty() || !source.starts_with(library)) return position;
    if (fallback.empty()) fallback = position;
  }
  return fallback;
}

void push_error(lua_State* L, std::string_view message) {
  const auto name = upvalue_text(L, 1);
  std::string text = user_position(L);
  if (!message.starts_with('[') && !name.empty()) text += "[" + name + "] ";
  text += message;
  lua_pushlstring(L, text.data(), text.size());
}

void push_error(lua_State* L, const WrongType& error) {
  const bool method = is_method(upvalue_text(L, 1));
  const int argument = method ? error.index - 1 : error.index;
  if (argument == 0)
    return push_wrong_call(
        L, "expected " + error.expected + " to call this method on (with ':'), got " + error.got);
  const auto name = argument_name(usage_of(upvalue_text(L, 2)), argument);
  std::string where = "argument " + std::to_string(argument);
  if (!name.empty())
    where += " (" + name + error.path + ")";
  else if (!error.path.empty())
    where += ", " + error.path;
  push_wrong_call(L, where + ": expected " + error.expected + ", got " + error.got);
}

void push_error(lua_State* L, const WrongCount& error) {
  const int hidden = is_method(upvalue_text(L, 1)) ? 1 : 0;
  const int most = error.most - hidden, got = lua_gettop(L) - hidden;
  push_wrong_call(L, most <= 0 ? "expected no arguments, got " + std::to_string(got)
                               : "expected at most " + std::to_string(most) + " argument" +
                                     (most == 1 ? "" : "s") + ", got " + std::to_string(got));
}

namespace {

// Returns the memory of the process besides Lua's own objects and mapped files. 0: unknown.
std::size_t bytes_outside(lua_State* L) {
  static const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  char text[128];
  const auto length = file < 0 ? -1 : ::pread(file, text, sizeof text - 1, 0);
  if (length <= 0) return 0;
  text[length] = '\0';
  unsigned long resident = 0, shared = 0;
  if (std::sscanf(text, "%*u %lu %lu", &resident, &shared) != 2) return 0;
  const auto own = (resident - std::min(resident, shared)) * page;
  const auto of_lua = static_cast<std::size_t>(lua_gc(L, LUA_GCCOUNT, 0)) << 10;
  return own - std::min(own, of_lua);
}

}  // namespace

void account_bytes(lua_State* L, std::size_t bytes) {
  // Lua counts a handle as a few bytes, so without this it would hardly ever collect.
  constexpr std::size_t kDebt = std::size_t{64} << 20, kGrowth = std::size_t{128} << 20;
  static std::size_t debt = 0, held = 0;
  static auto next_look = std::chrono::steady_clock::time_point{};
  debt += bytes;
  // No tensor owns a graph, and its size is not available, so the growth of the process is measured
  // instead. It cannot grow by much within a millisecond.
  bool grown = false;
  if (const auto now = std::chrono::steady_clock::now(); now >= next_look) {
    next_look = now + std::chrono::milliseconds(1);
    const auto outside = bytes_outside(L);
    grown = outside > held + kGrowth;
    held = std::min(held, outside);
  }
  if (debt <= kDebt && !grown) return;
  debt = 0;
  lua_gc(L, LUA_GCCOLLECT, 0);
  held = bytes_outside(L);
}

void push_registry_table(lua_State* L, const char* name, bool weak) {
  lua_getfield(L, LUA_REGISTRYINDEX, name);
  if (!lua_isnil(L, -1)) return;
  lua_pop(L, 1);
  lua_newtable(L);
  if (weak) {
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "k");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
  }
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, name);
}

void push_docs(lua_State* L) { push_registry_table(L, kDocsKey); }
void push_names(lua_State* L) { push_registry_table(L, kNamesKey, true); }

void add_doc(lua_State* L, const std::string& full_name, const std::string& doc) {
  if (full_name.find("._") != full_name.npos) return;  // for the library alone
  push_docs(L);
  lua_pushlstring(L, doc.data(), doc.size());
  lua_setfield(L, -2, full_name.c_str());
  lua_pop(L, 1);
  push_names(L);
  lua_pushvalue(L, -2);
  lua_pushlstring(L, full_name.data(), full_name.size());
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

namespace {

// Returns the doc string with the names of the options in its usage line, and notes these options.
std::string with_options(lua_State* L, const std::string& full_name, Doc doc, RowsFunction rows) {
  constexpr std::string_view kPlace = "{options}";
  std::string text = doc.text;
  const auto at = usage_of(text).find(kPlace);
  if ((at != text.npos) != (rows != nullptr))
    throw std::logic_error(full_name + ": declared options and {options} belong together");
  if (rows == nullptr) return text;
  note_options(L, full_name, rows);
  return text.replace(at + 1, kPlace.size() - 2, names_text(L, rows()));
}

// Pushes the function with its upvalues and documents it.
void push_function(lua_State* L, const std::string& full_name, const BoundFunction& f, Doc doc) {
  const auto text = with_options(L, full_name, doc, f.rows);
  lua_pushlstring(L, full_name.data(), full_name.size());
  lua_pushlstring(L, text.data(), text.size());
  lua_pushcclosure(L, f.call, 2);
  add_doc(L, full_name, text);
}

}  // namespace

void define(lua_State* L, int table, const std::string& full_name, std::string_view key,
            const BoundFunction& f, Doc doc) {
  Value<std::string>::push(L, key);
  push_function(L, full_name, f, doc);
  lua_rawset(L, table);
}

void push_texts(lua_State* L) { push_registry_table(L, "pushdown.texts"); }

void note_texts(lua_State* L, int table, const std::string& full_name, const std::string& key,
                lua_CFunction texts, const char* of, const char* option) {
  push_texts(L);
  lua_createtable(L, 0, 5);
  const auto set = [L](const char* field, const std::string& text) {
    if (!text.empty()) lua_pushstring(L, text.c_str()), lua_setfield(L, -2, field);
  };
  set("name", full_name);
  set("of", of);
  set("option", option);
  lua_getfield(L, table, key.c_str());
  lua_setfield(L, -2, "call");
  lua_pushstring(L, full_name.c_str());
  lua_pushliteral(L, "");
  lua_pushcclosure(L, texts, 2);
  lua_setfield(L, -2, "texts");
  lua_rawseti(L, -2, static_cast<int>(lua_objlen(L, -2)) + 1);
  lua_pop(L, 1);
}

Module::Module(lua_State* L, std::string name)
    : L_(L), name_(std::move(name)), table_(lua_gettop(L)), owned_(false) {}

Module::Module(lua_State* L, const char* field, const char* sentence, const char* parent)
    : L_(L), name_(std::string(parent) + "." + field), table_(lua_gettop(L) + 1), owned_(true) {
  lua_pushstring(L, field);
  lua_rawget(L, -2);
  if (!lua_istable(L, -1)) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_createtable(L, 0, 2);
    lua_pushstring(L, name_.c_str());
    lua_pushcclosure(L, unknown_field, 1);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_pushstring(L, field);
    lua_pushvalue(L, -2);
    lua_rawset(L, -4);
  }
  add_doc(L, name_, sentence);
}

Module::~Module() {
  if (owned_) lua_pop(L_, 1);
}

void Module::define_call(const BoundFunction& f, Doc doc) {
  lua_pushvalue(L_, table_);
  if (!lua_getmetatable(L_, -1)) lua_newtable(L_);
  lua_pushliteral(L_, "__call");
  push_function(L_, name_, f, doc);
  lua_rawset(L_, -3);
  lua_setmetatable(L_, -2);
  lua_pop(L_, 1);
}

void make_metatable(lua_State* L, const char* name, const char* sentence, lua_CFunction collect) {
  lua_newtable(L);
  lua_pushcfunction(L, collect);
  lua_setfield(L, -2, "__gc");
  lua_pushstring(L, name);
  lua_setfield(L, -2, "__name");
  lua_pushstring(L, name);  // the result of getmetatable(): scripts cannot reach __gc
  lua_setfield(L, -2, "__metatable");
  lua_newtable(L);  // methods
  lua_newtable(L);
  lua_pushstring(L, name);
  lua_pushcclosure(L, unknown_method, 1);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "methods");
  lua_setfield(L, -2, "__index");
  add_doc(L, name, sentence);
}

void define_method(lua_State* L, int metatable, const char* cls, std::string_view name,
                   const BoundFunction& f, Doc doc) {
  const std::string full_name = fmt::format("{}:{}", cls, name);
  lua_getfield(L, metatable, "methods");
  const int methods = lua_gettop(L);
  if (!name.starts_with("__")) {
    define(L, methods, full_name, name, f, doc);
  } else {
    define(L, metatable, full_name, name, f, doc);
    if (name == "__index") {
      lua_pushliteral(L, "__index");
      lua_pushlstring(L, full_name.data(), full_name.size());
      lua_pushstring(L, doc.text);
      lua_pushvalue(L, methods);
      lua_getfield(L, metatable, "__index");
      lua_pushcclosure(L, index_object, 4);
      lua_rawset(L, metatable);
    }
  }
  lua_settop(L, methods - 1);
}

}  // namespace pushdown
