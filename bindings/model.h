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

// Where a model stands, as Lua sees it.
struct ModelState {
  ReadingState reading;
  bool single = true;  // one string, without a batch dimension
};

template <>
struct ClassName<ModelState> {
  static constexpr const char* value = "ModelState";
  static std::size_t bytes(const ModelState& state) { return state.reading.state->bytes(); }
};

}  // namespace pushdown
