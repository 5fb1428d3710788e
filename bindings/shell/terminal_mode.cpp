#include "bindings/shell/terminal_mode.h"

#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace pushdown {
namespace {

// A signal handler can access only globals.
termios found{};
std::atomic<bool> kept{false};
std::atomic<TerminalMode> wanted{TerminalMode::found};
std::atomic<TerminalChange> change{TerminalChange::none};
bool marks_pastes = false;

bool in_foreground() { return ::tcgetpgrp(STDIN_FILENO) == ::getpgrp(); }

void apply(TerminalMode mode) {
  termios modes = found;
  if (mode != TerminalMode::found) {
    modes.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON);
    modes.c_cc[VMIN] = 1;
    modes.c_cc[VTIME] = 0;
  }
  if (mode == TerminalMode::editing) {
    modes.c_lflag &= ~static_cast<tcflag_t>(ISIG | IEXTEN);
    // A pasted CR LF must not become two ends of lines.
    modes.c_iflag &= ~static_cast<tcflag_t>(IXON | ISTRIP | ICRNL | INLCR | IGNCR);
  }
  ::tcsetattr(STDIN_FILENO, TCSANOW, &modes);
  if (marks_pastes == (mode == TerminalMode::editing)) return;
  marks_pastes = !marks_pastes;
  const auto ignored = ::write(STDOUT_FILENO, marks_pastes ? "\033[?2004h" : "\033[?2004l", 8);
  static_cast<void>(ignored);
}

void on_resize(int) {
  auto none = TerminalChange::none;
  change.compare_exchange_strong(none, TerminalChange::resized);
}

void on_continue(int) {
  const int error = errno;
  change = TerminalChange::continued;
  if (in_foreground()) apply(wanted);
  errno = error;
}

void on_stop(int number) {
  const int error = errno;
  if (in_foreground()) apply(TerminalMode::found);
  struct sigaction usual = {}, own = {};
  usual.sa_handler = SIG_DFL;
  sigaction(number, &usual, &own);
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, number);
  ::raise(number);
  ::pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);  // stops here
  ::pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  sigaction(number, &own, nullptr);
  on_continue(SIGCONT);  // a process that nobody could continue was not stopped
  errno = error;
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action = {};
  sigaction(number, nullptr, &action);
  if (action.sa_handler == SIG_IGN) return;
  action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

}  // namespace

void keep_terminal() {
  kept = ::tcgetattr(STDIN_FILENO, &found) == 0;
  handle(SIGWINCH, on_resize);
  handle(SIGCONT, on_continue);
  handle(SIGTSTP, on_stop);
}

void set_terminal(TerminalMode mode) {
  if (!kept) return;
  wanted = mode;
  if (mode != TerminalMode::found || in_foreground()) apply(mode);
}

TerminalMode terminal_mode() { return wanted; }
TerminalChange terminal_change() { return change; }
TerminalChange take_terminal_change() { return change.exchange(TerminalChange::none); }

}  // namespace pushdown
