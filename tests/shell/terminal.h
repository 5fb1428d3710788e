// A program in a pseudo-terminal, typed at and read like a person would.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace pushdown {

class Terminal {
 public:
  // Starts the program with these words and, over the inherited ones, these environment variables.
  Terminal(const std::vector<std::string>& words,
           const std::map<std::string, std::string>& environment);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(const std::string& text);
  // Waits until the text appears after what was expected before; false after `seconds`.
  bool expect(const std::string& text, double seconds = 20);
  // Makes the window so wide.
  void resize(int columns);
  // Sends a signal to the program.
  void signal(int number);
  // Waits for the end; the exit status, or -1 after `seconds`.
  int wait_exit(double seconds = 20);
  // Everything shown so far, without control sequences.
  std::string screen() const;
  // The same with them.
  const std::string& raw() const { return raw_; }

 private:
  void read_some(double seconds);

  int file_ = -1;
  int process_ = -1;
  std::string raw_;
  std::size_t seen_ = 0;  // of screen(): up to where expect() has looked
};

double seconds_now();

}  // namespace pushdown
