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

// Presses Ctrl-C while a line is edited, until the text appears. The first one may end a completion
// that is still running.
inline bool clear_line(Terminal& terminal, const std::string& shown) {
  for (double seconds = 1; seconds < kPatience; seconds *= 2) {
    terminal.type("\x03");
    if (terminal.expect(shown, seconds)) return true;
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
  // The same after its first prompt has appeared.
  Terminal at_prompt(const std::vector<std::string>& words = {}) const {
    auto terminal = start(words);
    EXPECT_TRUE(terminal.expect("pd> ")) << terminal.screen();
    return terminal;
  }

  std::string home_;
};

inline const std::string kCtrlC = "\x03", kCtrlD = "\x04", kCtrlP = "\x10";

// Presses Ctrl-D at the next prompt. Returns the exit status.
inline int leave_at_prompt(Terminal& terminal) {
  if (!terminal.expect("pd> ")) return -2;
  terminal.type(kCtrlD);
  return terminal.wait_exit();
}

}  // namespace pushdown
