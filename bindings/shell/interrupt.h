// Signals in the shell.
//
// Ctrl-C (SIGINT): while Lua runs, the first one sets a flag, which long C++ work polls, and a
// hook. The hook raises an error at the next Lua instruction, again and again until the top level
// is reached, so that pcall in the user's code cannot catch it. If that has no effect (a compiled
// loop runs no hooks), a second one, at least half a second later, ends the process with status
// 130.
//
// SIGTERM, SIGHUP and SIGPIPE (nobody reads the output any more) do the same and then end the
// process with status 128 + the signal's number, after a training has written its checkpoint. A
// second SIGTERM or SIGHUP ends it at once, and so does the end of two minutes, or of five seconds
// if the process has not answered a Ctrl-C before. SIGHUP stays ignored if it was ignored before,
// as under nohup.
#pragma once
#include <signal.h>

#include <lua.hpp>

namespace pushdown {

// Installs the handler of Ctrl-C and stores the address of the flag for the module. The hook does
// not interrupt `message_handler`, which makes the text of errors.
void watch_interrupts(lua_State* L, lua_CFunction message_handler);
// Installs the handlers of the signals that end the process.
void watch_ends();
// Lua starts or has ended: resets the state to that before any signal. After a signal that ends the
// process, no more code runs.
void enter_lua(lua_State* L);
void leave_lua(lua_State* L);
// Returns whether Ctrl-C was pressed since enter_lua() or the last take_interrupt().
bool interrupted();
// Returns the same and resets it.
bool take_interrupt();
// The signal that ends this process, or 0; its exit status.
int ending_signal();
inline int status_of_signal(int number) { return 128 + number; }

// Waits until there is input (true), or one of these signals arrives or the terminal changes
// (false). A signal just before the wait or together with the input is not lost.
bool wait_for_input(int file);

// Blocks these signals in the threads that are made during its lifetime, so that the main thread
// receives them.
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
