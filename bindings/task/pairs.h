// Sources of pairs as Lua values.
#pragma once
#include "bindings/binder/value.h"
#include "task/transduction.h"

namespace pushdown {

class Module;

template <>
struct ClassName<PairSource> {
  static constexpr const char* value = "Pairs";
};

// Binds transduction, transductions, describe_transduction and pairs of pd.task, and the class.
void bind_pairs(Module& module);

}  // namespace pushdown
