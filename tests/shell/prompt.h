// The program's prompt in a pseudo-terminal, with a home folder of its own.
#pragma once
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "shell/terminal.h"

namespace pushdown {

// Presses Ctrl-C while a line is edited, until the text appears. A Ctrl-C between the prompt's
// output and its first read has no effect, so it is pressed again.
inline bool clear_line(Terminal& terminal, const std::string& shown) {
  for (int i = 0; i < 5; ++i) {
    terminal.type("\x03");
    if (terminal.expect(shown, 2)) return true;
  }
  return false;
}

class Prompt : public testing::Test {
 protected:
  Prompt() {
    char pattern[] = "/tmp/pushdown_prompt_XXXXXX";
    home_ = mkdtemp(pattern);
  }
  ~Prompt() override { std::filesystem::remove_all(home_); }

  std::map<std::string, std::string> environment(const std::string& term = "xterm") const {
    return {{"TERM", term},
            {"HOME", home_},
            {"XDG_STATE_HOME", ""},
            {"LC_ALL", "C.UTF-8"},
            {"NO_COLOR", ""}};
  }
  Terminal start(const std::vector<std::string>& words = {},
                 const std::string& term = "xterm") const {
    std::vector<std::string> line{SHELL_BINARY};
    line.insert(line.end(), words.begin(), words.end());
    return Terminal(line, environment(term));
  }

  std::string home_;
};

inline const std::string kCtrlC = "\x03", kCtrlD = "\x04", kCtrlP = "\x10";

// Presses Ctrl-D at the next prompt. Returns the exit status.
inline int leave_at_prompt(Terminal& terminal) {
  if (!terminal.expect("pd> ")) return -2;
  // A Ctrl-D before the line is edited is lost in the terminal.
  for (int i = 0; i < 10; ++i) {
    terminal.type(kCtrlD);
    const int status = terminal.wait_exit(1);
    if (status != -1) return status;
  }
  return -1;
}

}  // namespace pushdown
