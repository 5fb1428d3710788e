#include "bindings/shell/repl.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "bindings/shell/editor.h"
#include "bindings/shell/interrupt.h"
#include "bindings/shell/show.h"

namespace pushdown {
namespace {

using Status = Interpreter::Status;

bool ends_early(const std::string& error) { return error.find("near '<eof>'") != error.npos; }

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// Keeps the first of its arguments as the global _, unless it is nil.
void keep_value(lua_State* L) {
  if (lua_isnoneornil(L, 1)) return;
  lua_pushliteral(L, "_");
  lua_pushvalue(L, 1);
  lua_rawset(L, LUA_GLOBALSINDEX);
}

// Prints all its arguments: together if each has one line.
int print_values(lua_State* L) {
  const int count = lua_gettop(L);
  if (count == 0) return 0;
  keep_value(L);
  std::vector<std::string> texts;
  bool lines = false;
  for (int i = 1; i <= count; ++i) {
    texts.push_back(show_value(L, i));
    lines = lines || texts.back().find('\n') != std::string::npos || texts.back().size() > 60;
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) std::fputs(lines ? "\n" : "\t", stdout);
    std::fwrite(texts[i].data(), 1, texts[i].size(), stdout);
  }
  std::fputs("\n", stdout);
  return 0;
}

int ignore_values(lua_State* L) {
  keep_value(L);
  return 0;
}

// "12.3 ms"
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
  if (topic.empty()) return "io.write(require('pushdown.prompt').cheat_sheet());";
  const auto text = literal(topic);
  return "help((function(topic) local f = loadstring('return ' .. topic, '=prompt') "
         "local ok, value = pcall(f or error) if ok and value ~= nil then return value end "
         "return topic end)(" +
         text + "))";
}

class Prompt {
 public:
  explicit Prompt(Interpreter& interpreter)
      : interpreter_(interpreter),
        L_(interpreter.state()),
        editor_(make_editor([this](auto line) { return complete_line(line); })) {
    const bool color = editor_->interactive() && use_color(STDOUT_FILENO);
    first_ = color ? "\1\033[1;32m\1pd>\1\033[0m\1 " : "pd> ";
    next_ = "... ";
  }

  int run() {
    if (editor_->interactive())
      std::printf("Pushdown %s: help() for help, Ctrl-D to leave\n", PUSHDOWN_VERSION);
    for (;;) {
      const auto reading = editor_->read(entry_.empty() ? first_ : next_);
      if (reading.event == Editor::Event::end) break;
      if (reading.event == Editor::Event::interrupted) {
        entry_.clear();
        continue;
      }
      if (!entry_.empty()) entry_ += '\n';
      entry_ += reading.line;
      take_entry(false);
    }
    if (!entry_.empty()) take_entry(true);
    return editor_->interactive() ? 0 : status_;
  }

 private:
  Completion complete_line(std::string_view line) {
    if (entry_.empty()) return complete(L_, line);
    const std::size_t before = entry_.size() + 1;
    auto found = complete(L_, entry_ + "\n" + std::string(line));
    if (found.start < before) return {};  // it began in a line that cannot be changed any more
    found.start -= before;
    return found;
  }

  // Runs the entry once it is complete; at the `end` of the input it has to be.
  void take_entry(bool end) {
    auto text = trimmed(entry_);
    if (text.empty()) return entry_.clear();
    bool timed = false;
    std::string code = entry_;
    if (text.starts_with('?')) {
      code = help_call(trimmed(text.substr(1)));
    } else if (text.starts_with('=')) {
      code = std::string(text.substr(1));
    } else if (text.starts_with(':')) {
      const auto name_end = std::min(text.find_first_of(" \t\n"), text.size());
      const auto name = text.substr(1, name_end - 1);
      const auto rest = trimmed(text.substr(name_end));
      timed = name == "time" && !rest.empty();
      if (timed) {
        code = std::string(rest);
      } else if (name == "run") {
        code = "require('pushdown.prompt').run(" + literal(rest) + ");";
      } else {
        editor_->remember(std::string(text));
        print_error(name == "time"
                        ? ":time needs a statement, as in :time pd.tensor.randn{1000, 1000}:sum()"
                        : ":" + std::string(name) +
                              " is no command; there are :time and :run, and ? shows more");
        if (status_ != 130) status_ = 1;
        return entry_.clear();
      }
    }
    const bool silent = trimmed(code).ends_with(';');
    auto outcome = interpreter_.compile("return " + code, kPromptChunk);
    if (outcome.status == Status::ok) {
      // Not run as `return f()`: a tail call would lose the position in the prompt's text.
      lua_pop(L_, 1);
      code.erase(code.find_last_not_of(" \t\r\n;") + 1);
      outcome = interpreter_.compile("(...)(" + code + ")", kPromptChunk);
      if (outcome.status != Status::ok)  // it ends in a comment
        outcome = interpreter_.compile("(...)(" + code + "\n)", kPromptChunk);
    } else {
      const bool early = ends_early(outcome.error);
      outcome = interpreter_.compile(code, kPromptChunk);
      if (outcome.status != Status::ok && !end && (early || ends_early(outcome.error))) return;
    }
    editor_->remember(std::string(trimmed(entry_)));
    entry_.clear();
    const lua_CFunction printer = silent ? ignore_values : print_values;
    const auto begin = std::chrono::steady_clock::now();
    const auto processor_begin = std::clock();
    if (outcome.status == Status::ok) {
      lua_pushcfunction(L_, printer);
      outcome = interpreter_.call(1, LUA_MULTRET);
    }
    if (outcome.status == Status::ok && lua_gettop(L_) > 0) {  // of statements that end in return
      lua_pushcfunction(L_, printer);
      lua_insert(L_, 1);
      outcome = interpreter_.call(lua_gettop(L_) - 1, 0);
    }
    lua_settop(L_, 0);
    if (timed && outcome.status == Status::ok) {
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      const double processor = static_cast<double>(std::clock() - processor_begin) / CLOCKS_PER_SEC;
      std::printf("%s, processor %s\n", time_text(seconds.count()).c_str(),
                  time_text(processor).c_str());
    }
    std::fflush(stdout);
    report(outcome);
  }

  void report(const Interpreter::Outcome& outcome) {
    if (outcome.status == Status::ok) return;
    const bool stopped = outcome.status == Status::interrupted;
    if (status_ != 130) status_ = stopped ? 130 : 1;
    if (stopped)
      print_interrupted(outcome.error);
    else
      print_error(interpreter_.with_suggestion(outcome.error));
  }

  Interpreter& interpreter_;
  lua_State* L_;
  std::unique_ptr<Editor> editor_;
  std::string first_, next_, entry_;
  int status_ = 0;
};

}  // namespace

void print_error(const std::string& message) {
  std::fflush(stdout);
  const bool color = use_color(STDERR_FILENO);
  std::fprintf(stderr, "%serror:%s ", color ? "\033[31m" : "", color ? "\033[0m" : "");
  std::fwrite(message.data(), 1, message.size(), stderr);
  std::fputs("\n", stderr);
}

void print_interrupted(const std::string& message) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", message.substr(0, message.find('\n')).c_str());
}

int run_prompt(Interpreter& interpreter) {
  lua_settop(interpreter.state(), 0);
  return Prompt(interpreter).run();
}

}  // namespace pushdown
