// The module pushdown.so, which holds everything but the shell itself. Loading it takes a few
// tenths of a second, nearly all of it LibTorch; at the prompt that happens in the background.
#pragma once
#include <future>
#include <lua.hpp>
#include <string>

namespace pushdown {

class Core {
 public:
  // Finds the module: beside the executable (build tree), or in ../lib/pushdown (installed).
  Core();
  void start();  // begins to load it in a thread
  // luaopen_pushdown; waits for the loading, or does it now. Throws std::runtime_error.
  lua_CFunction open_function();

 private:
  struct Loaded {
    void* handle;
    std::string error;
  };
  static Loaded load(const std::string& path);

  std::string path_;
  std::shared_future<Loaded> loading_;
};

}  // namespace pushdown
