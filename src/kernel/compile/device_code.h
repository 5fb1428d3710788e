// The machine code of a device by its source, compiled when it is first needed and kept on disk
// (code_cache.h).
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "kernel/compile/code_cache.h"
#include "kernel/device.h"

namespace pushdown {

// A compiler for one device. Throws std::runtime_error if it cannot compile.
struct CodeCompiler {
  std::string name;  // with its version and the device's architecture: the key contains it
  std::function<std::string(const std::string& source)> compile;
};
// NVRTC for an architecture ("sm_90"). Throws std::runtime_error if it is not installed.
CodeCompiler nvrtc_compiler(const std::string& architecture);

// May be used by any number of threads, which wait for each other.
class DeviceCode {
 public:
  DeviceCode(CodeCompiler compiler, std::optional<CodeCache> cache)
      : compiler_(std::move(compiler)), cache_(std::move(cache)) {}

  // Returns the loaded code of a source; the device must be the current one. Throws
  // std::runtime_error if it cannot be compiled or loaded.
  std::shared_ptr<const DeviceModule> module(const std::string& source);
  // Returns the machine code from the disk, or compiles it, which a notice says. Problems with the
  // disk are warnings.
  std::string machine_code(const std::string& source) const;

 private:
  const CodeCompiler compiler_;
  const std::optional<CodeCache> cache_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const DeviceModule>> loaded_;  // by source
};

}  // namespace pushdown
