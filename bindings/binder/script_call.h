// Lua functions that C++ calls: the functions with which a script defines stacks, controllers and
// objectives.
//
// Every call runs on a Lua thread of its own, on whichever thread its caller runs, and ends with an
// empty stack. A call is possible only on the system thread that owns the Lua state; on others it
// throws ScriptThreadNeeded. Objects that hold Lua values may be destroyed on any thread, and
// after the Lua state.
#pragma once
#include <lua.hpp>
#include <memory>
#include <stdexcept>
#include <string>

#include "base/flush_denormals.h"

namespace pushdown {

// The only ways in which bound functions call Lua code: lua_call and lua_pcall, with the
// floating-point setting of the script.
inline void call_lua(lua_State* L, int arguments, int results) {
  const HostFloats host;
  lua_call(L, arguments, results);
}
inline bool try_lua(lua_State* L, int arguments, int results) {
  const HostFloats host;
  return lua_pcall(L, arguments, results, 0) == 0;
}

struct ScriptHost;  // one for each Lua state

// A Lua value that C++ keeps alive.
class KeptValue {
 public:
  KeptValue(lua_State* L, int index);
  ~KeptValue();
  KeptValue(const KeptValue&) = delete;
  KeptValue& operator=(const KeptValue&) = delete;
  void push(lua_State* L) const;
  const std::shared_ptr<ScriptHost>& host() const { return host_; }

 private:
  std::shared_ptr<ScriptHost> host_;
  int reference_;
};
using KeptValuePtr = std::shared_ptr<const KeptValue>;

// The error value of a Lua function. guarded() of bind.h raises it again unchanged, so that its
// position is kept and an interrupt remains an interrupt.
class ScriptError : public std::runtime_error {
 public:
  ScriptError(const std::string& text, KeptValuePtr value)
      : std::runtime_error(text), value_(std::move(value)) {}
  void push(lua_State* L) const;
  bool is_text() const { return value_ == nullptr; }

 private:
  KeptValuePtr value_;  // null: only the text is known
};

// A function and its name in messages.
struct ScriptFunction {
  KeptValuePtr function;
  std::string where;     // "stack.mine.update"
  std::string position;  // "own.lua:12"

  explicit operator bool() const { return function != nullptr; }
  // Throws std::invalid_argument "own.lua:12: [stack.mine.update] message" for results that do not
  // fit.
  [[noreturn]] void refuse(const std::string& message) const;
};

// Returns the function at the index, named `where` in messages.
ScriptFunction script_function(lua_State* L, int index, std::string where);

// One call: push the arguments onto state(), run(), read the results off it.
class ScriptCall {
 public:
  explicit ScriptCall(const ScriptFunction& function);
  ~ScriptCall();
  ScriptCall(const ScriptCall&) = delete;
  ScriptCall& operator=(const ScriptCall&) = delete;

  lua_State* state() const { return L_; }
  // Returns whether the function can be called on this thread.
  static bool possible(const ScriptFunction& function);
  // The Lua state of the innermost call of this thread, or null.
  static lua_State* running();
  // Calls the function with all pushed arguments; the results are at indices 1 to `results`. Throws
  // ScriptError.
  void run(int results);

 private:
  const ScriptFunction& function_;
  std::shared_ptr<ScriptHost> host_;
  lua_State* L_;
};

// Returns where Lua code called the running function: "own.lua" and 12, or "" if there is no file.
struct ScriptPosition {
  std::string file;
  int line = 0;
};
ScriptPosition calling_script(lua_State* L);
// Returns the position of the script that this thread has called, such as "own.lua:12", or "" if it
// has called none.
std::string running_position();

}  // namespace pushdown
