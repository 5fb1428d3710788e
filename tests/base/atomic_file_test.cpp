#include "base/atomic_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "base/stopping.h"
#include "base/written_list.h"
#include "support/message.h"
#include "support/scratch.h"

namespace pushdown::atomic_file_test {
namespace {

using testing_support::message;
using testing_support::Scratch;

// Runs `action` while no file may grow beyond `bytes`, as on a full disk.
template <class Action>
void with_little_space(rlim_t bytes, const Action& action) {
  const auto before = ::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit small{bytes, old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  action();
  ::setrlimit(RLIMIT_FSIZE, &old);
  ::signal(SIGXFSZ, before);
}

TEST(LineFile, ALineThatDoesNotFitLeavesNothing) {
  const Scratch scratch;
  LineFile lines(scratch / "lines", "one\n");
  with_little_space(10, [&] {
    EXPECT_CONTAINS(message([&] { lines.append("two and three"); }), "lines': File too large");
  });
  EXPECT_EQ(read_file(scratch / "lines"), "one\n");
  lines.append("four");
  EXPECT_EQ(read_file(scratch / "lines"), "one\nfour\n");
}

TEST(FileWriter, AFileThatDoesNotFitLeavesTheOldOne) {
  const Scratch scratch;
  write_file(scratch / "file", "old");
  with_little_space(10, [&] {
    EXPECT_CONTAINS(message([&] { write_file(scratch / "file", "twenty new characters"); }),
                    "file': File too large");
  });
  EXPECT_EQ(read_file(scratch / "file"), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch.path()), {}), 1);
}

// So a killed process leaves no part of a file.
TEST(FileWriter, AnUnfinishedFileHasNoName) {
  const Scratch scratch;
  const auto count = [&] {
    return std::distance(std::filesystem::directory_iterator(scratch.path()), {});
  };
  const int probe = ::open(scratch.path().c_str(), O_WRONLY | O_TMPFILE, 0600);
  if (probe < 0) GTEST_SKIP() << "this file system has no unnamed files";
  ::close(probe);
  {
    FileWriter writer(scratch / "file");
    writer.write(std::string(3 << 20, 'x'));
    EXPECT_EQ(count(), 0);
  }
  EXPECT_EQ(count(), 0);
  FileWriter writer(scratch / "file");
  writer.write("short");
  writer.commit();
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(read_file(scratch / "file"), "short");
  struct stat status {};
  ASSERT_EQ(::stat((scratch / "file").c_str(), &status), 0);
  const auto mask = ::umask(0);
  ::umask(mask);
  EXPECT_EQ(status.st_mode & 0777, 0644U & ~mask);
}

TEST(FileWriter, ALeftLinkOfTheTemporaryNameIsNotFollowed) {
  const Scratch scratch;
  write_file(scratch / "elsewhere", "kept");
  const auto temporary = (scratch / "file").string() + "." + std::to_string(::getpid()) + ".tmp";
  std::filesystem::create_symlink(scratch / "elsewhere", temporary);
  write_file(scratch / "file", "new");
  EXPECT_EQ(read_file(scratch / "elsewhere"), "kept");
  EXPECT_EQ(read_file(scratch / "file"), "new");
  EXPECT_FALSE(std::filesystem::is_symlink(scratch / "file"));
}

// A folder may come from somebody else.
TEST(ReadFile, PipesDevicesAndHugeFilesAreRefused) {
  const Scratch scratch;
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", scratch / "zero");
  for (const char* name : {"pipe", "zero"})
    EXPECT_EQ(message([&] { read_file(scratch / name); }),
              "[file] cannot read '" + (scratch / name).string() +
                  "': it is a pipe or a device, not a regular file");
  write_file(scratch / "huge", "");
  std::filesystem::resize_file(scratch / "huge", std::uintmax_t{1} << 43);  // without blocks
  EXPECT_CONTAINS(message([&] { read_file(scratch / "huge"); }), "needs 8.8 TB");
}

TEST(ReadFile, AStreamWithoutEndStops) {
  const StopFlag pressed{1};
  const StopScope scope(&pressed);
  EXPECT_THROW(read_stream("/dev/zero"), Stopped);
}

TEST(ProcessLock, TheLatestOfAProcessWrites) {
  const Scratch scratch;
  ProcessLock first(scratch.path());
  EXPECT_TRUE(first.taken());
  EXPECT_FALSE(first.owned());
  first.claim();
  EXPECT_TRUE(first.owned());
  {
    ProcessLock second(scratch.path());
    EXPECT_TRUE(first.owned());
    second.claim();
    EXPECT_FALSE(first.owned());
    EXPECT_TRUE(second.owned());
  }
  EXPECT_FALSE(first.owned());
  first.claim();
  EXPECT_TRUE(first.owned());
}

// Returns whether another open file, such as that of another process, could lock the folder.
bool is_free(const Path& folder) {
  const int descriptor = ::open((folder / ".lock").c_str(), O_RDWR | O_CLOEXEC);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  const bool free = ::fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
  ::close(descriptor);
  return free;
}

TEST(ProcessLock, ClosingAnotherDescriptorOfTheFileKeepsIt) {
  const Scratch scratch;
  {
    const ProcessLock lock(scratch.path());
    { std::ifstream reader(scratch / ".lock"); }
    { const ProcessLock other(scratch.path()); }
    EXPECT_FALSE(is_free(scratch.path()));
  }
  EXPECT_TRUE(is_free(scratch.path()));
}

TEST(ProcessLock, FollowsNoLink) {
  const Scratch scratch;
  std::filesystem::create_symlink(scratch / "elsewhere", scratch / ".lock");
  EXPECT_CONTAINS(message([&] { ProcessLock{scratch.path()}; }), ".lock");
  EXPECT_FALSE(std::filesystem::exists(scratch / "elsewhere"));
}

// The list names each file once, before it exists; files elsewhere and links out of the folder are
// not on it.
TEST(WrittenList, NamesTheFilesOfAFolder) {
  const Scratch scratch;
  const Path run = scratch / "run", list = run / ".written";
  std::filesystem::create_directories(run / "data");
  write_file(run / "before", "");
  keep_written_list(run);
  EXPECT_TRUE(written_list(run).empty());
  write_file(run / "one", "1");
  write_file(run / "data" / "." / "two", "2");
  write_file(run / "one", "3");
  write_file(scratch / "elsewhere", "4");
  std::filesystem::create_directory_symlink(scratch.path(), run / "out");
  write_file(run / "out" / "five", "5");
  const LineFile lines(run / "lines", "");
  EXPECT_EQ(written_list(run), (std::vector<std::string>{"one", "data/two", "lines"}));
  // The line that a full disk has cut off names nothing; the next one is whole.
  with_little_space(static_cast<rlim_t>(std::filesystem::file_size(list)) + 3, [&] {
    EXPECT_CONTAINS(message([&] { write_file(run / "six", ""); }), ".written");
  });
  EXPECT_FALSE(std::filesystem::exists(run / "six"));
  write_file(run / "seven", "");
  EXPECT_EQ(written_list(run), (std::vector<std::string>{"one", "data/two", "lines", "seven"}));
}

TEST(WrittenList, PathsThatLeadOutAreLeftOut) {
  const Scratch scratch;
  write_file(scratch / ".written",
             "\"a\"\n\"../b\"\n\"/c\"\n\"d/../../e\"\nf\n[]\n\"\"\n\"g/h\"\n\"a\"\n");
  EXPECT_EQ(written_list(scratch.path()), (std::vector<std::string>{"a", "g/h"}));
}

}  // namespace
}  // namespace pushdown::atomic_file_test
