// Signals in the shell.
//
// Ctrl-C (SIGINT): while Lua runs, the first one sets a flag, which long C++ work polls, and a hook
// that raises an error at the next Lua instruction, again and again until the top level is reached,
// so that no pcall in the user's code can swallow it. If that leads nowhere (a compiled loop runs
// no hooks), a second one, half a second later or more, ends the process with status 130.
//
// SIGTERM, SIGHUP and SIGPIPE (nobody reads the output any more) do the same and then end the
// process, with status 128 + the signal's number: a training writes its checkpoint first. A second
// SIGTERM or SIGHUP ends it at once, and so do two minutes. SIGHUP stays ignored where it was, as
// under nohup.
#pragma once
#include <signal.h>

#include <lua.hpp>

namespace pushdown {

// Installs the handler of Ctrl-C, and leaves the flag's address for the module. The hook spares
// `message_handler`, which makes the text of errors.
void watch_interrupts(lua_State* L, lua_CFunction message_handler);
// Installs those of the signals that end the process.
void watch_ends();
// Lua starts, or has ended: everything is as if nothing had been pressed. After a signal that ends
// the process nothing runs any more.
void enter_lua(lua_State* L);
void leave_lua(lua_State* L);
// Whether Ctrl-C was pressed since enter_lua() or the last take_interrupt().
bool interrupted();
// The same, and forgets it.
bool take_interrupt();
// The signal that ends this process, 0 without one; its exit status.
int ending_signal();
inline int status_of_signal(int number) { return 128 + number; }

// Waits until there is something to read, or one of these signals: then false. None gets lost just
// before the wait.
bool wait_for_input(int file);

// Keeps these signals from the threads that are made while it lives, so that the main thread gets
// them.
class BlockInterrupts {
 public:
  BlockInterrupts();
  ~BlockInterrupts();
  BlockInterrupts(const BlockInterrupts&) = delete;
  BlockInterrupts& operator=(const BlockInterrupts&) = delete;

  const sigset_t& saved() const { return saved_; }  // the mask outside

 private:
  sigset_t saved_;
};

}  // namespace pushdown
