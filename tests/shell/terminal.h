// A program in a pseudo-terminal. Tests type and read like a person.
#pragma once
#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

// Skips a test that interrupts a loop. The thread sanitizer keeps a signal back until the program
// calls a function of the C library, and the loops of LuaJIT and of the core call none.
#ifdef __SANITIZE_THREAD__
#define SKIP_IF_SIGNALS_ARE_DELAYED() \
  GTEST_SKIP() << "the thread sanitizer delays signals in loops without calls of the C library"
#else
#define SKIP_IF_SIGNALS_ARE_DELAYED() static_cast<void>(0)
#endif

namespace pushdown {

// Ends a test that hangs, in seconds. No correct program takes as long, also on a slow machine that
// does other work.
constexpr double kPatience = 1200;

class Terminal {
 public:
  // Starts the program with these arguments, and with these environment variables besides the
  // inherited ones.
  Terminal(const std::vector<std::string>& words,
           const std::map<std::string, std::string>& environment, int columns = 100, int rows = 24);
  ~Terminal();
  Terminal(Terminal&& other) noexcept;
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(const std::string& text);
  // Waits until the text appears after the previously expected text. Returns false after `seconds`.
  bool expect(const std::string& text, double seconds = kPatience);
  // One turn of a dialogue: the text that is typed, and the text that must appear then. Either may
  // be empty.
  struct Turn {
    std::string typed, shown;
  };
  // Plays the turns one after the other until one of them does not show its text.
  testing::AssertionResult play(std::initializer_list<Turn> turns);
  testing::AssertionResult play(const std::string& typed, const std::string& shown) {
    return play({{typed, shown}});
  }
  // Returns the processor time that the program has used, in seconds. Unlike the time that passes,
  // it does not depend on what else the machine does.
  double used_seconds() const;
  // Waits until the program has used this much more processor time.
  bool computes(double seconds);
  // Sets the size of the window.
  void resize(int columns, int rows = 24);
  // Sends a signal to the program.
  void signal(int number);
  // Waits for the end. Returns the exit status, or -1 after `seconds`.
  int wait_exit(double seconds = kPatience);
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
