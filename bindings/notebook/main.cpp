// The program `pushdown-kernel`, which Jupyter starts: see `pushdown kernel install`.
#include <csignal>
#include <cstdio>
#include <xeus/xeus_context.hpp>
#include <xeus/xhelper.hpp>
#include <xeus/xkernel.hpp>
#include <xeus/xkernel_configuration.hpp>
#if XEUS_VERSION_MAJOR >= 5
// Since xeus 3 the message queue has been a separate library.
#include <xeus-zmq/xserver_zmq.hpp>
#include <xeus-zmq/xzmq_context.hpp>
#else
#include <xeus/xserver_zmq.hpp>
#endif

#include "bindings/notebook/kernel.h"
#include "bindings/shell/stack_size.h"

#if XEUS_VERSION_MAJOR >= 5
static auto make_context() { return xeus::make_zmq_context(); }
constexpr auto make_server = xeus::make_xserver_default;
#else
static auto make_context() { return xeus::make_context<zmq::context_t>(); }
constexpr auto make_server = xeus::make_xserver_zmq;
#endif

int main(int count, char** words) {
  std::string file = xeus::extract_filename(count, words);
  if (file.empty()) {
    std::fputs("usage: pushdown-kernel -f CONNECTION_FILE (Jupyter starts it so)\n", stderr);
    return 2;
  }
  // Blocks the signal before any other thread exists, so in all threads. A running cell lets it
  // through.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  try {
    pushdown::require_stack();
    xeus::xkernel kernel(xeus::load_configuration(file), xeus::get_user_name(), make_context(),
                         std::make_unique<pushdown::Notebook>(), make_server,
                         xeus::make_in_memory_history_manager(), nullptr, xeus::make_null_debugger,
                         nlohmann::json::object(), nlohmann::json::error_handler_t::replace);
    kernel.start();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pushdown-kernel: %s\n", error.what());
    pushdown::leave(1);
  }
  pushdown::leave(0);
}
