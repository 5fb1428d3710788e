#include "bindings/shell/completion.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <set>

#include "bindings/shell/interrupt.h"

namespace pushdown {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' ||
         static_cast<unsigned char>(c) > 127;
}

struct Path {
  std::vector<std::string> names;  // before the last separator
  std::string prefix;              // after it
  bool method = false;             // the last separator is ':'
  std::size_t start = 0;           // of the prefix, in the text
};

Path parse(std::string_view line) {
  std::size_t begin = line.size();
  while (begin > 0 &&
         (is_word(line[begin - 1]) || line[begin - 1] == '.' || line[begin - 1] == ':'))
    --begin;
  Path path;
  std::string word;
  for (std::size_t i = begin; i < line.size(); ++i) {
    if (is_word(line[i])) {
      word += line[i];
      continue;
    }
    path.names.push_back(std::move(word));
    word.clear();
    path.method = line[i] == ':';
  }
  path.prefix = std::move(word);
  path.start = line.size() - path.prefix.size();
  return path;
}

// Replaces the value on top of the stack by the table that its missing fields come from, or nil.
void push_next(lua_State* L) {
  if (!lua_getmetatable(L, -1)) {
    lua_pushnil(L);
  } else {
    // A bound class keeps its methods here even if __index is a function.
    lua_getfield(L, -1, "methods");
    if (!lua_istable(L, -1)) {
      lua_pop(L, 1);
      lua_getfield(L, -1, "__index");
    }
    if (!lua_istable(L, -1)) {
      lua_pop(L, 1);
      lua_pushnil(L);
    }
    lua_remove(L, -2);
  }
  lua_remove(L, -2);
}

// Replaces the value on top by its field. Calls nothing for the lookup.
void push_field(lua_State* L, const std::string& name) {
  for (int depth = 0; depth < 10 && !lua_isnil(L, -1); ++depth) {
    if (lua_istable(L, -1)) {
      lua_pushlstring(L, name.data(), name.size());
      lua_rawget(L, -2);
      if (!lua_isnil(L, -1)) return lua_remove(L, -2);
      lua_pop(L, 1);
    }
    push_next(L);
  }
  lua_settop(L, lua_gettop(L) - 1);
  lua_pushnil(L);
}

struct Request {
  Path path;
  std::set<std::string> found;
};

void offer(Request& request, const std::string& name) {
  const auto& prefix = request.path.prefix;
  if (!name.starts_with(prefix) || (prefix.empty() && name.starts_with('_'))) return;
  if (std::isdigit(static_cast<unsigned char>(name[0]))) return;
  if (std::all_of(name.begin(), name.end(), is_word)) request.found.insert(name);
}

// Calls a function of pushdown.prompt.library, or of a field of it, with one text, and leaves its
// result.
void ask_library(lua_State* L, const char* function, const std::string& text) {
  lua_getglobal(L, "require");
  lua_pushliteral(L, "pushdown.prompt.library");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, function);
  lua_remove(L, -2);
  lua_pushlstring(L, text.data(), text.size());
  lua_call(L, 1, 1);
}

// Replaces `pd` on top by a module of the library, which is loaded if necessary. Other names are
// treated as in push_field.
void push_module(lua_State* L, const std::string& name) {
  lua_pushvalue(L, -1);
  push_field(L, name);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    ask_library(L, "load", name);
  }
  lua_remove(L, -2);
}

void offer_modules(lua_State* L, Request& request) {
  ask_library(L, "starting_with", request.path.prefix);
  for (int i = 1; i <= static_cast<int>(lua_objlen(L, -1)); ++i) {
    lua_rawgeti(L, -1, i);
    offer(request, lua_tostring(L, -1));
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

int collect(lua_State* L) {
  auto& request = *static_cast<Request*>(lua_touserdata(L, 1));
  const auto& names = request.path.names;
  lua_pushvalue(L, LUA_GLOBALSINDEX);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i == 0 && names[i] == "pd")
      lua_getfield(L, -1, "pd");  // loads the module if necessary
    else if (i == 1 && names[0] == "pd")
      push_module(L, names[i]);
    else
      push_field(L, names[i]);
  }
  if (names.empty()) {
    for (const char* word :
         {"and",      "break",  "do",   "else",  "elseif", "end",  "false", "for",
          "function", "if",     "in",   "local", "nil",    "not",  "or",    "pd",
          "repeat",   "return", "then", "true",  "until",  "while"})
      offer(request, word);
  }
  if (names.size() == 1 && names[0] == "pd") offer_modules(L, request);
  for (int depth = 0; depth < 10 && !lua_isnil(L, -1); ++depth) {
    if (lua_istable(L, -1)) {
      for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING || lua_objlen(L, -2) == 0) continue;
        if (!request.path.method || lua_isfunction(L, -1)) offer(request, lua_tostring(L, -2));
      }
    }
    push_next(L);
  }
  return 0;
}

// Returns the names in a folder that begin with the last part of the path.
Completion complete_file(std::string_view text, std::size_t first) {
  const std::string path(text.substr(first));
  const auto slash = path.rfind('/');
  const std::string folder = slash == path.npos ? "" : path.substr(0, slash + 1);
  const std::string prefix = path.substr(folder.size());
  Completion found{first + folder.size(), {}, ""};
  std::error_code ignored;
  namespace fs = std::filesystem;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, ignored), end;
       !ignored && entry != end; entry.increment(ignored)) {
    const std::string name = entry->path().filename();
    if (!name.starts_with(prefix) || (prefix.empty() && name.starts_with('.'))) continue;
    std::error_code none;
    found.candidates.push_back(entry->is_directory(none) ? name + "/" : name);
  }
  std::sort(found.candidates.begin(), found.candidates.end());
  return found;
}

struct Asked {
  std::string_view text;
  std::optional<Completion> found;
};

// Asks the library, which knows calls and options.
int ask(lua_State* L) {
  auto& asked = *static_cast<Asked*>(lua_touserdata(L, 1));
  lua_getglobal(L, "require");
  lua_pushliteral(L, "pushdown.prompt.completion");
  lua_call(L, 1, 1);
  lua_pushlstring(L, asked.text.data(), asked.text.size());
  lua_call(L, 1, 3);
  if (!lua_isnumber(L, -3)) return 0;
  const auto start = static_cast<std::size_t>(lua_tointeger(L, -3)) - 1;
  if (!lua_istable(L, -2)) {
    asked.found = complete_file(asked.text, start);
    return 0;
  }
  Completion found{start, {}, lua_isstring(L, -1) ? lua_tostring(L, -1) : ""};
  for (int i = 1; i <= static_cast<int>(lua_objlen(L, -2)); ++i) {
    lua_rawgeti(L, -2, i);
    found.candidates.emplace_back(lua_tostring(L, -1));
    lua_pop(L, 1);
  }
  asked.found = std::move(found);
  return 0;
}

}  // namespace

namespace {

// This runs Lua code, and Ctrl-C ends it as it ends an entry.
struct RunningLua {
  explicit RunningLua(lua_State* state) : L(state) { enter_lua(L); }
  ~RunningLua() {
    leave_lua(L);
    take_interrupt();
  }
  lua_State* L;
};

}  // namespace

Completion complete(lua_State* L, std::string_view text) {
  const int top = lua_gettop(L);
  const RunningLua running(L);
  // Asks only for calls, tables, strings and commands, so that other completions do not wait for
  // the library.
  if (text.find_first_of("({[\"':") != text.npos) {
    Asked asked{text, {}};
    const bool fine = lua_cpcall(L, ask, &asked) == 0;
    lua_settop(L, top);
    if (fine && asked.found) return *std::move(asked.found);
  }
  Request request{parse(text), {}};
  if (lua_cpcall(L, collect, &request) != 0) request.found.clear();
  lua_settop(L, top);
  return {request.path.start, {request.found.begin(), request.found.end()}, ""};
}

}  // namespace pushdown
