// Ctrl-C in the shell. While Lua runs, the first one sets a flag, which long C++ work polls, and a
// hook that raises an error at the next Lua instruction, again and again until the top level is
// reached, so that no pcall in the user's code can swallow it. If that leads nowhere (a compiled
// loop runs no hooks), a second one, half a second later or more, ends the process with status 130.
#pragma once
#include <signal.h>

#include <lua.hpp>

namespace pushdown {

// Installs the signal handler, and leaves the flag's address for the module. The hook spares
// `message_handler`, which makes the text of errors.
void watch_interrupts(lua_State* L, lua_CFunction message_handler);
// Lua starts, or has ended: everything is as if nothing had been pressed.
void enter_lua(lua_State* L);
void leave_lua(lua_State* L);
// Whether Ctrl-C was pressed since enter_lua() or the last take_interrupt().
bool interrupted();
// The same, and forgets it.
bool take_interrupt();

// Keeps SIGINT from the threads that are made while it lives, so that the main thread gets it.
class BlockInterrupts {
 public:
  BlockInterrupts();
  ~BlockInterrupts();
  BlockInterrupts(const BlockInterrupts&) = delete;
  BlockInterrupts& operator=(const BlockInterrupts&) = delete;

 private:
  sigset_t saved_;
};

}  // namespace pushdown
