// The editor of the prompt in a pseudo-terminal.
// label: long
#include <signal.h>

#include <chrono>
#include <fstream>
#include <random>
#include <thread>

#include "shell/prompt.h"
#include "shell/screen_model.h"

namespace pushdown::editor_test {
namespace {

const std::string kUp = "\033[A", kDown = "\033[B", kRight = "\033[C", kHome = "\033[H";

// Follows what a terminal shows.
class Follower {
 public:
  Follower(Terminal& terminal, int columns, int rows)
      : terminal_(terminal), model_(columns, rows) {}

  void resize(int columns, int rows) {
    read();
    model_.resize(columns, rows);
    terminal_.resize(columns, rows);
  }
  // Waits until these are the last lines, without empty ones. Returns the lines.
  std::vector<std::string> wait(const std::vector<std::string>& wanted) {
    std::vector<std::string> last;
    for (const double end = seconds_now() + kPatience; seconds_now() < end;) {
      terminal_.expect("no such text", 0.02);
      read();
      last = model_.all();
      while (!last.empty() && last.back().empty()) last.pop_back();
      const auto count = static_cast<std::ptrdiff_t>(std::min(last.size(), wanted.size()));
      last.erase(last.begin(), last.end() - count);
      if (last == wanted) break;
    }
    return last;
  }
  const ScreenModel& model() const { return model_; }

 private:
  void read() {
    model_.write(std::string_view(terminal_.raw()).substr(seen_));
    seen_ = terminal_.raw().size();
  }

  Terminal& terminal_;
  ScreenModel model_;
  std::size_t seen_ = 0;
};

using Lines = std::vector<std::string>;

TEST_F(Prompt, EditsAllLinesOfAnEntry) {
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play({
      {"for i = 1, 2 do\nprint('line ' .. i)", "... "},
      {kUp +
           "\x05\x02\x02\x02\x7f"
           "3" +
           kDown + "\x05\nend\n",
       "line 3"},
      // Recalled, Up moves inside of it first.
      {kUp + kUp + kUp + "\x05\x02\x02\x02\x7f" + "4" + "\n", "line 4"},
  }));
}

TEST_F(Prompt, PastesTenThousandLines) {
  auto terminal = at_prompt();
  std::string text = "\033[200~";
  for (int i = 0; i < 10000; ++i) text += "n = " + std::to_string(i) + " * 2 -- one line of many\r";
  const double used = terminal.used_seconds();
  ASSERT_TRUE(terminal.play(text + "print('n ' .. n)\033[201~", "print('n ' .. n)"));
  EXPECT_LT(terminal.used_seconds() - used, 5);
  EXPECT_EQ(terminal.screen().find("n 19998"), std::string::npos);
  ASSERT_TRUE(terminal.play("\n", "\nn 19998\n"));
  EXPECT_LT(terminal.used_seconds() - used, 20);
}

TEST_F(Prompt, ShowsWhatIsTypedAheadOnlyAfterwards) {
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play({
      {"io.write('wai', 'ting\\n') while not io.open '" + home_ +
           "/go' do end print('la' .. 'ter')\n",
       "waiting\n"},
      {"'typed' .. 'X\x7f ahead'\n", ""},
  }));
  EXPECT_FALSE(terminal.expect("typed", 0.3)) << terminal.screen();
  std::ofstream(home_ + "/go").flush();
  ASSERT_TRUE(terminal.play({
      {"", "later\n"},
      {"", "\ntyped ahead\n"},
  }));
}

TEST_F(Prompt, FunctionsThatReadShowWhatIsTyped) {
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play({
      {"io.write('na', 'me?\\n') name = io.read() io.write(name, '!\\n')\n", "name?\n"},
      {"Ada\n'next ' .. name\n", "Ada!\n"},
      {"", "\nnext Ada\n"},
      // The terminal edits and shows what is typed for a program.
      {"os.execute 'printf g; echo o; read line; echo got $line'\n", "\ngo\n"},
      {"text\x7f\x7fst\n", "te"},
      {"", "got test"},
  }));
}

TEST_F(Prompt, ContinuesAfterAStop) {
  Terminal terminal({"/bin/sh", "-i"}, environment());
  ASSERT_TRUE(terminal.play({
      {SHELL_BINARY "\n", "pd> "},
      {"'half", "'half"},
      {"\x1a", "topped"},
      {"stty -a; echo tty\n", "\ntty"},
  }));
  EXPECT_EQ(terminal.screen().find("-icanon"), std::string::npos) << terminal.screen();
  ASSERT_TRUE(terminal.play({
      {"fg\n", "pd> 'half"},
      {" and half'\n", "\nhalf and half\n"},
      // While an entry runs.
      {"io.write('lo', 'op\\n') while not io.open '" + home_ + "/go' do end\n", "loop\n"},
      {"\x1a", "topped"},
      {"stty -a; echo tty\n", "\ntty"},
  }));
  EXPECT_EQ(terminal.screen().find("-icanon"), std::string::npos) << terminal.screen();
  std::ofstream(home_ + "/go").flush();
  ASSERT_TRUE(terminal.play({
      {"fg\n", "pd> "},
      {"6 * 7\n", "\n42\n"},
  }));
}

TEST_F(Prompt, LeavesTheTerminalAsItWas) {
  for (const char* entry : {"quit", "os.exit(3)", "os.execute 'kill -TERM $PPID'",
                            "os.execute 'kill -TERM $PPID; sleep 0.7; kill -TERM $PPID'"}) {
    Terminal terminal({"/bin/sh", "-c", SHELL_BINARY "; stty -a; echo tty"}, environment());
    ASSERT_TRUE(terminal.play({
        {"", "pd> "},
        {std::string(entry) + "\n", "\ntty"},
    }));
    EXPECT_EQ(terminal.screen().find("-icanon"), std::string::npos) << terminal.screen();
    EXPECT_EQ(terminal.screen().find("-echo "), std::string::npos) << terminal.screen();
    EXPECT_GT(terminal.raw().rfind("\033[?2004l"), terminal.raw().rfind("\033[?2004h")) << entry;
  }
}

TEST_F(Prompt, SuggestsEarlierEntries) {
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play({
      {"('sug' .. 'gested')\n", "\nsuggested\n"},
      {"", "pd> "},
      {"('s", "('sug' .. 'gested')"},
  }));
  EXPECT_NE(terminal.raw().find("\033[90mug' .. 'gested')"), std::string::npos);
  ASSERT_TRUE(terminal.play(kRight + "\n", "\nsuggested\n"));
}

TEST_F(Prompt, UndoesAndSearches) {
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play({
      {"'first ' .. 1\n'second ' .. 2\n", "\nsecond 2\n"},
      {"\x12"
       "first\x12\x07'third ' .. 3\n",
       "\nthird 3\n"},
      {"\x12 .. \x12\x12\n", "\nfirst 1\n"},
      {"'kept'\x15\x1f .. ' so'\n", "\nkept so\n"},
  }));
}

TEST_F(Prompt, DrawsWideCharactersAndOtherWindows) {
  auto terminal = start();
  Follower screen(terminal, 100, 24);
  ASSERT_TRUE(terminal.play({
      {"", "pd> "},
      {"x = '漢字' .. 'e\u0301' .. '👍 abc'", ""},
  }));
  const Lines wide{"pd> x = '漢字' .. 'e\u0301' .. '👍 abc'"};
  EXPECT_EQ(screen.wait(wide), wide);
  EXPECT_EQ(screen.model().column(), 33);
  terminal.type(kHome + std::string("yy\033[3~"));
  const Lines changed{"pd> yy = '漢字' .. 'e\u0301' .. '👍 abc'"};
  EXPECT_EQ(screen.wait(changed), changed);
  EXPECT_EQ(screen.model().column(), 6);
  screen.resize(20, 5);
  const Lines narrow{"pd> yy = '漢字' .. '", "e\u0301' .. '👍 abc'"};
  EXPECT_EQ(screen.wait(narrow), narrow);
  screen.resize(11, 2);
  const Lines low{"pd> yy = '", "漢字' .. 'e\u0301"};
  EXPECT_EQ(screen.wait(low), low);
  screen.resize(1, 1);
  ASSERT_TRUE(terminal.play("\x03io.write('no', 'thing')\n", "nothing"));
}

TEST_F(Prompt, SurvivesRandomKeys) {
  std::mt19937 random(7);
  const std::string bytes =
      "ab(['\"])}\t\x7f\x01\x02\x05\x06\x0b\x0c\x0e\x10\x12\x13\x15\x17\x19\x1f"
      "\033\033\033[OABCDHF;53~ \xe6\xbc\xa2\xff";
  auto terminal = at_prompt();
  for (int i = 0; i < 60; ++i) {
    std::string keys;
    for (int k = 0; k < 50; ++k) keys += bytes[random() % bytes.size()];
    terminal.resize(static_cast<int>(1 + random() % 100), static_cast<int>(1 + random() % 30));
    terminal.type(keys);
    if (i % 10 != 9) continue;
    // Ends a pasted text and a search, then the entry.
    const auto number = std::to_string(1000 + i);
    ASSERT_TRUE(terminal.play("\033[201~\x03\x03io.write('r" + number + "', 'x\\n')\n",
                              "r" + number + "x"));
  }
}

}  // namespace
}  // namespace pushdown::editor_test
