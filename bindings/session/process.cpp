// pd.process: child processes for grids, and facts about the own process.
#include <poll.h>
#include <sched.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/interrupt.h"
#include "bindings/binder/options.h"
#include "bindings/binder/path.h"
#include "bindings/session/log.h"
#include "bindings/session/state.h"
#include "bindings/session/terminal.h"
#include "record/process.h"

namespace pushdown {

template <>
inline constexpr auto kClassName<Process> = "Process";
template <>
inline constexpr auto kClassName<ProcessPool> = "ProcessPool";
template <>
inline constexpr auto kClassName<FolderLock> = "FolderLock";

namespace {

namespace fs = std::filesystem;

constexpr double kGrace = 60;  // seconds in which a child can write its checkpoint

// Returns the pushdown executable that belongs to this module: in the build folder in the same
// folder, in an installation in bin, and in a Python package one folder further up.
std::string executable() {
  std::error_code ignored;
  for (const char* place : {".", "../../bin", "../../../bin"}) {
    const fs::path path = module_folder() / place / "pushdown";
    if (fs::is_regular_file(path, ignored)) return fs::canonical(path).string();
  }
  fail_environment("process.executable", "the program pushdown is not beside its module");
}

struct StartOptions : Command {
  std::string file;
  using Self = StartOptions;
  static OptionRows rows() {
    return declare<Self>({{"command", &Self::words, "program and arguments", required},
                          {"output", &Self::file, "file for its output"},
                          {"environment", &Self::environment, "further environment variables"},
                          {"lock", &Self::lock, "lock that the process also holds"}});
  }
};

std::shared_ptr<Process> start(ProcessPool& pool, StartOptions command) {
  check_path("process.start", "output", command.file);
  command.output = command.file;
  return pool.start(command);
}

void wait_for(lua_State* L, ProcessPool& pool, double seconds) {
  pool.wait(seconds, interrupt_check(L));
}

// After Ctrl-C no more Lua code runs, so this function stops the children.
Results supervise(lua_State* L, ProcessPool& pool, Any action) {
  lua_pushvalue(L, action.index);
  const bool done = try_lua(L, 0, 0);
  const auto count = pool.running();
  if (count > 0) {
    log_message("info", fmt::format("stopping {} process{} (Ctrl-C again: at once)", count,
                                    count == 1 ? "" : "es"));
    pool.stop(kGrace);
  }
  if (!done) lua_error(L);
  return {0};
}

Json poll(Process& process) {
  const auto ending = process.poll();
  if (!ending) return nullptr;
  return {{"code", ending->code}, {"signal", ending->signal}, {"text", describe(*ending)}};
}

void signal_process(Process& process, const std::string& name) {
  static const std::map<std::string, int> kSignals{
      {"interrupt", SIGINT}, {"terminate", SIGTERM}, {"kill", SIGKILL}};
  const auto found = kSignals.find(name);
  check(found != kSignals.end(), "process.signal",
        "the signal must be 'interrupt', 'terminate' or 'kill', got '{}'", name);
  process.signal(found->second);
}

std::shared_ptr<FolderLock> lock(const PathText& folder) { return FolderLock::take(folder); }
std::optional<bool> locked(const PathText& folder) { return FolderLock::held(folder); }
std::string lock_folder(const FolderLock& held) { return held.folder().string(); }
std::int64_t pid_of(const Process& process) { return process.pid(); }
std::int64_t own_pid() { return ::getpid(); }

std::string host() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

int stream_of(const std::string& name, const char* where) {
  static const std::map<std::string, int> kStreams{
      {"stdin", STDIN_FILENO}, {"stdout", STDOUT_FILENO}, {"stderr", STDERR_FILENO}};
  const auto found = kStreams.find(name);
  check(found != kStreams.end(), where,
        "the stream must be 'stdin', 'stdout' or 'stderr', got '{}'", name);
  return found->second;
}

std::optional<int> columns(const std::string& stream) {
  const int width = terminal_columns(stream_of(stream, "process.columns"));
  return width > 0 ? std::optional(width) : std::nullopt;
}

std::optional<int> rows(const std::string& stream) {
  const int height = terminal_rows(stream_of(stream, "process.rows"));
  return height > 0 ? std::optional(height) : std::nullopt;
}

// Keys arrive at once and are not shown while this object lives. Ctrl-C is a key, too.
class SingleKeys {
 public:
  SingleKeys() {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios mode = before_;
    mode.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    mode.c_cc[VMIN] = 1;
    mode.c_cc[VTIME] = 0;
    changed_ = ::tcsetattr(STDIN_FILENO, TCSADRAIN, &mode) == 0;
  }
  ~SingleKeys() {
    if (changed_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  }
  SingleKeys(const SingleKeys&) = delete;
  SingleKeys& operator=(const SingleKeys&) = delete;

 private:
  termios before_ = {};
  bool changed_ = false;
};

bool has_input(int milliseconds) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, milliseconds) > 0;
}

// Waits for a key. Returns its bytes: several for an arrow key.
std::optional<std::string> key(lua_State* L) {
  if (terminal_columns(STDIN_FILENO) == 0) return std::nullopt;
  const SingleKeys single;
  constexpr int kWait = 200, kSoon = 20;  // milliseconds
  while (!has_input(kWait)) stop_if_interrupted(L);
  std::string bytes;
  char c = 0;
  while (bytes.size() < 8 && (bytes.empty() || has_input(kSoon)) &&
         ::read(STDIN_FILENO, &c, 1) == 1) {
    bytes += c;
    if (bytes[0] != '\033') break;
  }
  return bytes.empty() ? std::nullopt : std::optional(bytes);
}

bool typed_ahead() {
  if (terminal_columns(STDIN_FILENO) == 0) return false;
  const SingleKeys single;  // else a line that has not been ended does not count
  return has_input(0);
}

int processors() {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

// Adds the words of a table like `arg` on top of the stack, by their indices, and removes it.
void add_words(lua_State* L, std::map<int, std::string>& words) {
  if (lua_istable(L, -1))
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1))
      if (lua_type(L, -2) == LUA_TNUMBER && lua_type(L, -1) == LUA_TSTRING)
        words[static_cast<int>(lua_tointeger(L, -2))] = lua_tostring(L, -1);
  lua_pop(L, 1);
}

std::vector<std::string> words_with(lua_State* L, std::optional<Any> arguments) {
  std::map<int, std::string> words;
  lua_getglobal(L, "arg");
  add_words(L, words);
  if (arguments) {
    words.erase(words.lower_bound(0), words.end());
    lua_pushvalue(L, arguments->index);
    add_words(L, words);
  }
  std::vector<std::string> list;
  for (const auto& [index, word] : words) list.push_back(word);
  return list;
}

void bind_classes(Module& module) {
  Class<ProcessPool>(module, "Child processes that are stopped when their owner fails.")
      .def<&start>(
          "pool:start{options} -> Process  Starts a program in a process group of its own.")
      .def<&wait_for>(
          "pool:wait(seconds)  Waits until a process ends, Ctrl-C is pressed, or the time in "
          "seconds has passed.")
      .def<&ProcessPool::running>(
          "pool:running() -> integer  Returns the number of processes that are still running.")
      .def<&ProcessPool::stop>(
          "pool:stop(grace)  Interrupts all processes, and kills those that still run after "
          "`grace` seconds.")
      .def<&supervise>(
          "pool:supervise(action)  Calls action(). When it ends, also by an error or Ctrl-C, the "
          "pool stops the processes that still run.");
  Class<Process>(module, "A child process.")
      .def<&pid_of>("process:pid() -> integer  Returns the process ID.")
      .def<&poll>(
          "process:poll() -> table  Returns nil while the process runs, then {code=, signal=, "
          "text=}.")
      .def<&signal_process>(
          "process:signal(name)  Sends the signal 'interrupt', 'terminate' or 'kill'.");
  Class<FolderLock>(module,
                    "The lock of a run folder. It is held until the processes that hold it have "
                    "ended or release it.")
      .def<&lock_folder>("lock:folder() -> string  Returns the path of the locked folder.")
      .def<&FolderLock::release>(
          "lock:release()  Releases the lock. Child processes that inherited it keep it.");
}

}  // namespace

std::vector<std::string> command_line(lua_State* L) { return words_with(L, std::nullopt); }

void bind_process(lua_State* L) {
  Module module(L, "process", "Child processes, and facts about this process.");
  module.def<[] { return ProcessPool(); }>("pool() -> ProcessPool  Returns a new, empty pool.")
      .def<&lock>(
          "lock(folder) -> FolderLock  Takes the lock of a run folder and returns it, or nil if "
          "another process holds it. Makes the folder if necessary.")
      .def<&locked>(
          "locked(folder) -> boolean  Returns whether a process holds the lock of the folder, or "
          "nil if its file system has no locks.")
      .def<&executable>("executable() -> string  Returns the path of the pushdown executable.")
      .def<&own_pid>("pid() -> integer  Returns the ID of this process.")
      .def<&host>("host() -> string  Returns the name of this machine.")
      .def<&now>("now() -> number  Returns the time in seconds since 1970.")
      .def<&clock_seconds>(
          "clock() -> number  Returns the seconds of a clock that nobody sets, to measure "
          "durations.")
      .def<&columns>(
          "columns(stream) -> integer  Returns the width of the terminal in characters if the "
          "stream, 'stdin', 'stdout' or 'stderr', is a terminal, else nil.")
      .def<&rows>(
          "rows(stream) -> integer  Returns the height of the terminal in lines if the stream, "
          "'stdin', 'stdout' or 'stderr', is a terminal that reports it, else nil.")
      .def<&key>(
          "key() -> string  Waits for a key at the terminal, without showing it, and returns its "
          "bytes. Ctrl-C is a key. Returns nil if standard input is not a terminal.")
      .def<&typed_ahead>(
          "typed_ahead() -> boolean  Returns whether keys have been pressed at the terminal that "
          "nothing has read yet.")
      .def<&processors>(
          "processors() -> integer  Returns the number of processors that this process may use.")
      .def<&words_with>(
          "command_line(arguments) -> table  Returns the words of the command line, starting with "
          "the program. `arguments` replaces those from arg[0] on.");
  bind_classes(module);
}

}  // namespace pushdown
