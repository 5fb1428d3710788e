#include "bindings/shell/repl.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "bindings/binder/text.h"
#include "bindings/session/terminal.h"
#include "bindings/shell/completion.h"
#include "bindings/shell/echo.h"
#include "bindings/shell/editor.h"
#include "bindings/shell/entry.h"
#include "bindings/shell/interrupt.h"
#include "bindings/shell/show.h"

namespace pushdown {
namespace {

using Status = Interpreter::Status;

// Returns the text that may be shown: on a terminal without control characters and with lines
// broken at words.
std::string for_terminal(const std::string& text, int file) {
  const int columns = terminal_columns(file);
  return columns > 0 ? wrapped(without_controls(text), columns) : text;
}

// Replaces a picture by the text that the prompt shows for it.
void replace_picture(lua_State* L, int index) {
  if (!is_svg(L, index)) return;
  lua_getglobal(L, "require");
  lua_pushliteral(L, "pushdown.plot.picture");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "shown");
  lua_remove(L, -2);
  lua_pushvalue(L, index);
  lua_call(L, 1, 1);
  lua_replace(L, index);
}

// Prints all its arguments.
int print_values(lua_State* L) {
  keep_values(L);
  const int count = lua_gettop(L);
  if (count == 0) return 0;
  for (int i = 1; i <= count; ++i) replace_picture(L, i);
  const auto text = for_terminal(show_values(L), STDOUT_FILENO) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

class Prompt {
 public:
  explicit Prompt(Interpreter& interpreter)
      : interpreter_(interpreter),
        L_(interpreter.state()),
        editor_(make_editor({[this](auto text) { return complete(L_, text); },
                             [this](const auto& text) { return is_incomplete(text); }})) {
    if (editor_->interactive()) echo_in_readers(L_);
  }

  int run() {
    if (editor_->interactive())
      std::printf("Pushdown %s: help() for help, Ctrl-D to leave\n", PUSHDOWN_VERSION);
    for (;;) {
      const auto reading = editor_->read(!entry_.empty());
      if (reading.event == Editor::Event::end || ending_signal() != 0) break;
      if (reading.event == Editor::Event::interrupted) {
        entry_.clear();
        continue;
      }
      if (!entry_.empty()) entry_ += '\n';
      entry_ += reading.text;
      if (!take_entries(false)) break;
    }
    if (!entry_.empty() && ending_signal() == 0) take_entries(true);
    return editor_->interactive() ? 0 : status_;
  }

 private:
  bool is_incomplete(const std::string& text) {
    const auto texts = entries_of(interpreter_, text);
    return !texts.empty() && is_open(interpreter_, texts.back());
  }

  // Runs the complete entries; at the `end` of the input all must be complete. Returns false for
  // leaving.
  bool take_entries(bool end) {
    const auto given = std::exchange(entry_, "");
    const auto texts = entries_of(interpreter_, given);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const bool last = i + 1 == texts.size();
      const auto taken = take(texts[i], end || !last);
      if (taken == Ending::left || ending_signal() != 0) return false;
      if (taken == Ending::failed) break;  // the rest of a copied session depends on it
      // One entry of a copied session keeps its prompt, so that those of its next lines are left
      // out.
      if (taken == Ending::incomplete) entry_ = texts.size() == 1 ? given : texts[i];
    }
    return true;
  }

  enum class Ending { done, failed, incomplete, left };

  Ending take(const std::string& given, bool end) {
    const auto text = trimmed(given);
    if (text.empty()) return Ending::done;
    const auto taken = take_entry(interpreter_, given, print_values, end,
                                  [&] { editor_->remember(std::string(text)); });
    if (taken.leaves) return Ending::left;
    if (taken.incomplete) return Ending::incomplete;
    std::fflush(stdout);
    report(taken.outcome);
    return taken.outcome.status == Status::ok ? Ending::done : Ending::failed;
  }

  void report(const Interpreter::Outcome& outcome) {
    if (outcome.status == Status::ok) return;
    const bool stopped = outcome.status == Status::interrupted;
    if (status_ != 130) status_ = stopped ? 130 : 1;
    if (ending_signal() == SIGPIPE)
      ;  // nobody reads the output any more
    else if (stopped)
      print_interrupted(outcome.error);
    else
      print_error(interpreter_.with_suggestion(outcome.error));
  }

  Interpreter& interpreter_;
  lua_State* L_;
  std::unique_ptr<Editor> editor_;
  std::string entry_;  // what plain lines have so far
  int status_ = 0;
};

}  // namespace

void print_error(const std::string& message) {
  std::fflush(stdout);
  constexpr std::string_view kWord = "error:";
  const bool color = use_color(STDERR_FILENO);
  const auto text = for_terminal(std::string(kWord) + " " + message, STDERR_FILENO);
  std::fprintf(stderr, "%s%s%s", color ? "\033[31m" : "", kWord.data(), color ? "\033[0m" : "");
  std::fwrite(text.data() + kWord.size(), 1, text.size() - kWord.size(), stderr);
  std::fputs("\n", stderr);
}

void print_interrupted(const std::string& message) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", without_controls(message.substr(0, message.find('\n'))).c_str());
}

void provide_show(lua_State* L) {
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "preload");
  lua_pushcfunction(L, [](lua_State* state) {
    lua_pushcfunction(state, print_values);
    return 1;
  });
  lua_setfield(L, -2, "pushdown.show");
  lua_pop(L, 2);
}

int run_prompt(Interpreter& interpreter) {
  lua_settop(interpreter.state(), 0);
  return Prompt(interpreter).run();
}

}  // namespace pushdown
