// Values that the module and the shell leave for each other in the Lua registry. The two programs
// share nothing but a Lua state.
#pragma once

namespace pushdown {

// A light userdata with a std::atomic<int>*, not 0 after the user has pressed Ctrl-C. Set by the
// shell.
inline constexpr const char* kInterruptKey = "pushdown.interrupt";
// A light userdata with a ProgressListener, which receives each new text about the progress of
// trainings, from any thread. Set by a notebook's kernel.
using ProgressListener = void (*)(const char* text);
inline constexpr const char* kProgressKey = "pushdown.progress";
// A table: function or module -> documented name. Set by the module.
inline constexpr const char* kNamesKey = "pushdown.names";
// A list of {role=, path=, text=}: the scripts that were read and the entries of a prompt. Set by
// the shell.
inline constexpr const char* kScriptsKey = "pushdown.scripts";

}  // namespace pushdown
