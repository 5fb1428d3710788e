// The program `pushdown`: the command line, scripts and the prompt. The module pushdown.so has
// everything else. This program does not link it, so that it starts at once.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/nearest.h"
#include "bindings/session/input_path.h"
#include "bindings/shell/command_line.h"
#include "bindings/shell/interpreter.h"
#include "bindings/shell/interrupt.h"
#include "bindings/shell/repl.h"
#include "bindings/shell/stack_size.h"
#include "bindings/shell/terminal_mode.h"

namespace pushdown {
namespace {

// The text of --version after the version: the device support of the build, and the devices.
constexpr const char* kVersionCommand = "io.write(require('pushdown').device.text())";
// The end of the text of --help.
constexpr const char* kHelpCommand =
    "io.write(require('pushdown.commands.shared.command').overview())";

// Returns the names of the commands, such as `runs`: the files of scripts/lib/commands. Scripts of
// these names need a path, such as ./runs.
std::vector<std::string> command_names(const Interpreter& interpreter) {
  std::vector<std::string> names;
  std::error_code ignored;
  const auto folder = interpreter.core().root() / "scripts" / "lib" / "commands";
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".lua") names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

std::string command_text(const std::vector<std::string>& commands, const std::string& word) {
  const bool known = std::binary_search(commands.begin(), commands.end(), word);
  return known ? "os.exit(require('pushdown.commands." + word + "').run{...})" : "";
}

// Looks for a script that is not a file here among those of the program, as `:run` does, and makes
// arg[0] its path.
constexpr const char* kFindCommand =
    "local path, problem = require('pushdown.files').script(arg[0]) "
    "arg[0] = path or error(problem, 0)";

// The kernel kills this process as soon as its parent has ended for any reason.
void exit_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() == parent) return;
  print_error("--exit-with-parent: the parent is process " + std::to_string(::getppid()) +
              " by now, not " + std::to_string(parent));
  leave(1);
}

// If one of the descriptors 0 to 2 is closed, the next opened file would get its number, and prints
// would go into that file. A null device takes its place. Using it is still an error, because it
// cannot be written (1, 2) or read (0).
void fill_standard_descriptors() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(file, F_GETFD) < 0)
      static_cast<void>(::open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

// arg[0] is the script, arg[1..] its arguments, and arg[-1], ... the words before it, as in Lua.
void set_arg(lua_State* L, int count, char** words, std::size_t script_words) {
  const int script = count - static_cast<int>(script_words);
  lua_createtable(L, count, count);
  for (int i = 0; i < count; ++i) {
    lua_pushstring(L, words[i]);
    lua_rawseti(L, -2, script_words > 0 ? i - script : i);
  }
  lua_setglobal(L, "arg");
}

std::string script_of_arg(lua_State* L) {
  lua_getglobal(L, "arg");
  lua_rawgeti(L, -1, 0);
  const char* path = lua_tostring(L, -1);
  std::string result = path != nullptr ? path : "";
  lua_pop(L, 2);
  return result;
}

// Ends run() with this status. The Lua state is closed on the way, so that incomplete files are
// removed.
struct Leaving {
  int status;
};

// Reports an error and throws Leaving. For an interrupt, it prints the position in the user's
// script, but in a subcommand not the position in the library.
void require_success(Interpreter& interpreter, const Interpreter::Outcome& outcome,
                     const std::string& subcommand = "") {
  if (outcome.status == Interpreter::Status::ok) return;
  const bool interrupted = outcome.status == Interpreter::Status::interrupted;
  if (ending_signal() == SIGPIPE)
    ;  // nobody reads the output any more
  else if (interrupted)
    print_interrupted(subcommand.empty() ? outcome.error
                                         : "pushdown " + subcommand + ": interrupted");
  else
    print_error(interpreter.with_suggestion(outcome.error));
  interpreter.end_records(outcome);
  throw Leaving{interrupted ? 130 : 1};
}

int run(int count, char** words) {
  const CommandLine line = parse_command_line(count, words);
  // Another program started this one (scripts/lib/store/record.lua) and shows each line at once.
  if (std::getenv("PUSHDOWN_RUN_LIST") != nullptr) std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  if (line.parent > 0) exit_with(line.parent);
  if (line.version) {
    std::puts("pushdown " PUSHDOWN_VERSION);
    std::fflush(stdout);  // even if the module fails
    Interpreter interpreter({});
    require_success(interpreter, interpreter.run_text(kVersionCommand, "=--version"));
    return 0;
  }
  if (line.help) {
    std::fputs(options_text().c_str(), stdout);
    std::fflush(stdout);
    Interpreter interpreter({});
    require_success(interpreter, interpreter.run_text(kHelpCommand, "=--help"));
    return 0;
  }
  const bool batch = !line.texts.empty() || !line.script.empty();
  const bool prompt = line.prompt || !batch;
  const bool needs_device = line.session.device && *line.session.device != "cpu";
  Interpreter interpreter(line.session);
  watch_ends();
  lua_State* L = interpreter.state();
  set_arg(L, count, words, line.script.size());
  provide_show(L);
  interpreter.set_jit(line.jit.empty() ? batch : line.jit == "on");
  if (prompt) interpreter.core().start();
  if (needs_device) require_success(interpreter, interpreter.load_module());
  for (const auto& module : line.modules) require_success(interpreter, interpreter.require(module));
  for (const auto& text : line.texts)
    require_success(interpreter, interpreter.run_text(text, "=-e"));
  const bool command = !line.script.empty() && !line.only_script;
  const auto commands =
      line.script.empty() ? std::vector<std::string>() : command_names(interpreter);
  const std::string text = command ? command_text(commands, line.script[0]) : "";
  if (!text.empty()) {
    const std::vector<std::string> words(line.script.begin() + 1, line.script.end());
    const std::string chunk = "=" + line.script[0];
    require_success(interpreter, interpreter.run_text(text, chunk.c_str(), words), line.script[0]);
    return 0;
  }
  if (!line.script.empty()) {
    const std::vector<std::string> arguments(line.script.begin() + 1, line.script.end());
    std::error_code ignored;
    std::string path = line.script[0];
    // A folder may have the name of a paper, such as runs/nspda from within runs.
    const bool is_folder = std::filesystem::is_directory(input_path(path), ignored);
    const bool is_here =
        path == "-" || (!is_folder && std::filesystem::exists(input_path(path), ignored));
    Interpreter::Outcome outcome;
    if (!is_here) outcome = interpreter.run_text(kFindCommand, kPromptChunk);
    if (outcome.status == Interpreter::Status::ok) {
      if (!is_here) path = script_of_arg(L);
      outcome = interpreter.run_file(path, arguments);
    } else if (is_folder) {
      outcome = interpreter.run_file(path, arguments);
    } else if (const auto near = nearest_names(path, commands); !near.empty()) {
      outcome.error += "; did you mean the command " + near + "?";
    }
    if (!prompt)
      require_success(interpreter, outcome);
    else if (outcome.status != Interpreter::Status::ok)
      print_error(outcome.error);
    interpreter.end_records(outcome);
  }
  interpreter.end_records({});
  if (!prompt) return 0;
  if (batch && line.jit.empty()) interpreter.set_jit(false);
  const int status = run_prompt(interpreter);
  interpreter.end_records({});
  return status;
}

std::terminate_handler usual_end = nullptr;

// Memory can also lack where nothing catches the error: in the initialization of a library, or in a
// thread.
void end_program() {
  set_terminal(TerminalMode::found);
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    constexpr std::string_view kText = "error: not enough memory\n";
    const auto ignored = ::write(STDERR_FILENO, kText.data(), kText.size());
    static_cast<void>(ignored);
    _exit(1);
  } catch (...) {
  }
  usual_end();
}

}  // namespace
}  // namespace pushdown

int main(int count, char** words) {
  pushdown::fill_standard_descriptors();
  pushdown::usual_end = std::set_terminate(pushdown::end_program);
  int status = 1;
  try {
    pushdown::require_stack();
    status = pushdown::run(count, words);
  } catch (const pushdown::Leaving& leaving) {
    status = leaving.status;
  } catch (const std::bad_alloc&) {
    pushdown::print_error("not enough memory");
  } catch (const std::exception& error) {
    pushdown::print_error(error.what());
  }
  pushdown::leave(status);
}
