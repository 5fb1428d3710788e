#include "bindings/session/sandbox.h"

#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/check.h"
#include "bindings/binder/interrupt.h"

namespace pushdown {
namespace {

constexpr int kBetweenLooks = 100;        // instructions
constexpr double kSecondsOfAStep = 1e-7;  // instructions take 5 to 40 ns

double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// A single instruction can join or compare long texts. The time that the processor spends on the
// file bounds their number.
class ProcessorTime {
 public:
  // Returns the number of steps that the time so far counts as.
  double steps() {
    // This clock is cheap to read and ticks every few milliseconds.
    const double tick = seconds_of(CLOCK_MONOTONIC_COARSE);
    if (tick != last_tick_) {
      last_tick_ = tick;
      steps_ = (seconds_of(CLOCK_THREAD_CPUTIME_ID) - begin_) / kSecondsOfAStep;
    }
    return steps_;
  }

 private:
  double begin_ = seconds_of(CLOCK_THREAD_CPUTIME_ID), last_tick_ = 0, steps_ = 0;
};

// The running file. There is only one at a time, because no word of a file runs another file.
struct Sandbox {
  SandboxLimits limits;
  double steps = 0, bytes = 0;
  ProcessorTime time;
  lua_Alloc allocate = nullptr;
  void* allocator = nullptr;
  bool out_of_memory = false;
  const char* source = "";  // of the chunk
  StopCheck stop;
};
Sandbox* running = nullptr;

// `level`: the level of the running line, for the message.
void add_steps(lua_State* L, double steps, int level) {
  running->steps += steps;
  const bool stopped = running->stop.asked();
  const double used = std::max(running->steps, running->time.steps());
  if (!stopped && used <= running->limits.steps) return;
  luaL_where(L, level);
  if (stopped)
    lua_pushliteral(L, "interrupted");
  else
    lua_pushfstring(L,
                    "the file takes more than %f steps; pd.grammar.limits{steps =} allows it more",
                    running->limits.steps);
  lua_concat(L, 2);
  lua_error(L);
}

void look(lua_State* L, lua_Debug*) {
  if (running != nullptr) add_steps(L, kBetweenLooks, 0);
}

// Allocations beyond the limit fail.
void* allocate_limited(void* allocator, void* old, std::size_t old_size, std::size_t size) {
  auto& sandbox = *static_cast<Sandbox*>(allocator);
  const double more = static_cast<double>(size) - static_cast<double>(old ? old_size : 0);
  if (more > 0 && sandbox.bytes + more > sandbox.limits.memory) {
    sandbox.out_of_memory = true;
    return nullptr;
  }
  void* result = sandbox.allocate(sandbox.allocator, old, old_size, size);
  if (result != nullptr || size == 0) sandbox.bytes += more;
  return result;
}

// Sets the table of string methods and leaves the previous one on the stack.
void exchange_string_methods(lua_State* L, int methods) {
  lua_pushliteral(L, "");
  lua_getmetatable(L, -1);
  lua_getfield(L, -1, "__index");
  lua_pushvalue(L, methods);
  lua_setfield(L, -3, "__index");
  lua_replace(L, -3);
  lua_pop(L, 1);
}

// Returns whether the JIT compiler is on.
bool is_compiler_on(lua_State* L) {
  const int top = lua_gettop(L);
  lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_getfield(L, -1, "jit");
  bool on = false;
  if (lua_istable(L, -1)) {
    lua_getfield(L, -1, "status");
    if (lua_isfunction(L, -1) && lua_pcall(L, 0, 1, 0) == 0) on = lua_toboolean(L, -1) != 0;
  }
  lua_settop(L, top);
  return on;
}

}  // namespace

SandboxLimits& sandbox_limits() {
  static SandboxLimits limits;
  return limits;
}

int run_limited(lua_State* L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  luaL_checktype(L, 2, LUA_TTABLE);
  if (running != nullptr) return luaL_error(L, "a file is running already");
  lua_settop(L, 2);
  // Hooks do not run in compiled code, and compiled code does not survive running out of memory.
  // Therefore neither the functions of the file nor the functions that they call may be compiled,
  // now or earlier.
  const bool compiler_on = is_compiler_on(L);
  luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_FLUSH);
  luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
  // This call allocates all memory that it needs itself before the limits begin.
  luaL_checkstack(L, 20, "running a file");
  exchange_string_methods(L, 2);  // 3: the previous ones
  const lua_Hook hook = lua_gethook(L);
  const int mask = lua_gethookmask(L), count = lua_gethookcount(L);
  Sandbox sandbox;
  sandbox.limits = sandbox_limits();
  sandbox.allocate = lua_getallocf(L, &sandbox.allocator);
  lua_Debug chunk;
  lua_pushvalue(L, 1);
  lua_getinfo(L, ">S", &chunk);
  sandbox.source = chunk.source;  // the chunk keeps it
  running = &sandbox;
  lua_setallocf(L, allocate_limited, &sandbox);
  if (!sandbox.stop.asked()) lua_sethook(L, look, LUA_MASKCOUNT, kBetweenLooks);
  lua_pushvalue(L, 1);
  const int status = lua_pcall(L, 0, 0, 0);  // 4: the error
  // Ctrl-C may have set its own hook in the meantime.
  if (lua_gethook(L) == look) lua_sethook(L, hook, mask, count);
  lua_setallocf(L, sandbox.allocate, sandbox.allocator);
  if (compiler_on) luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_ON);
  running = nullptr;
  lua_pushvalue(L, 3);
  exchange_string_methods(L, lua_gettop(L));
  lua_settop(L, status == 0 ? 3 : 4);
  if (sandbox.out_of_memory) {
    lua_gc(L, LUA_GCCOLLECT, 0);
    if (status != 0) {
      lua_settop(L, 3);
      lua_pushfstring(L,
                      "the file needs more than %d MB; pd.grammar.limits{memory =} allows it more",
                      static_cast<int>(sandbox.limits.memory / 1048576));
    }
  }
  if (status != 0 && sandbox.stop.asked()) return lua_error(L);
  lua_pushboolean(L, status == 0);
  if (status == 0) return 1;
  lua_pushvalue(L, 4);
  return 2;
}

int count_steps(lua_State* L) {
  const double steps = luaL_checknumber(L, 1);
  if (running == nullptr) return 0;
  // The line of the file is above the library functions that call this function.
  int level = 1;
  lua_Debug frame;
  while (lua_getstack(L, level, &frame) != 0 && lua_getinfo(L, "S", &frame) != 0 &&
         std::strcmp(frame.source, running->source) != 0)
    ++level;
  add_steps(L, steps >= 0 ? steps : 0, level);
  return 0;
}

}  // namespace pushdown
