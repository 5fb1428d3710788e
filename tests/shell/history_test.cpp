// The history of the prompt and its file.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "shell/prompt.h"

namespace pushdown::history_test {
namespace {

namespace fs = std::filesystem;

class History : public Prompt {
 protected:
  History() { fs::create_directories(folder_); }

  std::string history() const {
    std::ifstream file(folder_ + "/history");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::string folder_ = home_ + "/.local/state/pushdown";
};

TEST_F(History, SearchesTheHistory) {
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play({
      {"'need' .. 'le'\n", "\nneedle\n"},
      {"'hay'\n", "\nhay\n"},
      {"", "pd> "},
      {"\x12", "search: "},
      {"need", "need"},
      {"\n", "\nneedle\n"},
  }));
}

TEST_F(History, KeepsItsHistoryForTheNextSession) {
  {
    auto terminal = start();
    ASSERT_TRUE(terminal.play("'one' ..\n'two'\n", "\nonetwo\n"));
    ASSERT_EQ(leave_at_prompt(terminal), 0);
  }
  EXPECT_NE(history(), "");
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play(kCtrlP + "\n", "\nonetwo\n"));
}

TEST_F(History, ReadsTheFilesOfLibedit) {
  std::ofstream(folder_ + "/history")
      << "_HiStOrY_V2_\n'ol'\\040..\\012\\'dä'\\040..\\040#'\\^A'\n";
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play(kCtrlP + "\n", "\noldä1\n"));
}

TEST_F(History, PromptsAtTheSameTimeShareTheHistory) {
  {
    auto first = start(), second = start();
    ASSERT_TRUE(first.expect("pd> ") && second.expect("pd> "));
    for (int i = 1; i <= 3; ++i)
      for (auto* one : {&first, &second}) {
        one->type((one == &first ? "a" : "b") + std::to_string(i) + "=1\n");
        ASSERT_TRUE(one->expect("pd> "));
      }
    for (auto* one : {&first, &second}) one->type(kCtrlD);
    for (auto* one : {&first, &second}) EXPECT_EQ(one->wait_exit(), 0);
  }
  const auto text = history();
  for (const char* entry : {"a1=1", "a2=1", "a3=1", "b1=1", "b2=1", "b3=1"})
    EXPECT_NE(text.find(entry), text.npos) << entry << " in\n" << text;
}

TEST_F(History, AnotherProcessWithTheLockDoesNotStopThePrompt) {
  const int lock = ::open((folder_ + "/history.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play("'be' .. 'fore'\n", "\nbefore\n"));
  EXPECT_EQ(history(), "");
  ::close(lock);
  ASSERT_TRUE(terminal.play({
      {"", "pd> "},
      {"'af' .. 'ter'\n", "\nafter\n"},
  }));
  EXPECT_EQ(leave_at_prompt(terminal), 0);
  // The entry that waited is there, too.
  const auto first = history().find("fore"), second = history().find("ter");
  EXPECT_TRUE(first < second && second != std::string::npos) << history();
}

TEST_F(History, ALinkStaysALink) {
  fs::create_directory(home_ + "/elsewhere");
  fs::create_symlink(home_ + "/elsewhere", home_ + "/way");
  fs::create_symlink("../../../way/kept", folder_ + "/history");  // the file does not exist yet
  for (const std::string entry : {"first=1", "second=1"}) {
    auto terminal = at_prompt();
    terminal.type(entry + "\n");
    ASSERT_EQ(leave_at_prompt(terminal), 0);
    EXPECT_TRUE(fs::is_symlink(folder_ + "/history"));
    EXPECT_TRUE(fs::is_regular_file(home_ + "/elsewhere/kept"));
    EXPECT_NE(history().find(entry), std::string::npos);
  }
  EXPECT_NE(history().find("first=1"), std::string::npos);
}

TEST_F(History, ALinkToADeviceAsksForNone) {
  fs::create_symlink("/dev/null", folder_ + "/history");
  auto terminal = at_prompt();
  terminal.type("x=1\n");
  ASSERT_EQ(leave_at_prompt(terminal), 0);
  EXPECT_TRUE(fs::is_symlink(folder_ + "/history"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace pushdown::history_test
