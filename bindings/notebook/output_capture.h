// The output of this process and its children, as pieces of text. Files 1 and 2 are pipes for the
// rest of the process. A thread reads them between start() and stop().
#pragma once
#include <functional>
#include <string>
#include <thread>

namespace pushdown {

class OutputCapture {
 public:
  // Called from the thread with "stdout" or "stderr" and UTF-8 text; each other byte becomes '?'.
  using Publish = std::function<void(const char* stream, const std::string& text)>;

  // Throws std::runtime_error if no pipes are left.
  explicit OutputCapture(Publish publish);
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  void start();
  void stop();  // publishes everything that was printed before

 private:
  struct Stream {
    const char* name;
    int file;             // read end
    std::string unended;  // an incomplete character
  };
  void run();
  void read_all(Stream& stream);

  Publish publish_;
  Stream streams_[2];
  int wake_[2];
  std::thread thread_;
};

}  // namespace pushdown
