// What a memory does while a model reads a string, as a Lua value and as methods of models.
#pragma once
#include "bindings/binder/bind.h"
#include "bindings/model/classes.h"
#include "model/network_trace.h"

namespace pushdown {

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
struct ClassName<MemoryTrace> {
  static constexpr const char* value = "StackTrace";
};

// Binds the class StackTrace.
void bind_stack_trace(Module& module);
// Bind model:trace.
void bind_trace_method(Class<LanguageModel>& type);
void bind_trace_method(Class<Recognizer>& type);
void bind_trace_method(Class<Transducer>& type);

}  // namespace pushdown
