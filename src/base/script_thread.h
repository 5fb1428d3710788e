// Work that needs the thread of a script.
#pragma once
#include <cstdint>
#include <stdexcept>

namespace pushdown {

// Thrown where a function of a script is needed on another thread than the script's. The work is
// discarded; the objects that it used are unchanged.
struct ScriptThreadNeeded : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// How many functions of scripts this thread has called.
inline std::uint64_t& script_calls() {
  static thread_local std::uint64_t count = 0;
  return count;
}

}  // namespace pushdown
