#include "bindings/shell/interrupt.h"

#include <time.h>
#include <unistd.h>

#include <atomic>

#include "bindings/registry_keys.h"

namespace pushdown {
namespace {

// A signal handler can reach nothing but globals.
std::atomic<int> flag{0};
std::atomic<bool> lua_runs{false};
lua_State* state = nullptr;
lua_CFunction message_handler = nullptr;
std::atomic<long long> pressed_ms{0};

long long now_ms() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

// Whether the message handler is running, which must be let finish.
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
  lua_Debug frame;
  int level = 0;  // in a hook, level 0 is the code that runs; that may be C, which has no lines
  while (lua_getstack(L, level, &frame) && lua_getinfo(L, "l", &frame) && frame.currentline <= 0)
    ++level;
  luaL_where(L, level);
  lua_pushliteral(L, "interrupted");
  lua_concat(L, 2);
  lua_error(L);
}

void on_interrupt(int) {
  if (flag.exchange(1) == 0) {
    pressed_ms = now_ms();
    if (lua_runs)
      lua_sethook(state, raise_interrupted, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT, 1);
    return;
  }
  if (!lua_runs || now_ms() - pressed_ms < 500) return;
  constexpr char kText[] = "\npushdown: cannot be interrupted, leaving\n";
  const auto ignored = write(STDERR_FILENO, kText, sizeof kText - 1);
  static_cast<void>(ignored);
  _exit(130);
}

}  // namespace

void watch_interrupts(lua_State* L, lua_CFunction handler) {
  state = L;
  message_handler = handler;
  lua_pushlightuserdata(L, &flag);
  lua_setfield(L, LUA_REGISTRYINDEX, kInterruptKey);
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = 0;  // no SA_RESTART: reading a line must return
  sigaction(SIGINT, &action, nullptr);
}

void enter_lua(lua_State*) {
  flag = 0;
  lua_runs = true;
}

void leave_lua(lua_State* L) {
  lua_runs = false;
  lua_sethook(L, nullptr, 0, 0);
}

bool interrupted() { return flag != 0; }
bool take_interrupt() { return flag.exchange(0) != 0; }

BlockInterrupts::BlockInterrupts() {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGINT);
  pthread_sigmask(SIG_BLOCK, &blocked, &saved_);
}

BlockInterrupts::~BlockInterrupts() { pthread_sigmask(SIG_SETMASK, &saved_, nullptr); }

}  // namespace pushdown
