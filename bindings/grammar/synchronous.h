// Synchronous grammars as Lua values.
#pragma once
#include "bindings/binder/value.h"
#include "grammar/synchronous.h"

namespace pushdown {

class Module;

template <>
struct ClassName<SynchronousGrammar> {
  static constexpr const char* value = "SynchronousGrammar";
};

// Binds the class. loading.cpp makes synchronous grammars.
void bind_synchronous(Module& module);

}  // namespace pushdown
