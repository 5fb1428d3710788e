// Models as Lua objects.
#pragma once
#include "bindings/binder/value.h"
#include "model/language_model.h"
#include "model/recognizer.h"
#include "model/transducer.h"

namespace pushdown {

template <>
inline constexpr auto kClassName<LanguageModel> = "LanguageModel";
template <>
inline constexpr auto kClassName<Recognizer> = "Recognizer";
template <>
inline constexpr auto kClassName<Transducer> = "Transducer";

template <std::derived_from<SequenceModel> Model>
inline constexpr auto kHeldBytes<Model> =
    [](const SequenceModel& model) { return model.parameter_count() * 8; };

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
inline constexpr auto kClassName<ModelState> = "ModelState";
template <>
inline constexpr auto kHeldBytes<ModelState> =
    [](const ModelState& state) { return state.reading.state->bytes(); };

// One of the memories of a model with a string. Numbers are float64 on the CPU.
struct MemoryTrace {
  std::string stack;  // the kind
  std::int64_t layer = 1, memory = 1;
  std::size_t layers = 1;            // with a stack
  std::int64_t memories = 1;         // of this layer
  std::vector<std::string> symbols;  // n, as the network reads them
  std::vector<std::string> actions;  // A
  Tensor weights;                    // n x A
  std::string depth_name;
  Tensor depth;     // n, or undefined
  Tensor depths;    // n x D, or undefined
  Tensor readings;  // n x R
};
template <>
inline constexpr auto kClassName<MemoryTrace> = "StackTrace";

// Binds the class StackTrace.
void bind_stack_trace(Module& module);
// Bind model:trace.
void bind_trace_method(Class<LanguageModel>& type);
void bind_trace_method(Class<Recognizer>& type);
void bind_trace_method(Class<Transducer>& type);
// Bind model:hidden.
void bind_hidden(Class<LanguageModel>& type);
void bind_hidden(Class<Recognizer>& type);
void bind_hidden(Class<Transducer>& type);
// Binds sample, next, surprisal, trees and tree_log_probability.
void bind_predictions(Class<LanguageModel>& type);

}  // namespace pushdown
