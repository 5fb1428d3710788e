// Models as Lua objects.
#pragma once
#include "bindings/value.h"
#include "model/language_model.h"

namespace pushdown {

template <>
struct ClassName<LanguageModel> {
  static constexpr const char* value = "LanguageModel";
  static std::size_t bytes(const LanguageModel& model) {
    return static_cast<std::size_t>(model.parameter_count()) * 8;
  }
};

}  // namespace pushdown
