#include "bindings/shell/entry.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace pushdown {
namespace {

using Status = Interpreter::Status;

bool ends_early(const std::string& error) { return error.find("near '<eof>'") != error.npos; }

std::string time_text(double seconds) {
  const char* units[] = {"s", "ms", "us"};
  int unit = 0;
  for (; unit < 2 && seconds < 1; ++unit) seconds *= 1000;
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %s", seconds, units[unit]);
  return text;
}

// The text as a Lua string literal.
std::string literal(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '\n') result += '\\';
    result += c == '\0' ? ' ' : c;
  }
  return result + "\"";
}

// Turns `? topic` into a call of help: with its value if the topic is an expression that has one.
std::string help_call(std::string_view topic) {
  if (topic.empty()) return "io.write(require('pushdown.prompt').cheat_sheet())";
  return "help((function(topic) local f = loadstring('return ' .. topic, '=prompt') "
         "local ok, value = pcall(f or error) if ok and value ~= nil then return value end "
         "return topic end)(" +
         literal(topic) + "))";
}

Entry read_command(std::string_view text) {
  const auto name_end = std::min(text.find_first_of(" \t\n"), text.size());
  const std::string name(text.substr(1, name_end - 1));
  const auto rest = trimmed(text.substr(name_end));
  if (name == "time") {
    if (rest.empty())
      throw std::invalid_argument(
          ":time needs a statement, as in :time pd.tensor.randn{1000, 1000}:sum()");
    return {std::string(rest), rest.ends_with(';'), true};
  }
  if (name == "run") return {"require('pushdown.prompt').run(" + literal(rest) + ")", true};
  throw std::invalid_argument(":" + name +
                              " is no command; there are :time and :run, and ? shows more");
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

Entry read_entry(std::string_view text) {
  const auto inner = trimmed(text);
  if (inner.starts_with('?')) return {help_call(trimmed(inner.substr(1))), true};
  if (inner.starts_with(':')) return read_command(inner);
  return {std::string(inner.starts_with('=') ? inner.substr(1) : text), inner.ends_with(';')};
}

Interpreter::Outcome compile_entry(Interpreter& interpreter, const Entry& entry, bool& incomplete) {
  incomplete = false;
  auto outcome = interpreter.compile("return " + entry.code, kPromptChunk);
  if (outcome.status == Status::ok) {
    // Not run as `return f()`: a tail call would lose the position in the prompt's text.
    lua_pop(interpreter.state(), 1);
    std::string code = entry.code;
    code.erase(code.find_last_not_of(" \t\r\n;") + 1);
    outcome = interpreter.compile("(...)(" + code + ")", kPromptChunk);
    if (outcome.status != Status::ok)  // it ends in a comment
      outcome = interpreter.compile("(...)(" + code + "\n)", kPromptChunk);
    return outcome;
  }
  const bool early = ends_early(outcome.error);
  outcome = interpreter.compile(entry.code, kPromptChunk);
  incomplete = outcome.status != Status::ok && (early || ends_early(outcome.error));
  return outcome;
}

Interpreter::Outcome run_entry(Interpreter& interpreter, lua_CFunction printer) {
  lua_State* L = interpreter.state();
  lua_pushcfunction(L, printer);
  auto outcome = interpreter.call(1, LUA_MULTRET);
  if (outcome.status == Status::ok && lua_gettop(L) > 0) {  // of statements that end in return
    lua_pushcfunction(L, printer);
    lua_insert(L, 1);
    outcome = interpreter.call(lua_gettop(L) - 1, 0);
  }
  lua_settop(L, 0);
  return outcome;
}

int keep_values(lua_State* L) {
  if (lua_isnoneornil(L, 1)) return 0;
  lua_pushliteral(L, "_");
  lua_pushvalue(L, 1);
  lua_rawset(L, LUA_GLOBALSINDEX);
  return 0;
}

std::string Stopwatch::text() const {
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin_;
  const double processor = static_cast<double>(std::clock() - processor_begin_) / CLOCKS_PER_SEC;
  return time_text(seconds.count()) + ", processor " + time_text(processor);
}

}  // namespace pushdown
