// A Jupyter kernel: cells are entries as at the prompt, values come with pictures and tables where
// there are any.
#pragma once
#include <iostream>
#include <mutex>
#include <xeus/xinterpreter.hpp>

#include "bindings/notebook/output_capture.h"
#include "bindings/shell/interpreter.h"

namespace pushdown {

class Notebook : public xeus::xinterpreter {
 public:
  Notebook();

 private:
  using Json = nlohmann::json;
  void configure_impl() override {}
#if XEUS_VERSION_MAJOR >= 5
  void execute_request_impl(send_reply_callback reply, int count, const std::string& code,
                            xeus::execute_request_config config, Json user_expressions) override;
#else
  Json execute_request_impl(int count, const std::string& code, bool silent, bool store_history,
                            Json user_expressions, bool allow_stdin) override;
#endif
  Json complete_request_impl(const std::string& code, int cursor) override;
  Json inspect_request_impl(const std::string& code, int cursor, int detail) override;
  Json is_complete_request_impl(const std::string& code) override;
  Json kernel_info_request_impl() override;
  void shutdown_request_impl() override {}

  // Runs a cell and publishes its value and output; returns the reply.
  Json execute(int count, const std::string& code, bool silent);
  // Runs the entries of a cell: one, unless the prompts of a session were pasted into it.
  Interpreter::Outcome run_cell(const std::string& code);
  Interpreter::Outcome run_one(const std::string& code);
  // Shows how far a training is, in place of what it said before in this cell.
  void show_progress(const std::string& text);
  // "text/plain" and what else pushdown.notebook knows for the values on the stack.
  static Json bundle(lua_State* L);
  static int print_result(lua_State* L);
  static int display(lua_State* L);

  Interpreter interpreter_;
  // The streams of C++, mute until the first cell: xeus 5 greets on them.
  std::streambuf* output_ = std::cout.rdbuf(nullptr);
  std::streambuf* log_ = std::clog.rdbuf(nullptr);
  std::mutex publishing_;
  OutputCapture capture_;
  Json result_;  // of the cell that runs
  int cell_ = 0;
  bool progress_shown_ = false;  // in this cell
};

}  // namespace pushdown
