#include "record/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/check.h"

extern char** environ;

namespace pushdown {
namespace {

constexpr int kLockDescriptor = 3;  // the descriptor at which a child finds its parent's lock
constexpr auto kNap = std::chrono::milliseconds(20);

using Clock = std::chrono::steady_clock;

std::chrono::nanoseconds nanoseconds(double seconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

// The two parameter objects of posix_spawn.
struct Spawning {
  Spawning() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~Spawning() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& more) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!more.contains(text.substr(0, text.find('=')))) entries.push_back(text);
  }
  for (const auto& [name, value] : more) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (auto& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

}  // namespace

std::string describe(const Ending& ending) {
  if (ending.signal == 0) return fmt::format("exited with status {}", ending.code);
  return fmt::format("was killed by signal {} ({})", ending.signal, ::strsignal(ending.signal));
}

Process::Process(const Command& command) {
  check(!command.words.empty(), "process.start",
        "the command must contain at least the program, got no words");
  for (const auto& word : command.words)
    check(word.find('\0') == word.npos, "process.start",
          "a word of the command must not contain the byte 0, got '{}' before it", word.c_str());
  Spawning spawning;
  const std::string output = command.output.empty() ? "/dev/null" : command.output.string();
  posix_spawn_file_actions_addopen(&spawning.actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&spawning.actions, 1, output.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0644);
  posix_spawn_file_actions_adddup2(&spawning.actions, 1, 2);
  if (command.lock && command.lock->descriptor() >= 0)
    posix_spawn_file_actions_adddup2(&spawning.actions, command.lock->descriptor(),
                                     kLockDescriptor);
  sigset_t signals;
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&spawning.attributes, &signals);
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&spawning.attributes, &signals);
  posix_spawnattr_setpgroup(&spawning.attributes, 0);
  posix_spawnattr_setflags(&spawning.attributes,
                           POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  std::vector<std::string> words = command.words;
  std::vector<std::string> environment = merged_environment(command.environment);
  const int error = ::posix_spawn(&pid_, words[0].c_str(), &spawning.actions, &spawning.attributes,
                                  pointers(words).data(), pointers(environment).data());
  if (error != 0)
    fail_environment("process.start", "cannot start '{}' (output to '{}'): {}", words[0], output,
                     std::strerror(error));
}

std::optional<Ending> Process::poll() {
  if (ending_) return ending_;
  int status = 0;
  const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return std::nullopt;
  if (ended < 0) fail_environment("process", "cannot wait for {}: {}", pid_, std::strerror(errno));
  ending_ = WIFSIGNALED(status) ? Ending{0, WTERMSIG(status)} : Ending{WEXITSTATUS(status), 0};
  return ending_;
}

void Process::signal(int number) {
  // Until the process was waited for, its number cannot be reused.
  if (!poll()) ::kill(pid_, number);
}

void Process::kill_group() {
  if (!poll()) ::kill(-pid_, SIGKILL);
}

std::shared_ptr<Process> ProcessPool::start(const Command& command) {
  processes_.push_back(std::make_shared<Process>(command));
  return processes_.back();
}

bool ProcessPool::forget_ended() {
  return std::erase_if(processes_,
                       [](const auto& process) { return process->poll().has_value(); }) > 0;
}

std::size_t ProcessPool::running() {
  forget_ended();
  return processes_.size();
}

void ProcessPool::wait(double seconds, const std::function<bool()>& should_stop) {
  const auto end = Clock::now() + nanoseconds(seconds);
  while (!forget_ended() && !should_stop()) {
    const auto left = end - Clock::now();
    if (left <= Clock::duration::zero()) return;
    std::this_thread::sleep_for(std::min<Clock::duration>(left, kNap));
  }
}

void ProcessPool::stop(double grace) {
  for (const auto& process : processes_) process->signal(SIGINT);
  const auto end = Clock::now() + nanoseconds(grace);
  while (running() > 0 && Clock::now() < end) std::this_thread::sleep_for(kNap);
  for (const auto& process : processes_) process->kill_group();
  while (running() > 0) std::this_thread::sleep_for(kNap);
}

}  // namespace pushdown
