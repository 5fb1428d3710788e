#include "kernel/compile/device_code.h"

#include <chrono>

#include <fmt/format.h>

#include "base/notices.h"
#include "kernel/compile/nvrtc.h"

namespace pushdown {
namespace {

// What the action returns; a failure is a warning.
template <class Action>
auto try_on_disk(const char* what, const Action& action) -> decltype(action()) {
  try {
    return action();
  } catch (const std::exception& error) {
    notice(NoticeLevel::warning, fmt::format("compiled code cannot be {}: {}", what, error.what()));
    return decltype(action())();
  }
}

}  // namespace

CodeCompiler nvrtc_compiler(const std::string& architecture) {
  const auto nvrtc = std::make_shared<const Nvrtc>();
  return {fmt::format("NVRTC {}, {}", nvrtc->version(), architecture),
          [=](const std::string& source) { return nvrtc->compile(source, architecture); }};
}

std::shared_ptr<const DeviceModule> DeviceCode::module(const std::string& source) {
  const std::lock_guard lock(mutex_);
  auto& module = loaded_[source];
  if (module == nullptr) module = std::make_shared<const DeviceModule>(machine_code(source));
  return module;
}

std::string DeviceCode::machine_code(const std::string& source) const {
  const std::string key = compiler_.name + '\n' + source;
  if (cache_)
    if (auto kept = try_on_disk("read", [&] { return cache_->find(key); })) return *std::move(kept);
  notice(NoticeLevel::info, "compiling the code of a network for the device");
  const auto start = std::chrono::steady_clock::now();
  std::string code = compiler_.compile(source);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  notice(NoticeLevel::info, fmt::format("compiled it in {:.1f} s", took.count()));
  if (cache_) try_on_disk("kept", [&] { cache_->put(key, code); });
  return code;
}

}  // namespace pushdown
