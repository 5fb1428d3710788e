// Kernels of a step program's own, which replace the interpreter of device_step.h.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "kernel/compile/compiled_code.h"
#include "kernel/device.h"

namespace pushdown {

// The source has the kernels step_forward and step_backward, whose only argument is the program.
struct DeviceStepSource {
  std::string text;  // CUDA C++; empty: there is none
  int threads = 0;
  std::size_t shared_bytes = 0;
};

struct DeviceStepCode {
  std::function<DeviceStepSource()> print;
  DeviceStepSource source;                     // once printed
  std::shared_ptr<const DeviceModule> module;  // once compiled and loaded; null: interpret
};

// The compiled kernels of all programs on one device, for any number of threads.
class DeviceStepModules {
 public:
  // `wait`: wait for the compiler instead of interpreting meanwhile.
  explicit DeviceStepModules(std::unique_ptr<CompiledCode> code, bool wait = false)
      : code_(std::move(code)), wait_(wait) {}

  // Fills in the module if it is there; begins to compile it if it is new. The device must be the
  // current one. A DeviceStepCode belongs to one thread.
  void prepare(DeviceStepCode& code);

  // Returns whether there is a module whose source contains this text.
  bool runs(const std::string& text) const;

  CompiledCode::Counts counts() const { return code_->counts(); }

 private:
  std::shared_ptr<const DeviceModule> find(const std::string& source);

  std::unique_ptr<CompiledCode> code_;
  const bool wait_;
  mutable std::mutex mutex_;
  bool reported_ = false;
  std::map<std::string, std::shared_ptr<const DeviceModule>> loaded_;  // by source; null: cannot be
};

// Returns the modules of a device, which NVRTC compiles and device_cache_folder() keeps; null if
// PUSHDOWN_DEVICE_CODE is `interpreted`. With `waiting`, see DeviceStepModules. Throws
// std::invalid_argument for other values.
DeviceStepModules* device_step_modules(int device);

}  // namespace pushdown
