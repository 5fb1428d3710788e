// What this process and its children print, as pieces of text: files 1 and 2 lead into pipes for as
// long as the process lives, and are read by a thread between start() and stop().
#pragma once
#include <functional>
#include <string>
#include <thread>

namespace pushdown {

class OutputCapture {
 public:
  // Called from the thread with "stdout" or "stderr" and UTF-8 text; other bytes are '?'.
  using Publish = std::function<void(const char* stream, const std::string& text)>;

  // std::runtime_error where there are no pipes left.
  explicit OutputCapture(Publish publish);
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  void start();
  void stop();  // everything printed until now is published then

 private:
  struct Stream {
    const char* name;
    int file;             // read end
    std::string unended;  // the beginning of a character
  };
  void run();
  void read_all(Stream& stream);

  Publish publish_;
  Stream streams_[2];
  int wake_[2];
  std::thread thread_;
};

}  // namespace pushdown
