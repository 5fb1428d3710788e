// Commands of the prompt that need a terminal: the pager of long help pages, and commands of the
// system.
#include "shell/prompt.h"

namespace pushdown::commands_test {
namespace {

class Commands : public Prompt {};

TEST_F(Commands, LongHelpStopsWhenTheWindowIsFull) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  const auto ask = [&] {
    terminal.type("? pd.train.trainer\n");
    ASSERT_TRUE(terminal.expect("-- 23 of ")) << terminal.screen();
  };
  ask();
  terminal.type(" ");
  ASSERT_TRUE(terminal.expect("-- 46 of ")) << terminal.screen();
  terminal.type("x\n");  // an unknown key, then one more line
  ASSERT_TRUE(terminal.expect("-- 47 of ")) << terminal.screen();
  for (const std::string& key : {std::string("q"), kCtrlC, std::string("\033")}) {
    terminal.type(key);
    ASSERT_TRUE(terminal.expect("pd> ")) << terminal.screen();
    terminal.type("'still ' .. 'here'\n");
    ASSERT_TRUE(terminal.expect("\nstill here\n")) << terminal.screen();
    ASSERT_TRUE(terminal.expect("pd> ")) << terminal.screen();
    ask();
  }
  bool ended = false;
  for (int i = 0; i < 20 && !ended; ++i) {
    terminal.type(" ");
    ended = terminal.expect("pd> ", 2);
  }
  ASSERT_TRUE(ended) << terminal.screen();
  terminal.type(kCtrlC);
  ASSERT_TRUE(terminal.expect("pd> ")) << terminal.screen();
  // A short page does not stop.
  terminal.type("? pd.stack.kinds\n");
  ASSERT_TRUE(terminal.expect("kinds() -> table")) << terminal.screen();
  terminal.type("'after ' .. 'it'\n");
  EXPECT_TRUE(terminal.expect("\nafter it\n")) << terminal.screen();
}

TEST_F(Commands, PastedInputIsNotTakenForKeys) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("? pd.train.trainer\n'qu' .. 'een'\n");
  EXPECT_TRUE(terminal.expect("\nqueen\n")) << terminal.screen();
}

TEST_F(Commands, CtrlCStopsACommandOfTheSystem) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("kept = 'kept'\n!echo started; sleep 1000\n");
  ASSERT_TRUE(terminal.expect("\nstarted\n")) << terminal.screen();
  // One that arrives before the system's shell has started `sleep` is lost there.
  ASSERT_TRUE(clear_line(terminal, "sleep 1000: interrupted")) << terminal.screen();
  terminal.type("'is ' .. kept\n");
  EXPECT_TRUE(terminal.expect("\nis kept\n")) << terminal.screen();
  // A command may read what is typed.
  terminal.type("!echo ready; read answer; echo \"got $answer\"\n");
  ASSERT_TRUE(terminal.expect("\nready\n")) << terminal.screen();
  terminal.type("this\n");
  EXPECT_TRUE(terminal.expect("got this")) << terminal.screen();
}

TEST_F(Commands, CompletesCommands) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("first = 1\n");
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type(":his\tfirst\n");
  EXPECT_TRUE(terminal.expect("1  first = 1")) << terminal.screen();
}

}  // namespace
}  // namespace pushdown::commands_test
