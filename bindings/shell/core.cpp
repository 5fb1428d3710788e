#include "bindings/shell/core.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "base/thread_start.h"
#include "bindings/session/program_root.h"
#include "bindings/shell/interrupt.h"

namespace pushdown {

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

Core::Core() : path_(variable("PUSHDOWN_MODULE")) {
  if (!path_.empty()) return;
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path folder = fs::canonical("/proc/self/exe", ignored).parent_path();
  const fs::path installed = folder / ".." / "lib" / "pushdown" / "pushdown.so";
  path_ = fs::exists(installed, ignored) ? installed : folder / "pushdown.so";
}

std::filesystem::path Core::root() const {
  std::error_code ignored;
  return program_root(std::filesystem::canonical(path_, ignored).parent_path());
}

// An exception of a library's initialization leaves the loader locked, so it ends the program.
Core::Loaded Core::load(const std::string& path) noexcept {
  // While it is loaded, OpenBLAS starts a thread for each further processor, and raises SIGINT if
  // it cannot. LibTorch starts as many.
  try {
    require_threads(2 * (static_cast<int>(std::thread::hardware_concurrency()) - 1));
  } catch (const std::exception& error) {
    return {nullptr, error.what()};
  }
  std::istringstream first(variable("PUSHDOWN_PRELOAD"));
  for (std::string library; std::getline(first, library);)
    if (!dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) return {nullptr, dlerror()};
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  return {handle, handle ? "" : dlerror()};
}

void Core::start() {
  std::promise<Loaded> promise;
  loading_ = promise.get_future().share();
  const BlockInterrupts block;
  try {
    std::thread([promise = std::move(promise), path = path_]() mutable {
      promise.set_value(load(path));
    }).detach();
  } catch (const std::system_error&) {
    loading_ = {};  // open_function() says what is wrong
  }
}

lua_CFunction Core::open_function() {
  Loaded loaded{};
  if (loading_.valid()) {
    loaded = loading_.get();
  } else {
    const BlockInterrupts block;
    loaded = load(path_);
  }
  if (!loaded.handle) throw std::runtime_error("cannot load the module: " + loaded.error);
  void* symbol = dlsym(loaded.handle, "luaopen_pushdown");
  if (!symbol) throw std::runtime_error("'" + path_ + "' is not the module: no luaopen_pushdown");
  return reinterpret_cast<lua_CFunction>(symbol);
}

}  // namespace pushdown
