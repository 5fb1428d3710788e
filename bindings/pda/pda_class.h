// Pushdown automata as Lua values, for modules that take one.
#pragma once
#include "bindings/binder/value.h"
#include "pda/pda.h"

namespace pushdown {

template <>
struct ClassName<Pda> {
  static constexpr const char* value = "Pda";
};

}  // namespace pushdown
