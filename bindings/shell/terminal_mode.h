// The modes of the terminal in which the prompt edits. Elsewhere these functions do nothing.
#pragma once

namespace pushdown {

enum class TerminalMode {
  found,    // as it was before
  quiet,    // while an entry runs: keys are not shown, and wait as they are typed
  editing,  // also Ctrl-C and others are only keys, and pastes are marked
};

// Keeps the present mode as `found`. From now on a process that is stopped (Ctrl-Z) leaves the
// terminal as it was found.
void keep_terminal();
// A process in the background waits for the foreground, but not for `found`. A signal handler may
// call this.
void set_terminal(TerminalMode mode);
TerminalMode terminal_mode();

// What happened to the terminal since the last take_terminal_change().
enum class TerminalChange { none, resized, continued };
TerminalChange terminal_change();
TerminalChange take_terminal_change();

}  // namespace pushdown
