// Synchronous grammars as Lua values.
#pragma once
#include "bindings/value.h"
#include "grammar/synchronous.h"

namespace pushdown {

class Module;

template <>
struct ClassName<SynchronousGrammar> {
  static constexpr const char* value = "SynchronousGrammar";
};

// The class; what makes one is in grammar_loading.cpp.
void bind_synchronous(Module& module);

}  // namespace pushdown
