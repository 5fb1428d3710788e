// What is typed before the first prompt, and what the prompt does not wait for.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "shell/prompt.h"

namespace pushdown::start_test {
namespace {

namespace fs = std::filesystem;

// The module is a pipe here, so loading it never ends.
TEST_F(Prompt, AppearsWhileTheModuleLoads) {
  fs::copy_file(SHELL_BINARY, home_ + "/pushdown");
  ASSERT_EQ(::mkfifo((home_ + "/pushdown.so").c_str(), 0600), 0);
  Terminal terminal({home_ + "/pushdown"}, environment());
  ASSERT_TRUE(terminal.play({
      {"", "pd> "},
      {"6 * 7\n", "\n42\n"},
  }));
  EXPECT_EQ(leave_at_prompt(terminal), 0);
}

TEST_F(Prompt, AnEarlyCtrlDEndsTheSession) {
  auto empty = start();
  empty.type(kCtrlD);
  EXPECT_EQ(empty.wait_exit(), 0);

  auto terminal = start();
  terminal.type("6 * 7\n" + kCtrlD);
  EXPECT_EQ(terminal.wait_exit(), 0);
  EXPECT_NE(terminal.screen().find("\n42\n"), std::string::npos) << terminal.screen();
}

TEST_F(Prompt, ACtrlDWhileSomethingRunsEndsTheSessionAfterwards) {
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play({
      {"io.write('wai', 'ting\\n') while not io.open '" + home_ +
           "/go' do end print('la' .. 'ter')\n",
       "waiting\n"},
      {kCtrlD, ""},
  }));
  EXPECT_EQ(terminal.wait_exit(0.2), -1);
  std::ofstream(home_ + "/go").flush();
  EXPECT_EQ(terminal.wait_exit(), 0);
  EXPECT_NE(terminal.screen().find("\nlater\n"), std::string::npos) << terminal.screen();
}

// Ctrl-Space is the zero byte for which a terminal exchanges an early Ctrl-D.
TEST_F(Prompt, CtrlSpaceHasNoEffect) {
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play(std::string(1, '\0') + "6 * 7\n", "\n42\n"));
  EXPECT_EQ(leave_at_prompt(terminal), 0);
}

}  // namespace
}  // namespace pushdown::start_test
