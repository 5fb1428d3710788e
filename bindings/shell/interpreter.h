// The Lua state of the shell: its globals, the compilation and execution of chunks, and the text of
// errors.
//
// Undeclared globals are errors in files: to read one that does not exist, or to make one in a
// function. The main chunk of a file may make globals, and at the prompt all code may.
#pragma once
#include <lua.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/shell/core.h"

namespace pushdown {

inline constexpr const char* kPromptChunk = "=prompt";

// The session options of the command line. They are passed to pd.session once the module is loaded.
struct SessionChoices {
  std::optional<std::string> device, log_level;
  std::optional<int> threads;
  std::optional<double> seed;
};

class Interpreter {
 public:
  explicit Interpreter(SessionChoices choices);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  lua_State* state() const { return L_; }
  Core& core() { return core_; }
  const Core& core() const { return core_; }

  enum class Status { ok, error, interrupted };
  struct Outcome {
    Status status = Status::ok;
    std::string error;  // with the traceback
  };
  // Compiles a text and leaves the chunk on the stack. The text must be UTF-8 and not bytecode.
  Outcome compile(std::string_view text, const char* chunk_name);
  Outcome compile_file(const std::string& path);  // "-": standard input
  // Calls the function below its `arguments` on the stack. Leaves the results, or nothing after an
  // error.
  Outcome call(int arguments, int results);
  // Compiles and runs; `arguments` become `...`.
  Outcome run_text(std::string_view text, const char* chunk_name,
                   const std::vector<std::string>& arguments = {});
  Outcome run_file(const std::string& path, const std::vector<std::string>& arguments);
  Outcome require(const std::string& module);  // and sets the global with the last part of its name
  // Tells the record of runs, if one is open, how the script ended.
  void end_records(const Outcome& outcome);
  Outcome load_module();  // loads `pd` now
  // Returns the message, with a suggestion after its first line if the name does not exist.
  std::string with_suggestion(const std::string& message);

  void set_jit(bool on);

 private:
  Outcome call_with(const std::vector<std::string>& arguments);
  static int index_globals(lua_State* L);
  static int assign_globals(lua_State* L);
  static int open_module(lua_State* L);
  static int show_help(lua_State* L);
  static int exit_process(lua_State* L);
  void prepare_globals();

  lua_State* L_;
  Core core_;
  SessionChoices choices_;
};

// Flushes all output and ends the process at once, because LibTorch's own shutdown takes long.
[[noreturn]] void leave(int status);

}  // namespace pushdown
