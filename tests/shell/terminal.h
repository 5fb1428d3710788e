// A program in a pseudo-terminal. Tests type and read like a person.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace pushdown {

class Terminal {
 public:
  // Starts the program with these arguments, and with these environment variables besides the
  // inherited ones.
  Terminal(const std::vector<std::string>& words,
           const std::map<std::string, std::string>& environment);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(const std::string& text);
  // Waits until the text appears after the previously expected text. Returns false after `seconds`.
  bool expect(const std::string& text, double seconds = 20);
  // Sets the width of the window.
  void resize(int columns);
  // Sends a signal to the program.
  void signal(int number);
  // Waits for the end. Returns the exit status, or -1 after `seconds`.
  int wait_exit(double seconds = 20);
  // Returns everything shown so far, without control sequences.
  std::string screen() const;
  // Returns the same with control sequences.
  const std::string& raw() const { return raw_; }

 private:
  void read_some(double seconds);

  int file_ = -1;
  int process_ = -1;
  std::string raw_;
  std::size_t seen_ = 0;  // of screen(): the part that expect() has read
};

double seconds_now();

}  // namespace pushdown
