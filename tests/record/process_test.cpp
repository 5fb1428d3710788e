#include "record/process.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "support/message.h"
#include "support/scratch.h"

namespace pushdown::process_test {
namespace {

using testing_support::message;

using testing_support::Scratch;

bool never() { return false; }

Command shell(const std::string& text, const std::filesystem::path& output = "") {
  return {{"/bin/sh", "-c", text}, output, {}, nullptr};
}

std::string content(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Fails after 1,000 s, which no correct program takes.
void wait_for(const std::function<bool()>& condition) {
  for (int i = 0; i < 100000 && !condition(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_TRUE(condition());
}

Ending ending_of(Process& process) {
  wait_for([&] { return process.poll().has_value(); });
  return process.poll().value_or(Ending{-1, -1});
}

TEST(Process, EndsAreReported) {
  Process fine(shell("exit 0")), code(shell("exit 3")), killed(shell("kill -9 $$"));
  EXPECT_EQ(describe(ending_of(fine)), "exited with status 0");
  EXPECT_EQ(describe(ending_of(code)), "exited with status 3");
  EXPECT_EQ(ending_of(killed).signal, SIGKILL);
  EXPECT_EQ(describe(ending_of(killed)), "was killed by signal 9 (Killed)");
}

TEST(Process, OutputIsAppendedAndTheEnvironmentGrows) {
  const Scratch scratch;
  std::ofstream(scratch / "log") << "before\n";
  Command command = shell("cat; echo \"$A $HOME\"; echo error >&2", scratch / "log");
  command.environment = {{"A", "a=b c"}, {"HOME", "nowhere"}};
  Process process(command);
  EXPECT_EQ(ending_of(process).code, 0);
  EXPECT_EQ(content(scratch / "log"), "before\na=b c nowhere\nerror\n");
}

TEST(Process, AProgramThatCannotStartIsAnError) {
  EXPECT_THROW(Process(Command{}), std::invalid_argument);
  const auto text = message<std::runtime_error>([] {
    Process process(Command{{"/no/such/program"}, "", {}, nullptr});
  });
  EXPECT_CONTAINS(text, "/no/such/program");
  EXPECT_CONTAINS(text, "No such file");
}

TEST(Process, SignalsThatAreBlockedOrIgnoredHereAreDefaultThere) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGINT);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto handler = ::signal(SIGTERM, SIG_IGN);
  Process one(shell("exec sleep 3600")), two(shell("exec sleep 3600"));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::signal(SIGTERM, handler);
  one.signal(SIGINT);
  two.signal(SIGTERM);
  EXPECT_EQ(ending_of(one).signal, SIGINT);
  EXPECT_EQ(ending_of(two).signal, SIGTERM);
  one.signal(SIGKILL);  // no error, because it has ended
}

TEST(ProcessPool, WaitsForTheFirstEnd) {
  ProcessPool pool;
  const auto slow = pool.start(shell("exec sleep 3600")),
             fast = pool.start(shell("exec sleep 0.1"));
  pool.wait(1800, never);
  EXPECT_TRUE(fast->poll());
  EXPECT_FALSE(slow->poll());
  EXPECT_EQ(pool.running(), 1u);
  pool.wait(1800, [] { return true; });
  pool.wait(0.05, never);
  pool.stop(1800);
  EXPECT_EQ(ending_of(*slow).signal, SIGINT);
  EXPECT_EQ(pool.running(), 0u);
}

TEST(ProcessPool, StopsTheStubbornWithAllTheyStarted) {
  const Scratch scratch;
  ProcessPool pool;
  const auto stubborn = pool.start(
      shell("trap '' INT; sh -c 'echo $$; while :; do sleep 1; done' & wait", scratch / "pid"));
  wait_for([&] { return !content(scratch / "pid").empty(); });
  const pid_t grandchild = std::stoi(content(scratch / "pid"));
  pool.stop(0.2);
  EXPECT_EQ(ending_of(*stubborn).signal, SIGKILL);
  // Dead, or a zombie that no process has waited for yet.
  wait_for([&] {
    const auto stat = content(fmt::format("/proc/{}/stat", grandchild));
    return stat.empty() || stat.find(") Z") != stat.npos;
  });
}

TEST(FolderLock, IsHeldOnce) {
  const Scratch scratch;
  EXPECT_EQ(FolderLock::held(scratch / "a/b"), false);
  auto lock = FolderLock::take(scratch / "a/b");
  ASSERT_TRUE(lock);
  EXPECT_EQ(lock->folder(), scratch / "a/b");
  EXPECT_EQ(FolderLock::held(scratch / "a/b"), true);
  EXPECT_FALSE(FolderLock::take(scratch / "a/b"));
  lock->release();
  EXPECT_EQ(FolderLock::held(scratch / "a/b"), false);
  EXPECT_TRUE(FolderLock::take(scratch / "a/b"));
  std::ofstream(scratch / "file").flush();
  EXPECT_THROW(FolderLock::take(scratch / "file"), std::runtime_error);
}

TEST(FolderLock, IsInheritedByTheChildItIsGivenToAndNoOther) {
  const Scratch scratch;
  const auto folder = scratch / "run";
  auto lock = FolderLock::take(folder);
  Command command = shell("exec sleep 3600");
  Process stranger(command);
  command.lock = lock;
  Process child(command);
  lock->release();
  EXPECT_EQ(FolderLock::held(folder), true);
  child.signal(SIGKILL);
  ending_of(child);
  EXPECT_EQ(FolderLock::held(folder), false);
  stranger.kill_group();
  ending_of(stranger);
}

}  // namespace
}  // namespace pushdown::process_test
