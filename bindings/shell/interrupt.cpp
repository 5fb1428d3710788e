#include "bindings/shell/interrupt.h"

#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string_view>

#include "bindings/binder/registry_keys.h"
#include "bindings/shell/terminal_mode.h"

namespace pushdown {
namespace {

constexpr int kEndingSignals[] = {SIGTERM, SIGHUP, SIGPIPE};
constexpr unsigned kSecondsToEnd = 120, kSecondsAfterInterrupt = 5;

// A signal handler can access only globals.
std::atomic<int> flag{0};
std::atomic<int> ending{0};
std::atomic<bool> lua_runs{false};
lua_State* state = nullptr;
lua_CFunction message_handler = nullptr;
std::atomic<long long> pressed_ms{0};
std::atomic<bool> unanswered{false};  // the process has not answered an interrupt, either

long long now_ms() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

// Whether the message handler is running, which must not be stopped.
bool in_message_handler(lua_State* L) {
  lua_Debug frame;
  for (int level = 0; level < 4 && lua_getstack(L, level, &frame) != 0; ++level) {
    lua_getinfo(L, "f", &frame);
    const bool found = lua_tocfunction(L, -1) == message_handler;
    lua_pop(L, 1);
    if (found) return true;
  }
  return false;
}

void raise_interrupted(lua_State* L, lua_Debug*) {
  if (in_message_handler(L)) return;
  lua_getfield(L, LUA_REGISTRYINDEX, "pushdown.library");
  const char* library = lua_tostring(L, -1);  // the registry keeps it
  lua_pop(L, 1);
  // The position in the user's code, or else the innermost one. In a hook, level 0 is the running
  // code, which may be C and has no lines then.
  lua_Debug frame;
  int place = 0;
  bool found = false;
  for (int level = 0; lua_getstack(L, level, &frame) != 0; ++level) {
    lua_getinfo(L, "Sl", &frame);
    if (frame.currentline <= 0) continue;
    const bool in_library = library && std::string_view(frame.source).starts_with(library);
    if (!found || !in_library) place = level;
    found = true;
    if (!in_library) break;
  }
  luaL_where(L, place);
  lua_pushliteral(L, "interrupted");
  lua_concat(L, 2);
  lua_error(L);
}

void stop_lua() {
  flag = 1;
  if (lua_runs)
    lua_sethook(state, raise_interrupted, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT, 1);
}

template <std::size_t N>
void say(const char (&text)[N]) {
  const auto ignored = write(STDERR_FILENO, text, N - 1);
  static_cast<void>(ignored);
}

[[noreturn]] void end_at_once(int number) {
  set_terminal(TerminalMode::found);
  _exit(status_of_signal(number));
}

void on_interrupt(int) {
  const int error = errno;
  if (flag == 0) {
    pressed_ms = now_ms();
    stop_lua();
  } else if (lua_runs && now_ms() - pressed_ms >= 500) {
    say("\npushdown: cannot be interrupted, leaving\n");
    end_at_once(SIGINT);
  } else if (ending != 0) {  // of signals that arrive together, the later one is handled first
    unanswered = true;
    alarm(kSecondsAfterInterrupt);
  }
  errno = error;
}

void on_end(int number) {
  const int error = errno;
  const pid_t process = getpid();
  int none = 0;
  if (process != static_cast<pid_t>(syscall(SYS_gettid))) {
    // Only the main thread may touch the Lua state.
    syscall(SYS_tgkill, process, process, number);
  } else if (ending.compare_exchange_strong(none, number)) {
    pressed_ms = now_ms();
    unanswered = flag != 0;
    alarm(unanswered ? kSecondsAfterInterrupt : kSecondsToEnd);
    stop_lua();
  } else if (number != SIGPIPE && now_ms() - pressed_ms >= 500) {
    end_at_once(number);
  }
  errno = error;
}

void on_alarm(int) {
  if (unanswered)
    say("\npushdown: did not end within 5 seconds of the second signal, leaving\n");
  else
    say("\npushdown: did not end within 120 seconds of the signal, leaving\n");
  end_at_once(ending);
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = 0;  // no SA_RESTART: reading a line must return
  sigaction(number, &action, nullptr);
}

bool is_ignored(int number) {
  struct sigaction action = {};
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void watch_interrupts(lua_State* L, lua_CFunction handler) {
  state = L;
  message_handler = handler;
  lua_pushlightuserdata(L, &flag);
  lua_setfield(L, LUA_REGISTRYINDEX, kInterruptKey);
  handle(SIGINT, on_interrupt);
}

void watch_ends() {
  for (const int number : kEndingSignals)
    if (number == SIGPIPE || !is_ignored(number)) handle(number, on_end);
  handle(SIGALRM, on_alarm);
  handle(SIGXFSZ, SIG_IGN);  // a file that grows beyond `ulimit -f` is an error like a full disk
}

void enter_lua(lua_State*) {
  lua_runs = true;
  flag = 0;
  if (ending != 0) stop_lua();
}

void leave_lua(lua_State* L) {
  lua_runs = false;
  lua_sethook(L, nullptr, 0, 0);
}

bool interrupted() { return flag != 0; }
bool take_interrupt() { return flag.exchange(0) != 0; }
int ending_signal() { return ending; }

bool wait_for_input(int file) {
  bool ready = false;
  {
    const BlockInterrupts until_the_wait;
    if (ending != 0 || flag != 0 || terminal_change() != TerminalChange::none) return false;
    pollfd input{file, POLLIN, 0};
    ready = ppoll(&input, 1, nullptr, &until_the_wait.saved()) >= 0 || errno != EINTR;
  }
  // The text after a Ctrl-C can arrive together with the signal, which must be seen first.
  return ready && ending == 0 && flag == 0;
}

BlockInterrupts::BlockInterrupts() {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGINT);
  sigaddset(&blocked, SIGALRM);
  for (const int number : {SIGWINCH, SIGCONT, SIGTSTP}) sigaddset(&blocked, number);
  for (const int number : kEndingSignals)
    if (number != SIGPIPE) sigaddset(&blocked, number);  // it goes to the thread that wrote
  pthread_sigmask(SIG_BLOCK, &blocked, &saved_);
}

BlockInterrupts::~BlockInterrupts() { pthread_sigmask(SIG_SETMASK, &saved_, nullptr); }

}  // namespace pushdown
