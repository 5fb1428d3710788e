// A Jupyter kernel. Cells are entries as at the prompt. Values are shown with pictures and tables
// if they have any.
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
  // Runs the entries of a cell. There is one, unless the prompts of a session were pasted into the
  // cell.
  Interpreter::Outcome run_cell(const std::string& code);
  Interpreter::Outcome run_one(const std::string& code);
  // Shows the progress of a training and replaces the previous line about it in this cell.
  void show_progress(const std::string& text);
  // Returns "text/plain" and the other types that pushdown.notebook has for the values on the
  // stack.
  static Json bundle(lua_State* L);
  static int print_result(lua_State* L);
  static int display(lua_State* L);

  Interpreter interpreter_;
  // The streams of C++ are mute until the first cell, because xeus 5 prints a greeting to them.
  std::streambuf* output_ = std::cout.rdbuf(nullptr);
  std::streambuf* log_ = std::clog.rdbuf(nullptr);
  std::mutex publishing_;
  OutputCapture capture_;
  Json result_;  // of the running cell
  int cell_ = 0;
  bool progress_shown_ = false;  // in this cell
};

}  // namespace pushdown
