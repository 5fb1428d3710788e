// Examples of number prediction as Lua values.
#pragma once
#include "bindings/binder/value.h"
#include "task/number_prediction.h"

namespace pushdown {

class Module;

struct NumberData {
  NumberExamples examples;
};

template <>
struct ClassName<NumberData> {
  static constexpr const char* value = "NumberData";
  static std::size_t bytes(const NumberData& data) {
    return data.examples.size() * (sizeof(NumberExample) + 100);
  }
};

// Binds conllu and number_examples of pd.task, and their classes.
void bind_number(Module& module);

}  // namespace pushdown
