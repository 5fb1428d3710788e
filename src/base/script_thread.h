// Work that needs the thread of a script.
#pragma once
#include <stdexcept>

namespace pushdown {

// Thrown where a function of a script is needed on another thread than the script's. The work is
// discarded; the objects that it used are unchanged.
struct ScriptThreadNeeded : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

}  // namespace pushdown
