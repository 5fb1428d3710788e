// Sentences of a corpus as Lua values.
#pragma once
#include "bindings/binder/value.h"
#include "task/token_file.h"

namespace pushdown {

class Module;

template <>
struct ClassName<TokenFile> {
  static constexpr const char* value = "Sentences";
};

// Binds sentences and load_sentences of pd.task, and the class.
void bind_sentences(Module& module);

}  // namespace pushdown
