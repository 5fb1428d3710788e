// Models as Lua objects.
#pragma once
#include "bindings/binder/value.h"
#include "model/language_model.h"
#include "model/recognizer.h"
#include "model/transducer.h"

namespace pushdown {

template <>
struct ClassName<LanguageModel> {
  static constexpr const char* value = "LanguageModel";
  static std::size_t bytes(const LanguageModel& model) { return model.parameter_count() * 8; }
};

template <>
struct ClassName<Recognizer> {
  static constexpr const char* value = "Recognizer";
  static std::size_t bytes(const Recognizer& model) { return model.parameter_count() * 8; }
};

template <>
struct ClassName<Transducer> {
  static constexpr const char* value = "Transducer";
  static std::size_t bytes(const Transducer& model) { return model.parameter_count() * 8; }
};

// A model of any kind.
template <>
struct Value<SequenceModelPtr> {
  static int push(lua_State* L, const SequenceModelPtr& model) {
    if (auto transducer = std::dynamic_pointer_cast<Transducer>(model))
      return Value<TransducerPtr>::push(L, std::move(transducer));
    if (auto recognizer = std::dynamic_pointer_cast<Recognizer>(model))
      return Value<std::shared_ptr<Recognizer>>::push(L, std::move(recognizer));
    return Value<std::shared_ptr<LanguageModel>>::push(
        L, std::dynamic_pointer_cast<LanguageModel>(model));
  }
};

// The state of a model within a string, as a Lua object.
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
