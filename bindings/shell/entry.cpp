#include "bindings/shell/entry.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <span>
#include <stdexcept>

#include "bindings/shell/locals.h"
#include "bindings/shell/script_files.h"
#include "bindings/shell/statements.h"

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

// Returns the text as a Lua string literal.
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
  if (topic.empty())
    return "require('pushdown.prompt.pager')(require('pushdown.prompt.entry').cheat_sheet())";
  return "help((function(topic) local f = loadstring('return ' .. topic, '=prompt') "
         "local ok, value = pcall(f or error) if ok and value ~= nil then return value end "
         "return topic end)(" +
         literal(topic) + "))";
}

// Returns whether the text compiles. Leaves nothing on the stack.
Interpreter::Outcome compiles(Interpreter& interpreter, const std::string& code) {
  auto outcome = interpreter.compile(code, kPromptChunk);
  if (outcome.status == Status::ok) lua_pop(interpreter.state(), 1);
  return outcome;
}

// Compiles statements, possibly none, followed by a call of the printer with the values of an
// expression. It is not `return f()`, because a tail call would lose the position in the prompt's
// text.
Interpreter::Outcome compile_value(Interpreter& interpreter, const std::string& statements,
                                   std::string expression) {
  expression.erase(expression.find_last_not_of(" \t\r\n;") + 1);
  // A statement that begins with a bracket could be the arguments of the text before it.
  const std::string call =
      (statements.empty() ? "(...)(" : statements + "do end (...)(") + expression;
  auto outcome = interpreter.compile(call + ")", kPromptChunk);
  if (outcome.status != Status::ok)  // it ends with a comment
    outcome = interpreter.compile(call + "\n)", kPromptChunk);
  return outcome;
}

// Compiles a text that consists of statements and an expression after them, if it does.
Interpreter::Outcome compile_split(Interpreter& interpreter, const std::string& code,
                                   std::size_t place) {
  const std::string statements = code.substr(0, place), expression = code.substr(place);
  auto outcome = compiles(interpreter, "return " + expression);
  if (outcome.status == Status::ok) outcome = compiles(interpreter, statements);
  if (outcome.status == Status::ok) outcome = compile_value(interpreter, statements, expression);
  return outcome;
}

// Returns whether an expression that begins there can be the last statement. If the whole text is
// correct Lua, its meaning must not change: then only a call can be, and only if the text before it
// cannot continue with it.
bool may_end_in_value(std::string_view code, const Outline::Start& start, bool correct) {
  return !correct || begins_with_name(code.substr(start.place)) ||
         (start.after_semicolon && code[start.place] == '(');
}

// Returns the starts at which the last expression may begin. It has fewer lines outside of brackets
// than this; without the limit a long block takes quadratic time.
std::span<const Outline::Start> last_starts(const Outline& outline) {
  constexpr std::size_t kMostStarts = 100;
  return std::span(outline.starts).last(std::min(outline.starts.size(), kMostStarts));
}

Interpreter::Outcome run_once(Interpreter& interpreter, lua_CFunction printer) {
  lua_State* L = interpreter.state();
  const int base = lua_gettop(L) - 1;  // below the function
  lua_pushcfunction(L, printer);
  auto outcome = interpreter.call(1, LUA_MULTRET);
  if (outcome.status == Status::ok && lua_gettop(L) > base) {  // of statements that end with return
    lua_pushcfunction(L, printer);
    lua_insert(L, base + 1);
    outcome = interpreter.call(lua_gettop(L) - base - 1, 0);
  }
  lua_settop(L, base);
  return outcome;
}

// A printer for all but the last of several runs.
int drop_values(lua_State* L) {
  keep_locals(L, 1);
  return 0;
}

// Returns "12.3 ms, processor 11.9 ms"; for several runs the median, the middle half and all times.
std::string timing_text(std::vector<double> seconds, std::clock_t processor_begin) {
  const double processor = static_cast<double>(std::clock() - processor_begin) / CLOCKS_PER_SEC;
  if (seconds.size() == 1) return time_text(seconds[0]) + ", processor " + time_text(processor);
  std::sort(seconds.begin(), seconds.end());
  const auto quantile = [&](double share) {
    const double place = share * static_cast<double>(seconds.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const auto above = std::min(below + 1, seconds.size() - 1);
    return seconds[below] +
           (place - static_cast<double>(below)) * (seconds[above] - seconds[below]);
  };
  const auto range = [&](double low, double high) {
    return time_text(quantile(low)) + " to " + time_text(quantile(high));
  };
  return "median " + time_text(quantile(0.5)) + " of " + std::to_string(seconds.size()) +
         ", middle half " + range(0.25, 0.75) + ", all " + range(0, 1) + "; processor " +
         time_text(processor / static_cast<double>(seconds.size())) + " each";
}

Entry leaving_entry() {
  Entry entry;
  entry.leaves = true;
  return entry;
}

// Code that acts on the prompt and leaves no trace in records.
Entry own_entry(const std::string& code) {
  Entry entry{code, true};
  entry.command = true;
  entry.noted = false;
  return entry;
}

// `:time statement` or `:time -n COUNT statement`.
Entry read_time(std::string_view rest) {
  constexpr const char* kUsage = "as in :time -n 20 pd.tensor.randn{1000, 1000}:sum()";
  constexpr int kMostTimes = 1000000;
  Entry entry;
  entry.timed = true;
  if (rest.starts_with("-n")) {
    rest = trimmed(rest.substr(2));
    const auto digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    const std::string count(rest.substr(0, digits));
    entry.times = count.empty() || count.size() > 7 ? 0 : std::stoi(count);
    if (entry.times < 1 || entry.times > kMostTimes)
      throw std::invalid_argument(std::string(":time -n needs a count from 1 to 1000000, ") +
                                  kUsage);
    rest = trimmed(rest.substr(digits));
  }
  if (rest.empty()) throw std::invalid_argument(std::string(":time needs a statement, ") + kUsage);
  entry.code = rest;
  entry.silent = rest.ends_with(';');
  return entry;
}

// A call of a function of the library.
Entry prompt_call(const std::string& function, const std::vector<std::string_view>& texts) {
  std::string code = "require('pushdown.prompt." + function + "(";
  for (std::size_t i = 0; i < texts.size(); ++i) code += (i > 0 ? ", " : "") + literal(texts[i]);
  return own_entry(code + ")");
}

// The commands of the shell are here, and all others in pushdown.prompt.commands, which also
// refuses unknown ones.
Entry read_command(std::string_view text) {
  const auto name_end = std::min(text.find_first_of(" \t\n"), text.size());
  const std::string name(text.substr(1, name_end - 1));
  const auto rest = trimmed(text.substr(name_end));
  if (name == "time") return read_time(rest);
  if (name == "quit" || name == "exit" || name == "q") return leaving_entry();
  if (name == "help") return own_entry(help_call(rest));
  Entry entry = prompt_call("commands').call", {name, rest});
  entry.noted = name == "run" || name == "edit";
  return entry;
}

bool global_is(lua_State* L, const char* name, bool (*fits)(lua_State*)) {
  lua_pushstring(L, name);
  lua_rawget(L, LUA_GLOBALSINDEX);
  const bool result = fits(L);
  lua_pop(L, 1);
  return result;
}

// `help 'words'` and `help(x)`, unless the user has defined that name.
bool is_help(lua_State* L, std::string_view text) {
  constexpr std::string_view kName = "help";
  if (!text.starts_with(kName) || text.find(';') != text.npos || text.find('\n') != text.npos)
    return false;
  const auto rest = trimmed(text.substr(kName.size()));
  return !rest.empty() && std::string_view("('\"[").find(rest[0]) != std::string_view::npos &&
         global_is(L, "help", [](lua_State* state) { return lua_iscfunction(state, -1) != 0; });
}

// `quit` and `exit()`, unless the user has defined that name.
bool is_farewell(lua_State* L, std::string_view text) {
  for (const char* word : {"quit", "exit"}) {
    if (!text.starts_with(word)) continue;
    const auto rest = trimmed(text.substr(4));
    if (rest.empty() || rest == "()" || rest == ";" || rest == "();")
      return global_is(L, word, [](lua_State* state) { return lua_isnil(state, -1); });
  }
  return false;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::vector<std::string> entries_of(Interpreter& interpreter, const std::string& text) {
  using Kind = SessionLine::Kind;
  if (!is_session(text)) return {text};
  std::vector<std::string> entries;
  for (const auto& [kind, line] : session_lines(text)) {
    if (kind == Kind::entry) {
      entries.emplace_back(line);
    } else if (!entries.empty() &&
               (kind == Kind::continuation || is_open(interpreter, entries.back()))) {
      entries.back() += '\n';
      entries.back() += line;
    }
  }
  return entries;
}

bool is_open(Interpreter& interpreter, const std::string& text) {
  bool incomplete = false;
  try {
    auto entry = read_entry(interpreter.state(), text);
    const auto outcome = compile_entry(interpreter, entry, incomplete);
    if (outcome.status == Status::ok) lua_pop(interpreter.state(), 1);
  } catch (const std::invalid_argument&) {
  }
  return incomplete;
}

Entry read_entry(lua_State* L, std::string_view text) {
  const auto inner = trimmed(text);
  if (inner.starts_with("??")) return prompt_call("source').show", {trimmed(inner.substr(2))});
  if (inner.starts_with('?')) return own_entry(help_call(trimmed(inner.substr(1))));
  if (inner.starts_with('!')) {
    Entry entry = prompt_call("commands').shell", {trimmed(inner.substr(1))});
    entry.noted = true;
    return entry;
  }
  if (inner.starts_with(':')) return read_command(inner);
  if (inner == "help" &&
      global_is(L, "help", [](lua_State* state) { return lua_iscfunction(state, -1) != 0; }))
    return own_entry("help()");
  if (is_farewell(L, inner)) return leaving_entry();
  Entry entry{std::string(inner.starts_with('=') ? inner.substr(1) : text), inner.ends_with(';')};
  entry.noted = !is_help(L, inner);
  return entry;
}

Interpreter::Outcome compile_entry(Interpreter& interpreter, Entry& entry, bool& incomplete) {
  incomplete = false;
  entry.value = 0;
  const Outline outline = outline_of(entry.code);
  announce_locals(interpreter.state(), outline.locals);
  auto outcome = compiles(interpreter, "return " + entry.code);
  if (outcome.status == Status::ok) return compile_value(interpreter, "", entry.code);
  const bool early = ends_early(outcome.error);
  const auto whole = compiles(interpreter, entry.code);
  for (const auto& start : last_starts(outline)) {
    if (!may_end_in_value(entry.code, start, whole.status == Status::ok)) continue;
    outcome = compile_split(interpreter, entry.code, start.place);
    entry.value = start.place;
    if (outcome.status == Status::ok) return outcome;
  }
  entry.value = std::string::npos;
  // Keeps the locals at the end of the entry. An entry that ends with `return` passes its values
  // instead.
  outcome = interpreter.compile(entry.code + "\ndo end (...)()", kPromptChunk);
  if (outcome.status == Status::ok) return outcome;
  outcome = interpreter.compile(entry.code, kPromptChunk);
  incomplete = outcome.status != Status::ok && (early || ends_early(outcome.error));
  return outcome;
}

Interpreter::Outcome run_entry(Interpreter& interpreter, const Entry& entry,
                               lua_CFunction printer) {
  lua_State* L = interpreter.state();
  const auto lost = lost_locals(L);
  if (entry.silent || entry.times > 1) printer = keep_values;
  const auto first_printer = entry.times > 1 ? drop_values : printer;
  std::vector<double> seconds;
  const auto processor = std::clock();
  Interpreter::Outcome outcome;
  for (int i = 0; i < entry.times && outcome.status == Status::ok; ++i) {
    lua_pushvalue(L, 1);
    const auto begin = std::chrono::steady_clock::now();
    outcome = run_once(interpreter, i + 1 < entry.times ? first_printer : printer);
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  lua_settop(L, 0);
  if (entry.timed && outcome.status == Status::ok)
    std::printf("%s\n", timing_text(std::move(seconds), processor).c_str());
  std::fflush(stdout);
  for (const auto& name : lost)
    std::fprintf(stderr,
                 "'%s' keeps its meaning: a local variable of that name ends with its entry\n",
                 name.c_str());
  return outcome;
}

int keep_values(lua_State* L) {
  keep_locals(L, 1);
  if (lua_isnoneornil(L, 1)) return 0;
  for (int i = kEarlierValues; i >= 0; --i) {
    const std::string name = i == 0 ? "_" : "_" + std::to_string(i);
    const std::string newer = i == 1 ? "_" : "_" + std::to_string(i - 1);
    lua_pushstring(L, name.c_str());
    if (i == 0) {
      lua_pushvalue(L, 1);
    } else {
      lua_pushstring(L, newer.c_str());
      lua_rawget(L, LUA_GLOBALSINDEX);
    }
    lua_rawset(L, LUA_GLOBALSINDEX);
  }
  return 0;
}

std::string script_of(lua_State* L, const Entry& entry) {
  if (!entry.noted) return "";
  if (entry.command) return entry.code;
  auto kept = lost_locals(L);
  kept.emplace_back("pd");
  // A script goes on after an entry that returns its value.
  const auto returned =
      entry.value == std::string::npos ? outline_of(entry.code).last_return : std::string::npos;
  const auto end_of_text = std::min(entry.value, returned);
  std::string text = without_locals(entry.code.substr(0, end_of_text), kept);
  if (end_of_text == std::string::npos) return text;
  const auto begin =
      end_of_text + (returned == end_of_text ? std::string_view("return").size() : 0);
  std::string value(trimmed(entry.code.substr(begin)));
  value.erase(value.find_last_not_of(" \t\r\n;") + 1);
  if (value.empty() || value.starts_with("--")) return text;
  // The end of an expression may be a comment.
  const std::string end = value.find("--") == value.npos ? "" : "\n";
  return text + (entry.silent ? "_ = " + value : "show(" + value + end + ")");
}

namespace {

// Adds an entry to the list in the registry.
void log_entry(lua_State* L, std::string_view text, const std::string& script, bool failed) {
  luaL_checkstack(L, 4, "keeping an entry");
  push_registry_list(L, kEntriesKey);
  lua_createtable(L, 0, 3);
  set_field(L, "text", text);
  set_field(L, "script", script);
  lua_pushboolean(L, failed ? 1 : 0);
  lua_setfield(L, -2, "failed");
  lua_rawseti(L, -2, static_cast<int>(lua_objlen(L, -2)) + 1);
  lua_pop(L, 1);
}

}  // namespace

Taken take_entry(Interpreter& interpreter, const std::string& text, lua_CFunction printer, bool end,
                 const std::function<void()>& begins) {
  lua_State* L = interpreter.state();
  Taken taken;
  auto& outcome = taken.outcome;
  Entry entry;
  std::string script;
  try {
    entry = read_entry(L, text);
    outcome = compile_entry(interpreter, entry, taken.incomplete);
    taken.incomplete = taken.incomplete && !end;
    taken.leaves = entry.leaves;
    if (taken.incomplete) return taken;
  } catch (const std::invalid_argument& error) {
    outcome = {Status::error, error.what()};
  }
  begins();
  if (taken.leaves) return lua_settop(L, 0), taken;
  if (outcome.status == Status::ok) {
    script = script_of(L, entry);
    if (entry.noted) note_entry(L, entry.code);
    outcome = run_entry(interpreter, entry, printer);
  }
  log_entry(L, trimmed(text), script, outcome.status != Status::ok);
  return taken;
}

}  // namespace pushdown
