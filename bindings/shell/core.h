// The module pushdown.so, which has everything except the shell itself. Loading it takes a few
// tenths of a second, nearly all of it for LibTorch. At the prompt this happens in the background.
#pragma once
#include <filesystem>
#include <future>
#include <lua.hpp>
#include <string>

namespace pushdown {

class Core {
 public:
  // Finds the module: the file that the environment variable PUSHDOWN_MODULE names, or else next to
  // the executable (build tree) or in ../lib/pushdown (installation). PUSHDOWN_PRELOAD names
  // libraries, one a line, that are loaded before it: a LibTorch outside of the loader's folders.
  Core();
  void start();  // starts loading it in a thread
  // Returns the folder of the program's own scripts.
  std::filesystem::path root() const;
  // Calls luaopen_pushdown. Waits for the thread, or loads the module now. Throws
  // std::runtime_error.
  lua_CFunction open_function();

 private:
  struct Loaded {
    void* handle;
    std::string error;
  };
  static Loaded load(const std::string& path) noexcept;

  std::string path_;
  std::shared_future<Loaded> loading_;
};

}  // namespace pushdown
