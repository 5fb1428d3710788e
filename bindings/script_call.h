// Lua functions that C++ calls: those by which a script defines stacks, controllers and objectives.
//
// Every call runs on a Lua thread of its own, whatever the code that led to it runs on, and ends
// with an empty stack. A call is possible only on the system thread that the Lua state belongs to:
// std::invalid_argument elsewhere. Objects that hold Lua values may be destroyed on any thread, and
// after the Lua state.
#pragma once
#include <lua.hpp>
#include <memory>
#include <stdexcept>
#include <string>

namespace pushdown {

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

// What a Lua function raised. guarded() of bind.h raises it again as it was, so that its position
// stays, and an interrupt is one.
class ScriptError : public std::runtime_error {
 public:
  ScriptError(const std::string& text, KeptValuePtr value)
      : std::runtime_error(text), value_(std::move(value)) {}
  void push(lua_State* L) const;
  bool is_text() const { return value_ == nullptr; }

 private:
  KeptValuePtr value_;  // null: the text
};

// A function and what it is called in messages.
struct ScriptFunction {
  KeptValuePtr function;
  std::string where;     // "stack.mine.update"
  std::string position;  // "own.lua:12"

  explicit operator bool() const { return function != nullptr; }
  // std::invalid_argument "own.lua:12: [stack.mine.update] message": for results that do not fit.
  [[noreturn]] void refuse(const std::string& message) const;
};

// The function at the index as `where`.
ScriptFunction script_function(lua_State* L, int index, std::string where);

// One call: push the arguments onto state(), run(), read the results off it.
class ScriptCall {
 public:
  explicit ScriptCall(const ScriptFunction& function);
  ~ScriptCall();
  ScriptCall(const ScriptCall&) = delete;
  ScriptCall& operator=(const ScriptCall&) = delete;

  lua_State* state() const { return L_; }
  // Whether the function can be called on this thread.
  static bool possible(const ScriptFunction& function);
  // Of the innermost call that this thread runs; null: none.
  static lua_State* running();
  // Calls with all that was pushed; the results are at indices 1 to `results`. ScriptError.
  void run(int results);

 private:
  const ScriptFunction& function_;
  std::shared_ptr<ScriptHost> host_;
  lua_State* L_;
};

// Where Lua code called the function that runs: "own.lua", 12; "" where there is no file.
struct ScriptPosition {
  std::string file;
  int line = 0;
};
ScriptPosition calling_script(lua_State* L);
// Where the script is that this thread has called: "own.lua:12"; "" where it has called none.
std::string running_position();

}  // namespace pushdown
