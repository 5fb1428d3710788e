// Commands of the prompt that need a terminal: the pager of long help pages, and commands of the
// system.
#include "shell/prompt.h"

namespace pushdown::commands_test {
namespace {

class Commands : public Prompt {};

TEST_F(Commands, LongHelpStopsWhenTheWindowIsFull) {
  auto terminal = at_prompt();
  const auto ask = [&] { ASSERT_TRUE(terminal.play("? pd.train.trainer\n", "-- 23 of ")); };
  ask();
  ASSERT_TRUE(terminal.play({
      {" ", "-- 46 of "},
      // An unknown key, then one more line.
      {"x\n", "-- 47 of "},
  }));
  for (const std::string& key : {std::string("q"), kCtrlC, std::string("\033")}) {
    ASSERT_TRUE(terminal.play({
        {key, "pd> "},
        {"'still ' .. 'here'\n", "\nstill here\n"},
        {"", "pd> "},
    }));
    ask();
  }
  bool ended = false;
  for (int i = 0; i < 20 && !ended; ++i) {
    terminal.type(" ");
    ended = terminal.expect("pd> ", 2);
  }
  ASSERT_TRUE(ended) << terminal.screen();
  ASSERT_TRUE(terminal.play({
      {kCtrlC, "pd> "},
      // A short page does not stop.
      {"? pd.stack.kinds\n", "kinds() -> table"},
      {"'after ' .. 'it'\n", "\nafter it\n"},
  }));
}

TEST_F(Commands, PastedInputIsNotTakenForKeys) {
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play("? pd.train.trainer\n'qu' .. 'een'\n", "\nqueen\n"));
}

TEST_F(Commands, CtrlCStopsACommandOfTheSystem) {
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play("kept = 'kept'\n!echo started; sleep 1000\n", "\nstarted\n"));
  // One that arrives before the system's shell has started `sleep` is lost there.
  ASSERT_TRUE(clear_line(terminal, "sleep 1000: interrupted")) << terminal.screen();
  ASSERT_TRUE(terminal.play({
      {"'is ' .. kept\n", "\nis kept\n"},
      // A command may read what is typed.
      {"!echo ready; read answer; echo \"got $answer\"\n", "\nready\n"},
      {"this\n", "got this"},
  }));
}

TEST_F(Commands, CompletesCommands) {
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play({
      {"first = 1\n", "pd> "},
      {":his\tfirst\n", "1  first = 1"},
  }));
}

}  // namespace
}  // namespace pushdown::commands_test
