#include "kernel/compile/compiled_code.h"

#include <chrono>

#include <fmt/format.h>

#include "base/notices.h"
#include "base/wait.h"
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
  const auto [place, is_new] = entries_.try_emplace(source);
  Entry& entry = place->second;
  if (!is_new) return entry.code;
  try {
    if (!compiler_) compiler_ = make_compiler_();
    if (auto kept = read(source)) {
      entry = {true, std::make_shared<const std::string>(*std::move(kept))};
      ++counts_.from_cache;
      return entry.code;
    }
  } catch (const std::exception& error) {
    entry.done = true;
    ++counts_.failed;
    report(error.what());
    return nullptr;
  }
  waiting_.push_back(source);
  ++counts_.pending;
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.notify_all();
  return nullptr;
}

CompiledCode::Code CompiledCode::wait_for(const std::string& source) {
  find(source);
  std::unique_lock lock(mutex_);
  const Entry& entry = entries_.at(source);
  wait(changed_, lock, [&] { return entry.done; });
  return entry.code;
}

CompiledCode::Counts CompiledCode::counts() const {
  std::lock_guard lock(mutex_);
  return counts_;
}

void CompiledCode::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wait(changed_, lock, [&] { return ended_ || !waiting_.empty(); });
    if (ended_) return;
    const std::string source = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    Code code;
    std::string problem;
    try {
      const auto start = std::chrono::steady_clock::now();
      code = std::make_shared<const std::string>(compiler_->compile(source));
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      notice(NoticeLevel::info,
             fmt::format("compiled the device code of a network in {:.1f} s", took.count()));
      write(source, *code);
    } catch (const std::exception& error) {
      problem = error.what();
    }
    lock.lock();
    --counts_.pending;
    ++(code == nullptr ? counts_.failed : counts_.compiled);
    entries_[source] = {true, code};
    if (code == nullptr) report(problem);
    changed_.notify_all();
  }
}

void CompiledCode::report(const std::string& problem) {
  if (std::exchange(reported_, true)) return;
  notice(NoticeLevel::warning,
         "networks on the device are interpreted, which takes longer: " + problem);
}

std::optional<std::string> CompiledCode::read(const std::string& source) const {
  if (!cache_) return std::nullopt;
  try {
    return cache_->find(key(source));
  } catch (const std::exception& error) {
    notice(NoticeLevel::warning, fmt::format("compiled code cannot be read: {}", error.what()));
    return std::nullopt;
  }
}

void CompiledCode::write(const std::string& source, const std::string& code) const {
  if (!cache_) return;
  try {
    cache_->put(key(source), code);
  } catch (const std::exception& error) {
    notice(NoticeLevel::warning, fmt::format("compiled code cannot be kept: {}", error.what()));
  }
}

std::string CompiledCode::key(const std::string& source) const {
  return compiler_->name + '\n' + source;
}

}  // namespace pushdown
