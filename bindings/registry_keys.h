// What the module and the shell, two programs that share nothing but a Lua state, leave for each
// other in the Lua registry.
#pragma once

namespace pushdown {

// A light userdata with a std::atomic<int>*: not 0 once the user pressed Ctrl-C. From the shell.
inline constexpr const char* kInterruptKey = "pushdown.interrupt";
// A light userdata with a ProgressListener (bindings/progress.h). From a notebook's kernel.
inline constexpr const char* kProgressKey = "pushdown.progress";
// A table, function or module -> documented name. From the module.
inline constexpr const char* kNamesKey = "pushdown.names";
// A list of {role=, path=, text=}: the scripts that were read, and at a prompt the entries. From
// the shell.
inline constexpr const char* kScriptsKey = "pushdown.scripts";

}  // namespace pushdown
