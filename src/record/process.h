// Child processes that are started by exec (posix_spawn), watched and stopped, and a pool of them.
// The scripting interface stops the pool's processes when its owner fails.
//
// A child is the leader of its own process group, so that Ctrl-C at the terminal reaches only its
// parent, which decides what to do with it. It starts with the default signal handling and an empty
// standard input; standard output and error are appended to one file.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "record/folder_lock.h"

namespace pushdown {

struct Command {
  std::vector<std::string> words;                  // the program's path, then its arguments
  std::filesystem::path output;                    // "": /dev/null
  std::map<std::string, std::string> environment;  // in addition to the parent's
  std::shared_ptr<FolderLock> lock;                // inherited; may be null
};

// How a process ended: by exit(code), or by a signal; then `code` is 0.
struct Ending {
  int code = 0;
  int signal = 0;
};
// Returns "exited with status 3" or "was killed by signal 9 (Killed)".
std::string describe(const Ending& ending);

class Process {
 public:
  // Throws std::invalid_argument without words, std::runtime_error if the program cannot be
  // started.
  explicit Process(const Command& command);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  // Returns nothing while it runs.
  std::optional<Ending> poll();
  // Does nothing if it has ended.
  void signal(int number);
  // Sends SIGKILL to it and all processes that it started.
  void kill_group();

 private:
  pid_t pid_ = 0;
  std::optional<Ending> ending_;
};

class ProcessPool {
 public:
  std::shared_ptr<Process> start(const Command& command);
  // Sleeps until one of the running processes ends, `should_stop` returns true, or the time is
  // over.
  void wait(double seconds, const std::function<bool()>& should_stop);
  std::size_t running();
  // Sends SIGINT to all, and SIGKILL to those that still run after `grace` seconds.
  void stop(double grace);

 private:
  bool forget_ended();
  std::vector<std::shared_ptr<Process>> processes_;
};

}  // namespace pushdown
