#include "bindings/binder/script_call.h"

#include <filesystem>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/script_thread.h"
#include "bindings/binder/bind.h"

namespace pushdown {

struct ScriptHost {
  std::thread::id owner = std::this_thread::get_id();
  std::mutex mutex;
  std::vector<int> released;        // references that no longer have an owner
  bool open = true;                 // until the Lua state is closed
  std::vector<lua_State*> threads;  // one for each nested call
  std::size_t depth = 0;            // number of running calls
};

namespace {

constexpr const char* kHostKey = "pushdown.script_host";
constexpr std::size_t kDeepestCall = 16;
using HostPtr = std::shared_ptr<ScriptHost>;

int close_host(lua_State* L) {
  auto* host = static_cast<HostPtr*>(lua_touserdata(L, 1));
  {
    std::lock_guard lock((*host)->mutex);
    (*host)->open = false;
  }
  std::destroy_at(host);
  return 0;
}

HostPtr host_of(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, kHostKey);
  if (auto* host = static_cast<HostPtr*>(lua_touserdata(L, -1))) {
    lua_pop(L, 1);
    return *host;
  }
  lua_pop(L, 1);
  auto* made = new (lua_newuserdata(L, sizeof(HostPtr))) HostPtr(std::make_shared<ScriptHost>());
  const HostPtr host = *made;
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, close_host);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_setfield(L, LUA_REGISTRYINDEX, kHostKey);
  return host;
}

// Releases the references that have lost their owner since the last time.
void sweep(lua_State* L, ScriptHost& host) {
  std::vector<int> released;
  {
    std::lock_guard lock(host.mutex);
    released.swap(host.released);
  }
  for (const int reference : released) luaL_unref(L, LUA_REGISTRYINDEX, reference);
}

std::string short_position(const lua_Debug& frame, int line) {
  return fmt::format("{}:{}", frame.source[0] == '@' ? frame.source + 1 : frame.short_src, line);
}

}  // namespace

KeptValue::KeptValue(lua_State* L, int index) : host_(host_of(L)) {
  sweep(L, *host_);
  if (host_->threads.empty()) {
    host_->threads.push_back(lua_newthread(L));
    luaL_ref(L, LUA_REGISTRYINDEX);
  }
  lua_pushvalue(L, index);
  reference_ = luaL_ref(L, LUA_REGISTRYINDEX);
}

KeptValue::~KeptValue() {
  std::lock_guard lock(host_->mutex);
  if (host_->open) host_->released.push_back(reference_);
}

void KeptValue::push(lua_State* L) const { lua_rawgeti(L, LUA_REGISTRYINDEX, reference_); }

void ScriptError::push(lua_State* L) const {
  if (value_ != nullptr)
    value_->push(L);
  else
    lua_pushstring(L, what());
}

void ScriptFunction::refuse(const std::string& message) const {
  throw ScriptError(fmt::format("{}: [{}] {}", position, where, message), nullptr);
}

ScriptFunction script_function(lua_State* L, int index, std::string where) {
  ScriptFunction function{std::make_shared<KeptValue>(L, index), std::move(where), ""};
  lua_Debug frame;
  lua_pushvalue(L, index);
  lua_getinfo(L, ">S", &frame);
  function.position = short_position(frame, frame.linedefined);
  return function;
}

ScriptCall::ScriptCall(const ScriptFunction& function)
    : function_(function), host_(function.function->host()) {
  if (std::this_thread::get_id() != host_->owner)
    throw ScriptThreadNeeded(fmt::format(
        "[{}] functions in Lua run only on the thread of their Lua state", function.where));
  check(host_->open, function.where, "the Lua state is closed");
  check(host_->depth < kDeepestCall, function.where, "calls itself too often");
  auto& threads = host_->threads;
  if (threads.size() == host_->depth) {
    lua_State* outer = threads.back();
    luaL_checkstack(outer, 2, "nested too deeply");
    threads.push_back(lua_newthread(outer));
    luaL_ref(outer, LUA_REGISTRYINDEX);
  }
  L_ = threads[host_->depth++];
  sweep(L_, *host_);
  lua_settop(L_, 0);
  function.function->push(L_);
}

bool ScriptCall::possible(const ScriptFunction& function) {
  const auto& host = *function.function->host();
  return std::this_thread::get_id() == host.owner && host.open;
}

ScriptCall::~ScriptCall() {
  lua_settop(L_, 0);
  --host_->depth;
}

namespace {
thread_local lua_State* running_state = nullptr;
}

lua_State* ScriptCall::running() { return running_state; }

void ScriptCall::run(int results) {
  struct Running {
    lua_State* outer;
    ~Running() { running_state = outer; }
  } const running{std::exchange(running_state, L_)};
  ++script_calls();
  if (try_lua(L_, lua_gettop(L_) - 1, results)) return;
  if (lua_type(L_, -1) != LUA_TSTRING)
    throw ScriptError("an error that is not a text", std::make_shared<KeptValue>(L_, -1));
  throw ScriptError(
      fmt::format("{}\n  in {} ({})", lua_tostring(L_, -1), function_.where, function_.position),
      nullptr);
}

std::string running_position() {
  lua_Debug frame;
  if (running_state == nullptr) return "";
  for (int level = 0; lua_getstack(running_state, level, &frame) != 0; ++level) {
    lua_getinfo(running_state, "Sl", &frame);
    if (frame.currentline > 0) return short_position(frame, frame.currentline);
  }
  return "";
}

ScriptPosition calling_script(lua_State* L) {
  lua_Debug frame;
  for (int level = 0; lua_getstack(L, level, &frame) != 0; ++level) {
    lua_getinfo(L, "Sl", &frame);
    if (frame.currentline <= 0) continue;
    if (frame.source[0] != '@') return {"", frame.currentline};
    std::error_code ignored;
    return {std::filesystem::absolute(frame.source + 1, ignored).lexically_normal().string(),
            frame.currentline};
  }
  return {};
}

}  // namespace pushdown
