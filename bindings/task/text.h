// Running texts as Lua values.
#pragma once
#include "bindings/binder/value.h"
#include "task/running_text.h"

namespace pushdown {

class Module;

template <>
struct ClassName<RunningText> {
  static constexpr const char* value = "RunningText";
  static std::size_t bytes(const RunningText& text) {
    return text.size() * sizeof(int) + text.alphabet().size() * 2 * sizeof(std::string);
  }
};

// Binds corpus, running_text and load_text of pd.task, and the class.
void bind_running_text(Module& module);

}  // namespace pushdown
