#include "kernel/compile/compiled_code.h"

#include <fmt/format.h>

#include "base/notices.h"
#include "kernel/compile/nvrtc.h"

namespace pushdown {

CodeCompiler nvrtc_compiler(const std::string& architecture) {
  const auto nvrtc = std::make_shared<const Nvrtc>();
  return {fmt::format("NVRTC {}, {}", nvrtc->version(), architecture),
          [=](const std::string& source) { return nvrtc->compile(source, architecture); }};
}

CompiledCode::CompiledCode(std::function<CodeCompiler()> compiler, std::optional<CodeCache> cache)
    : make_compiler_(std::move(compiler)), cache_(std::move(cache)) {}

CompiledCode::~CompiledCode() {
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

CompiledCode::Code CompiledCode::find(const std::string& source) {
  std::lock_guard lock(mutex_);
  const auto [entry, is_new] = entries_.try_emplace(source);
  if (is_new) {
    waiting_.push_back(source);
    ++counts_.pending;
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    changed_.notify_all();
  }
  return entry->second.code;
}

CompiledCode::Code CompiledCode::wait_for(const std::string& source) {
  find(source);
  std::unique_lock lock(mutex_);
  const Entry& entry = entries_.at(source);
  changed_.wait(lock, [&] { return entry.done; });
  return entry.code;
}

CompiledCode::Counts CompiledCode::counts() const {
  std::lock_guard lock(mutex_);
  return counts_;
}

void CompiledCode::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ended_ || !waiting_.empty(); });
    if (ended_) return;
    const std::string source = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    Code code;
    std::string problem;
    try {
      code = std::make_shared<const std::string>(make(source));
    } catch (const std::exception& error) {
      problem = error.what();
    }
    lock.lock();
    --counts_.pending;
    if (code == nullptr) ++counts_.failed;
    entries_[source] = {true, code};
    const bool report = code == nullptr && !std::exchange(reported_, true);
    changed_.notify_all();
    if (!report) continue;
    lock.unlock();
    notice(NoticeLevel::warning,
           "networks on the device are interpreted, which takes longer: " + problem);
    lock.lock();
  }
}

std::string CompiledCode::make(const std::string& source) {
  if (!compiler_) compiler_ = make_compiler_();
  const std::string key = compiler_->name + '\n' + source;
  const auto count = [&](int& number) {
    std::lock_guard lock(mutex_);
    ++number;
  };
  const auto try_cache = [&](const char* what, const auto& body) {
    try {
      if (cache_) body();
    } catch (const std::exception& error) {
      notice(NoticeLevel::warning, fmt::format("compiled code is not {}: {}", what, error.what()));
    }
  };
  std::optional<std::string> code;
  try_cache("read", [&] { code = cache_->find(key); });
  if (code) {
    count(counts_.from_cache);
    return *std::move(code);
  }
  const std::string made = compiler_->compile(source);
  count(counts_.compiled);
  try_cache("kept", [&] { cache_->put(key, made); });
  return made;
}

}  // namespace pushdown
