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
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("for i = 1, 2 do\nprint('line ' .. i)");
  ASSERT_TRUE(terminal.expect("... "));
  terminal.type(kUp +
                "\x05\x02\x02\x02\x7f"
                "3" +
                kDown + "\x05\nend\n");
  ASSERT_TRUE(terminal.expect("line 3"));
  // Recalled, Up moves inside of it first.
  terminal.type(kUp + kUp + kUp + "\x05\x02\x02\x02\x7f" + "4" + "\n");
  EXPECT_TRUE(terminal.expect("line 4")) << terminal.screen();
}

TEST_F(Prompt, PastesTenThousandLines) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  std::string text = "\033[200~";
  for (int i = 0; i < 10000; ++i) text += "n = " + std::to_string(i) + " * 2 -- one line of many\r";
  const double used = terminal.used_seconds();
  terminal.type(text + "print('n ' .. n)\033[201~");
  ASSERT_TRUE(terminal.expect("print('n ' .. n)"));
  EXPECT_LT(terminal.used_seconds() - used, 5);
  EXPECT_EQ(terminal.screen().find("n 19998"), std::string::npos);
  terminal.type("\n");
  EXPECT_TRUE(terminal.expect("\nn 19998\n"));
  EXPECT_LT(terminal.used_seconds() - used, 20);
}

TEST_F(Prompt, ShowsWhatIsTypedAheadOnlyAfterwards) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("io.write('wai', 'ting\\n') while not io.open '" + home_ +
                "/go' do end print('la' .. 'ter')\n");
  ASSERT_TRUE(terminal.expect("waiting\n"));
  terminal.type("'typed' .. 'X\x7f ahead'\n");
  EXPECT_FALSE(terminal.expect("typed", 0.3)) << terminal.screen();
  std::ofstream(home_ + "/go").flush();
  EXPECT_TRUE(terminal.expect("later\n")) << terminal.screen();
  EXPECT_TRUE(terminal.expect("\ntyped ahead\n")) << terminal.screen();
}

TEST_F(Prompt, FunctionsThatReadShowWhatIsTyped) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("io.write('na', 'me?\\n') name = io.read() io.write(name, '!\\n')\n");
  ASSERT_TRUE(terminal.expect("name?\n"));
  terminal.type("Ada\n'next ' .. name\n");
  EXPECT_TRUE(terminal.expect("Ada!\n")) << terminal.screen();
  EXPECT_TRUE(terminal.expect("\nnext Ada\n")) << terminal.screen();
  // The terminal edits and shows what is typed for a program.
  terminal.type("os.execute 'printf g; echo o; read line; echo got $line'\n");
  ASSERT_TRUE(terminal.expect("\ngo\n"));
  terminal.type("text\x7f\x7fst\n");
  EXPECT_TRUE(terminal.expect("te")) << terminal.screen();
  EXPECT_TRUE(terminal.expect("got test")) << terminal.screen();
}

TEST_F(Prompt, ContinuesAfterAStop) {
  Terminal terminal({"/bin/sh", "-i"}, environment());
  terminal.type(SHELL_BINARY "\n");
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("'half");
  ASSERT_TRUE(terminal.expect("'half"));
  terminal.type("\x1a");
  ASSERT_TRUE(terminal.expect("topped")) << terminal.screen();
  terminal.type("stty -a; echo tty\n");
  ASSERT_TRUE(terminal.expect("\ntty"));
  EXPECT_EQ(terminal.screen().find("-icanon"), std::string::npos) << terminal.screen();
  terminal.type("fg\n");
  ASSERT_TRUE(terminal.expect("pd> 'half")) << terminal.screen();
  terminal.type(" and half'\n");
  ASSERT_TRUE(terminal.expect("\nhalf and half\n")) << terminal.screen();
  // While an entry runs.
  terminal.type("io.write('lo', 'op\\n') while not io.open '" + home_ + "/go' do end\n");
  ASSERT_TRUE(terminal.expect("loop\n"));
  terminal.type("\x1a");
  ASSERT_TRUE(terminal.expect("topped")) << terminal.screen();
  terminal.type("stty -a; echo tty\n");
  ASSERT_TRUE(terminal.expect("\ntty"));
  EXPECT_EQ(terminal.screen().find("-icanon"), std::string::npos) << terminal.screen();
  std::ofstream(home_ + "/go").flush();
  terminal.type("fg\n");
  ASSERT_TRUE(terminal.expect("pd> ")) << terminal.screen();
  terminal.type("6 * 7\n");
  EXPECT_TRUE(terminal.expect("\n42\n")) << terminal.screen();
}

TEST_F(Prompt, LeavesTheTerminalAsItWas) {
  for (const char* entry : {"quit", "os.exit(3)", "os.execute 'kill -TERM $PPID'",
                            "os.execute 'kill -TERM $PPID; sleep 0.7; kill -TERM $PPID'"}) {
    Terminal terminal({"/bin/sh", "-c", SHELL_BINARY "; stty -a; echo tty"}, environment());
    ASSERT_TRUE(terminal.expect("pd> "));
    terminal.type(std::string(entry) + "\n");
    ASSERT_TRUE(terminal.expect("\ntty"));
    EXPECT_EQ(terminal.screen().find("-icanon"), std::string::npos) << terminal.screen();
    EXPECT_EQ(terminal.screen().find("-echo "), std::string::npos) << terminal.screen();
    EXPECT_GT(terminal.raw().rfind("\033[?2004l"), terminal.raw().rfind("\033[?2004h")) << entry;
  }
}

TEST_F(Prompt, SuggestsEarlierEntries) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("('sug' .. 'gested')\n");
  ASSERT_TRUE(terminal.expect("\nsuggested\n"));
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("('s");
  ASSERT_TRUE(terminal.expect("('sug' .. 'gested')")) << terminal.screen();
  EXPECT_NE(terminal.raw().find("\033[90mug' .. 'gested')"), std::string::npos);
  terminal.type(kRight + "\n");
  EXPECT_TRUE(terminal.expect("\nsuggested\n")) << terminal.screen();
}

TEST_F(Prompt, UndoesAndSearches) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("'first ' .. 1\n'second ' .. 2\n");
  ASSERT_TRUE(terminal.expect("\nsecond 2\n"));
  terminal.type(
      "\x12"
      "first\x12\x07"
      "'third ' .. 3\n");
  EXPECT_TRUE(terminal.expect("\nthird 3\n")) << terminal.screen();
  terminal.type("\x12 .. \x12\x12\n");
  EXPECT_TRUE(terminal.expect("\nfirst 1\n")) << terminal.screen();
  terminal.type("'kept'\x15\x1f .. ' so'\n");
  EXPECT_TRUE(terminal.expect("\nkept so\n")) << terminal.screen();
}

TEST_F(Prompt, DrawsWideCharactersAndOtherWindows) {
  auto terminal = start();
  Follower screen(terminal, 100, 24);
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("x = '漢字' .. 'e\u0301' .. '👍 abc'");
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
  terminal.type(
      "\x03"
      "io.write('no', 'thing')\n");
  EXPECT_TRUE(terminal.expect("nothing")) << terminal.screen();
}

TEST_F(Prompt, SurvivesRandomKeys) {
  std::mt19937 random(7);
  const std::string bytes =
      "ab(['\"])}\t\x7f\x01\x02\x05\x06\x0b\x0c\x0e\x10\x12\x13\x15\x17\x19\x1f"
      "\033\033\033[OABCDHF;53~ \xe6\xbc\xa2\xff";
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  for (int i = 0; i < 60; ++i) {
    std::string keys;
    for (int k = 0; k < 50; ++k) keys += bytes[random() % bytes.size()];
    terminal.resize(static_cast<int>(1 + random() % 100), static_cast<int>(1 + random() % 30));
    terminal.type(keys);
    if (i % 10 != 9) continue;
    // Ends a pasted text and a search, then the entry.
    const auto number = std::to_string(1000 + i);
    terminal.type(
        "\033[201~\x03\x03"
        "io.write('r" +
        number + "', 'x\\n')\n");
    ASSERT_TRUE(terminal.expect("r" + number + "x")) << terminal.screen();
  }
}

}  // namespace
}  // namespace pushdown::editor_test
