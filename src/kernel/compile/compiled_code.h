// Code for a device by its source, compiled by a thread of its own while the program goes on, and
// kept on disk (code_cache.h).
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "kernel/compile/code_cache.h"

namespace pushdown {

// A compiler for one device. Throws std::runtime_error if it cannot compile.
struct CodeCompiler {
  std::string name;  // with its version and the device's architecture: the key contains it
  std::function<std::string(const std::string& source)> compile;
};
// NVRTC for an architecture ("sm_90"). Throws std::runtime_error if it is not installed.
CodeCompiler nvrtc_compiler(const std::string& architecture);

class CompiledCode {
 public:
  using Code = std::shared_ptr<const std::string>;

  // `compiler` is called by the first find(). It may throw: then there is no code.
  CompiledCode(std::function<CodeCompiler()> compiler, std::optional<CodeCache> cache);
  // Waits for a source that is being compiled.
  ~CompiledCode();
  CompiledCode(const CompiledCode&) = delete;
  CompiledCode& operator=(const CompiledCode&) = delete;

  // Returns the code if it is there or on disk, so that a second run uses it from the beginning.
  // Null while it is being compiled, which the first call begins, and if it cannot be compiled,
  // which is reported once (base/notices.h).
  Code find(const std::string& source);
  // Waits until it is there or cannot be compiled.
  Code wait_for(const std::string& source);

  struct Counts {
    int compiled = 0, from_cache = 0, pending = 0, failed = 0;
  };
  Counts counts() const;

 private:
  struct Entry {
    bool done = false;
    Code code;
  };
  void run();
  void report(const std::string& problem);
  // The disk's copy; problems are reported.
  std::optional<std::string> read(const std::string& source) const;
  void write(const std::string& source, const std::string& code) const;
  std::string key(const std::string& source) const;

  const std::function<CodeCompiler()> make_compiler_;
  const std::optional<CodeCache> cache_;
  std::optional<CodeCompiler> compiler_;  // does not change once it is there
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Entry> entries_;  // by source
  std::deque<std::string> waiting_;
  Counts counts_;
  bool ended_ = false, reported_ = false;
  std::thread thread_;
};

}  // namespace pushdown
