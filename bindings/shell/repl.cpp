#include "bindings/shell/repl.h"

#include <unistd.h>

#include <cstdio>
#include <stdexcept>

#include "bindings/shell/editor.h"
#include "bindings/shell/entry.h"
#include "bindings/shell/interrupt.h"
#include "bindings/shell/show.h"
#include "bindings/text.h"

namespace pushdown {
namespace {

using Status = Interpreter::Status;

// Prints all its arguments.
int print_values(lua_State* L) {
  if (lua_gettop(L) == 0) return 0;
  keep_values(L);
  const auto values = show_values(L);
  const auto text = (isatty(STDOUT_FILENO) != 0 ? without_controls(values) : values) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
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
      if (reading.event == Editor::Event::end || ending_signal() != 0) break;
      if (reading.event == Editor::Event::interrupted) {
        entry_.clear();
        continue;
      }
      if (!entry_.empty()) entry_ += '\n';
      entry_ += reading.line;
      take_entry(false);
      if (ending_signal() != 0) break;
    }
    if (!entry_.empty() && ending_signal() == 0) take_entry(true);
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
    const auto text = trimmed(entry_);
    if (text.empty()) return entry_.clear();
    Entry entry;
    try {
      entry = read_entry(entry_);
    } catch (const std::invalid_argument& error) {
      editor_->remember(std::string(text));
      entry_.clear();
      return report({Status::error, error.what()});
    }
    bool incomplete = false;
    auto outcome = compile_entry(interpreter_, entry, incomplete);
    if (outcome.status != Status::ok && incomplete && !end) return;
    editor_->remember(std::string(text));
    entry_.clear();
    const Stopwatch watch;
    if (outcome.status == Status::ok)
      outcome = run_entry(interpreter_, entry.silent ? keep_values : print_values);
    if (entry.timed && outcome.status == Status::ok) std::printf("%s\n", watch.text().c_str());
    std::fflush(stdout);
    report(outcome);
  }

  void report(const Interpreter::Outcome& outcome) {
    if (outcome.status == Status::ok) return;
    const bool stopped = outcome.status == Status::interrupted;
    if (status_ != 130) status_ = stopped ? 130 : 1;
    if (ending_signal() == SIGPIPE)
      ;  // nobody reads any more
    else if (stopped)
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
  const auto text = isatty(STDERR_FILENO) != 0 ? without_controls(message) : message;
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fputs("\n", stderr);
}

void print_interrupted(const std::string& message) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", without_controls(message.substr(0, message.find('\n'))).c_str());
}

int run_prompt(Interpreter& interpreter) {
  lua_settop(interpreter.state(), 0);
  return Prompt(interpreter).run();
}

}  // namespace pushdown
