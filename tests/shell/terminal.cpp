#include "shell/terminal.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

namespace pushdown {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Terminal::Terminal(const std::vector<std::string>& words,
                   const std::map<std::string, std::string>& environment, int columns, int rows) {
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  winsize size = {static_cast<unsigned short>(rows), static_cast<unsigned short>(columns), 0, 0};
  process_ = forkpty(&file_, nullptr, nullptr, &size);
  if (process_ < 0) throw std::runtime_error("forkpty failed");
  if (process_ == 0) {
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
}

Terminal::Terminal(Terminal&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      process_(std::exchange(other.process_, -1)),
      raw_(std::move(other.raw_)),
      seen_(other.seen_) {}

Terminal::~Terminal() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  if (file_ >= 0) close(file_);
}

void Terminal::type(const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const auto count = write(file_, text.data() + done, text.size() - done);
    if (count <= 0) throw std::runtime_error("the terminal takes no input");
    done += static_cast<std::size_t>(count);
  }
}

void Terminal::resize(int columns, int rows) {
  winsize size = {static_cast<unsigned short>(rows), static_cast<unsigned short>(columns), 0, 0};
  if (ioctl(file_, TIOCSWINSZ, &size) != 0) throw std::runtime_error("cannot resize");
}

void Terminal::signal(int number) { kill(process_, number); }

void Terminal::read_some(double seconds) {
  pollfd waiting = {file_, POLLIN, 0};
  if (poll(&waiting, 1, static_cast<int>(seconds * 1000)) <= 0) return;
  char buffer[4096];
  const auto count = read(file_, buffer, sizeof buffer);
  if (count > 0)
    raw_.append(buffer, static_cast<std::size_t>(count));
  else
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the program has ended
}

std::string Terminal::screen() const {
  std::string text;
  for (std::size_t i = 0; i < raw_.size(); ++i) {
    if (raw_[i] == '\r' || raw_[i] == '\a') continue;
    if (raw_[i] != '\033') {
      text += raw_[i];
      continue;
    }
    if (i + 1 < raw_.size() && raw_[i + 1] == '[') {
      i += 2;
      while (i < raw_.size() && (raw_[i] < '@' || raw_[i] > '~')) ++i;
    } else {
      ++i;
    }
  }
  return text;
}

bool Terminal::expect(const std::string& text, double seconds) {
  const double end = seconds_now() + seconds;
  for (;;) {
    const auto shown = screen();
    const auto place = shown.find(text, seen_);
    if (place != shown.npos) {
      seen_ = place + text.size();
      return true;
    }
    if (seconds_now() > end) return false;
    read_some(0.02);
  }
}

testing::AssertionResult Terminal::play(std::initializer_list<Turn> turns) {
  for (const auto& [typed, shown] : turns) {
    type(typed);
    if (!shown.empty() && !expect(shown))
      return testing::AssertionFailure()
             << testing::PrintToString(shown) << " does not appear after "
             << testing::PrintToString(typed) << ":\n"
             << screen();
  }
  return testing::AssertionSuccess();
}

double Terminal::used_seconds() const {
  std::ifstream file("/proc/" + std::to_string(process_) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 2)));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

bool Terminal::computes(double seconds) {
  const double end = seconds_now() + kPatience, wanted = used_seconds() + seconds;
  while (used_seconds() < wanted) {
    if (seconds_now() > end) return false;
    read_some(0.02);
  }
  return true;
}

int Terminal::wait_exit(double seconds) {
  const double end = seconds_now() + seconds;
  int status = 0;
  while (seconds_now() < end) {
    read_some(0.01);
    if (waitpid(process_, &status, WNOHANG) != process_) continue;
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  return -1;
}

}  // namespace pushdown
