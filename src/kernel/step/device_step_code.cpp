#include "kernel/step/device_step_code.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/check.h"
#include "base/notices.h"

namespace pushdown {

void DeviceStepModules::prepare(DeviceStepCode& code) {
  if (code.module != nullptr) return;
  if (code.print) code.source = std::exchange(code.print, nullptr)();
  if (!code.source.text.empty()) code.module = find(code.source.text);
}

std::shared_ptr<const DeviceModule> DeviceStepModules::find(const std::string& source) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = loaded_.find(source); found != loaded_.end()) return found->second;
  }
  // Not locked, because this may wait for the compiler.
  const auto code = wait_ ? code_->wait_for(source) : code_->find(source);
  if (code == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = loaded_.try_emplace(source);
  if (!is_new) return place->second;
  try {
    place->second = std::make_shared<const DeviceModule>(*code);
  } catch (const std::exception& error) {
    if (!std::exchange(reported_, true))
      notice(NoticeLevel::warning,
             std::string("networks on the device are interpreted, which takes longer: ") +
                 error.what());
  }
  return place->second;
}

bool DeviceStepModules::runs(const std::string& text) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(loaded_.begin(), loaded_.end(), [&](const auto& one) {
    return one.second != nullptr && one.first.find(text) != std::string::npos;
  });
}

DeviceStepModules* device_step_modules(int device) {
  const char* chosen = std::getenv("PUSHDOWN_DEVICE_CODE");
  const std::string mode = chosen == nullptr ? "" : chosen;
  check(mode.empty() || mode == "compiled" || mode == "waiting" || mode == "interpreted", "device",
        "PUSHDOWN_DEVICE_CODE must be compiled, waiting or interpreted, got '{}'", mode);
  if (mode == "interpreted") return nullptr;
  static std::mutex mutex;
  static std::map<int, DeviceStepModules> all;
  std::lock_guard lock(mutex);
  if (const auto found = all.find(device); found != all.end()) return &found->second;
  const auto compiler = [device] {
    std::string reason;
    const auto devices = cuda_devices(reason);
    check(device < std::ssize(devices), "device", "there is no device {}", device);
    const CudaDevice& of = devices[static_cast<std::size_t>(device)];
    return nvrtc_compiler(fmt::format("sm_{}{}", of.compute_major, of.compute_minor));
  };
  const Path folder = device_cache_folder();
  std::optional<CodeCache> cache;
  if (!folder.empty()) cache.emplace(folder);
  auto code = std::make_unique<CompiledCode>(compiler, cache);
  return &all.try_emplace(device, std::move(code), mode == "waiting").first->second;
}

}  // namespace pushdown
