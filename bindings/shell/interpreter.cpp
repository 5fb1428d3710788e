#include "bindings/shell/interpreter.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>

#include "base/memory.h"
#include "base/utf8.h"
#include "bindings/binder/text.h"
#include "bindings/shell/interrupt.h"
#include "bindings/shell/locals.h"
#include "bindings/shell/script_files.h"
#include "bindings/shell/show.h"
#include "bindings/shell/terminal_mode.h"

namespace pushdown {
namespace {

Interpreter* interpreter_of(lua_State* L) {
  return static_cast<Interpreter*>(lua_touserdata(L, lua_upvalueindex(1)));
}

// Runs C++ code that may throw. An exception becomes a Lua error at the caller's position.
template <class F>
int guarded(lua_State* L, F&& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    luaL_where(L, 1);
    lua_pushliteral(L, "not enough memory");
  } catch (const std::exception& error) {
    luaL_where(L, 1);
    lua_pushstring(L, error.what());
  }
  lua_concat(L, 2);
  return lua_error(L);
}

// Whether the code that reads or makes a global is in a file, and whether it is a main chunk.
struct Accessor {
  bool in_file = false, main_chunk = false;
};
Accessor accessor(lua_State* L) {
  lua_Debug frame;
  if (lua_getstack(L, 1, &frame) == 0) return {};
  lua_getinfo(L, "S", &frame);
  const bool lua_code = std::strcmp(frame.what, "C") != 0;
  return {lua_code && std::strcmp(frame.source, kPromptChunk) != 0,
          std::strcmp(frame.what, "main") == 0};
}

// Whether this is a name such as _12, which at the prompt stands for an earlier value.
bool is_earlier_value(std::string_view name) {
  return name.size() > 1 && name[0] == '_' && name.find_first_not_of("0123456789", 1) == name.npos;
}

// The start of the sources of the library's Lua files; empty before the module is loaded.
std::string library_source(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, "pushdown.library");
  const char* source = lua_tostring(L, -1);
  std::string result = source ? source : "";
  lua_pop(L, 1);
  return result;
}

// Returns the error value as text, then its position and the calls that led to it, only of Lua
// functions. If the library refuses a call, its own functions are left out, and so is the entry of
// a prompt that made the call.
int add_traceback(lua_State* L) {
  constexpr int kFirst = 8, kLast = 3;
  std::string text = lua_type(L, 1) == LUA_TSTRING
                         ? std::string(lua_tostring(L, 1), lua_objlen(L, 1))
                         : "error value: " + show_line(L, 1);
  const std::string library = library_source(L);
  // A message that starts with a position in the library reports an error of the library itself.
  bool in_library = !library.empty() && !text.starts_with(library.substr(1));
  bool left_out = false;
  std::vector<std::string> calls;
  lua_Debug frame;
  for (int level = 1; lua_getstack(L, level, &frame) != 0; ++level) {
    lua_getinfo(L, "Snl", &frame);
    if (frame.currentline <= 0) continue;
    std::string call = std::string(frame.short_src) + ":" + std::to_string(frame.currentline);
    keep_locals(L, level);
    in_library = in_library && std::string_view(frame.source).starts_with(library);
    const bool main_chunk = std::strcmp(frame.what, "main") == 0;
    const bool entry = main_chunk && std::strcmp(frame.source, kPromptChunk) == 0;
    left_out = left_out || in_library;
    if (in_library || (left_out && calls.empty() && entry)) continue;
    if (main_chunk)
      call += " in the main chunk";
    else if (frame.name)
      call += " in function '" + std::string(frame.name) + "'";
    else
      call += " in a function";
    calls.push_back(std::move(call));
  }
  // A single call is shown only if the message does not start with its position.
  if (calls.size() == 1 &&
      (!left_out || text.starts_with(calls[0].substr(0, calls[0].find(" in ")) + ":")))
    calls.clear();
  const int count = static_cast<int>(calls.size());
  for (int i = 0; i < count; ++i) {
    if (i == kFirst && count > kFirst + kLast + 1) {
      text += "\n  ... " + std::to_string(count - kFirst - kLast) + " more";
      i = count - kLast;
    }
    text += "\n  at " + calls[i];
  }
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

// package.loaders entry: before the module is loaded, require 'pushdown.NAME' loads it, and then
// asks the searcher that the module has put in front of this one.
int search_library(lua_State* L) {
  if (!std::string_view(luaL_checkstring(L, 1)).starts_with("pushdown.")) return 0;
  lua_getglobal(L, "require");
  lua_pushliteral(L, "pushdown");
  lua_call(L, 1, 0);
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "loaders");
  lua_rawgeti(L, -1, 2);
  if (lua_tocfunction(L, -1) == search_library) return 0;
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1);
  return 1;
}

// If pushdown.store.record is loaded, it finishes its records of this script.
void close_records(lua_State* L, const char* status, const std::string& message) {
  const int top = lua_gettop(L);
  luaL_checkstack(L, 8, "closing the record of the run");
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "loaded");
  lua_getfield(L, -1, "pushdown.store.record");
  if (lua_istable(L, -1)) {
    lua_getfield(L, -1, "close");
    lua_pushstring(L, status);
    lua_pushlstring(L, message.data(), message.size());
    // A record that cannot be written must not change how the script ends.
    if (message.empty()) lua_pop(L, 1), lua_pushnil(L);
    static_cast<void>(lua_pcall(L, 2, 0, 0));
  }
  lua_settop(L, top);
}

// tostring, and so print and the prompt, write integers with all digits: a printed seed is the
// seed. Lua's own has 14 digits.
void write_whole_integers(lua_State* L) {
  constexpr const char* kText = R"(
local plain, format, type = tostring, string.format, type
function tostring(...)
  local value = ...
  local whole = type(value) == 'number' and value % 1 == 0 and value >= -2^53 and value <= 2^53
  if whole and (value >= 1e14 or value <= -1e14) then return format('%.0f', value) end
  return plain(...)
end)";
  if (luaL_loadbuffer(L, kText, std::strlen(kText), "=tostring") != 0) lua_error(L);
  lua_call(L, 0, 0);
}

}  // namespace

Interpreter::Interpreter(SessionChoices choices)
    : L_(luaL_newstate()), choices_(std::move(choices)) {
  if (!L_) throw std::runtime_error("not enough memory for a Lua state");
  keep_freed_memory();
  luaL_openlibs(L_);
  write_whole_integers(L_);
  watch_interrupts(L_, add_traceback);
  note_scripts(L_);
  prepare_globals();
}

Interpreter::~Interpreter() { lua_close(L_); }

void Interpreter::prepare_globals() {
  const auto push_method = [this](lua_CFunction f) {
    lua_pushlightuserdata(L_, this);
    lua_pushcclosure(L_, f, 1);
  };
  lua_createtable(L_, 0, 2);
  push_method(index_globals);
  lua_setfield(L_, -2, "__index");
  lua_pushcfunction(L_, assign_globals);
  lua_setfield(L_, -2, "__newindex");
  lua_pushvalue(L_, LUA_GLOBALSINDEX);
  lua_insert(L_, -2);
  lua_setmetatable(L_, -2);
  lua_pop(L_, 1);

  lua_getglobal(L_, "package");
  lua_getfield(L_, -1, "preload");
  push_method(open_module);
  lua_setfield(L_, -2, "pushdown");
  lua_getfield(L_, -2, "loaders");
  for (auto i = static_cast<int>(lua_objlen(L_, -1)); i >= 2; --i) {
    lua_rawgeti(L_, -1, i);
    lua_rawseti(L_, -2, i + 1);
  }
  lua_pushcfunction(L_, search_library);
  lua_rawseti(L_, -2, 2);
  lua_pop(L_, 3);

  lua_getglobal(L_, "os");
  lua_pushcfunction(L_, exit_process);
  lua_setfield(L_, -2, "exit");
  lua_pop(L_, 1);

  lua_pushcfunction(L_, show_help);
  lua_setglobal(L_, "help");
  protect_globals(L_);
}

int Interpreter::index_globals(lua_State* L) {
  const char* name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
  if (std::strcmp(name, "pd") == 0) {
    lua_getglobal(L, "require");
    lua_pushliteral(L, "pushdown");
    lua_call(L, 1, 1);
    lua_pushvalue(L, -1);
    lua_setglobal(L, "pd");
    return 1;
  }
  if (accessor(L).in_file) return luaL_error(L, "undeclared global '%s' is read", name);
  if (is_earlier_value(name))
    return luaL_error(
        L, "there is no value %s: _ is the last value, and _1 to _9 are those before it", name);
  lua_pushnil(L);
  return 1;
}

int Interpreter::assign_globals(lua_State* L) {
  const Accessor from = accessor(L);
  if (from.in_file && !from.main_chunk && lua_type(L, 2) == LUA_TSTRING)
    return luaL_error(L,
                      "undeclared global '%s' is assigned in a function; make it local, or declare "
                      "it in the main chunk",
                      lua_tostring(L, 2));
  lua_rawset(L, 1);
  return 0;
}

int Interpreter::open_module(lua_State* L) {
  auto* self = interpreter_of(L);
  return guarded(L, [&] {
    lua_pushcfunction(L, self->core_.open_function());
    lua_pushliteral(L, "pushdown");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, "session");
    lua_newtable(L);
    const SessionChoices& given = self->choices_;
    const auto set = [L](const char* name, auto push) {
      push();
      lua_setfield(L, -2, name);
    };
    if (given.device) set("device", [&] { lua_pushstring(L, given.device->c_str()); });
    if (given.log_level) set("log_level", [&] { lua_pushstring(L, given.log_level->c_str()); });
    if (given.threads) set("threads", [&] { lua_pushinteger(L, *given.threads); });
    if (given.seed) set("seed", [&] { lua_pushnumber(L, *given.seed); });
    lua_call(L, 1, 0);
    return 1;
  });
}

// help(...) is a Lua module of the library.
int Interpreter::show_help(lua_State* L) {
  const int count = lua_gettop(L);
  lua_getglobal(L, "pd");
  lua_getfield(L, -1, "help");
  lua_remove(L, -2);
  lua_insert(L, 1);
  lua_call(L, count, 0);
  return 0;
}

int Interpreter::exit_process(lua_State* L) {
  const int status = lua_isboolean(L, 1) ? (lua_toboolean(L, 1) ? 0 : 1)
                                         : static_cast<int>(luaL_optinteger(L, 1, 0)) & 0xFF;
  close_records(L, status == 0 ? "done" : "failed",
                status == 0 ? "" : "os.exit(" + std::to_string(status) + ")");
  leave(status);
}

void Interpreter::end_records(const Outcome& outcome) {
  const char* status = outcome.status == Status::ok            ? "done"
                       : outcome.status == Status::interrupted ? "interrupted"
                                                               : "failed";
  close_records(L_, status, outcome.error);
}

Interpreter::Outcome Interpreter::compile(std::string_view text, const char* chunk_name) {
  const std::string name(chunk_name[0] == '@' || chunk_name[0] == '=' ? chunk_name + 1
                                                                      : chunk_name);
  text = code_of(text);
  if (text.starts_with('\033'))
    return {Status::error, name + ": this is compiled Lua; only source text can be run"};
  if (const auto found = find_invalid_utf8(text)) {
    const auto place = *found;
    const auto before = text.substr(0, place);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const auto line_start = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
    return {Status::error, name + ":" + std::to_string(line) + ": the text is not UTF-8 (" +
                               describe_byte(text.substr(line_start), place - line_start) +
                               " of the line)"};
  }
  if (luaL_loadbufferx(L_, text.data(), text.size(), chunk_name, "t") == 0) return {};
  const char* message = lua_tostring(L_, -1);
  Outcome outcome{Status::error, message ? message : "the text cannot be compiled"};
  lua_pop(L_, 1);
  return outcome;
}

Interpreter::Outcome Interpreter::compile_file(const std::string& path) {
  const bool standard_input = path == "-";
  std::string text;
  if (!read_script(L_, path, text))
    return {Status::error, "cannot read '" + path + "': " + std::strerror(errno)};
  return compile(text, standard_input ? "=stdin" : ("@" + path).c_str());
}

Interpreter::Outcome Interpreter::call(int arguments, int results) {
  const int base = lua_gettop(L_) - arguments;
  lua_pushcfunction(L_, add_traceback);
  lua_insert(L_, base);
  enter_lua(L_);
  const int status = lua_pcall(L_, arguments, results, base);
  leave_lua(L_);
  lua_remove(L_, base);
  if (status == 0) return {};
  std::size_t size = 0;
  const char* message = lua_tolstring(L_, -1, &size);
  Outcome outcome{take_interrupt() ? Status::interrupted : Status::error,
                  message ? std::string(message, size) : "error"};
  lua_settop(L_, base - 1);
  return outcome;
}

Interpreter::Outcome Interpreter::run_text(std::string_view text, const char* chunk_name,
                                           const std::vector<std::string>& arguments) {
  auto outcome = compile(text, chunk_name);
  return outcome.status == Status::ok ? call_with(arguments) : outcome;
}

Interpreter::Outcome Interpreter::run_file(const std::string& path,
                                           const std::vector<std::string>& arguments) {
  auto outcome = compile_file(path);
  return outcome.status == Status::ok ? call_with(arguments) : outcome;
}

Interpreter::Outcome Interpreter::call_with(const std::vector<std::string>& arguments) {
  luaL_checkstack(L_, static_cast<int>(arguments.size()), "too many arguments");
  for (const auto& argument : arguments) lua_pushlstring(L_, argument.data(), argument.size());
  return call(static_cast<int>(arguments.size()), 0);
}

Interpreter::Outcome Interpreter::require(const std::string& module) {
  lua_getglobal(L_, "require");
  lua_pushstring(L_, module.c_str());
  auto outcome = call(1, 1);
  if (outcome.status != Status::ok) return outcome;
  const auto dot = module.rfind('.');
  const std::string name = dot == module.npos ? module : module.substr(dot + 1);
  if (name == "pushdown")
    lua_pop(L_, 1);  // already there as `pd`
  else
    lua_setglobal(L_, name.c_str());
  return {};
}

Interpreter::Outcome Interpreter::load_module() { return run_text("local _ = pd", kPromptChunk); }

std::string Interpreter::with_suggestion(const std::string& message) {
  const auto first = message.substr(0, message.find('\n'));
  if (first.find("(a nil value)") == first.npos && first.find("undeclared global") == first.npos)
    return message;
  const int top = lua_gettop(L_);
  std::string result = message;
  lua_getglobal(L_, "require");
  lua_pushliteral(L_, "pushdown.prompt.entry");
  if (lua_pcall(L_, 1, 1, 0) == 0) {
    lua_getfield(L_, -1, "suggestion");
    lua_pushlstring(L_, first.data(), first.size());
    if (lua_pcall(L_, 1, 1, 0) == 0 && lua_isstring(L_, -1))
      result.insert(first.size(), std::string("; ") + lua_tostring(L_, -1));
  }
  lua_settop(L_, top);
  return result;
}

void Interpreter::set_jit(bool on) {
  luaJIT_setmode(L_, 0, LUAJIT_MODE_ENGINE | (on ? LUAJIT_MODE_ON : LUAJIT_MODE_OFF));
  if (!on) luaJIT_setmode(L_, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_FLUSH);
}

void leave(int status) {
  set_terminal(TerminalMode::found);
  errno = 0;
  const bool lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  const std::string reason = errno != 0 ? std::string(": ") + std::strerror(errno) : "";
  if (ending_signal() != 0) {
    status = status_of_signal(ending_signal());
  } else if (lost && status == 0) {
    std::fprintf(stderr, "error: standard output could not be written%s\n", reason.c_str());
    status = 1;
  }
  std::fflush(nullptr);
  _exit(status);
}

}  // namespace pushdown
