// The arguments and results of Lua functions that C++ calls: states, tensors, `self`, and the
// declarations of action layers and parameters.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "bindings/binder/options.h"
#include "bindings/binder/script_call.h"
#include "tensor/module_context.h"

namespace pushdown {

// A tensor, a number, a text, true or false, or a table of these (a list or by name, possibly
// nested), in the form that C++ keeps between two calls: the tensors in a fixed order, and the rest
// with null in their places.
struct ScriptState {
  std::vector<Tensor> tensors;
  Json frame;

  void push(lua_State* L) const;
};
// Returns the state at the index. Refuses, in the name of `function`, all other values, tensors
// that are not B x ..., and floating-point tensors of another dtype or device.
ScriptState read_state(lua_State* L, int index, const ScriptFunction& function, std::int64_t batch,
                       const at::TensorOptions& options);
// Returns the tensor at the index, which must have these sizes (-1: any) and options; `what` is its
// name in messages.
Tensor read_result(lua_State* L, int index, const ScriptFunction& function, const char* what,
                   const std::vector<std::int64_t>& sizes, const at::TensorOptions& options);
// Returns a description for messages: "a 2 x 3 float32 Tensor", "nil", "a table".
std::string result_text(lua_State* L, int index);

// The first argument of a definition's functions: options, parameters, dtype, device and `sizes` by
// name, and zeros(...), ones(...), full(shape, value) with the model's dtype and device. Its fields
// cannot be changed.
KeptValuePtr make_self(lua_State* L, const Json& options, const ParameterList& parameters,
                       const at::TensorOptions& tensor_options,
                       const std::map<std::string, std::int64_t>& sizes);

// Declarations that may depend on options and sizes: either the rows or a function that returns
// them.
class ScriptRows {
 public:
  ScriptRows() = default;
  ScriptRows(lua_State* L, int index, std::string where, const char* what,
             std::vector<std::string> places, std::vector<std::string> names);
  explicit operator bool() const { return given_; }
  // The function is called with the options and `size`.
  Json rows(const Json& options, std::int64_t size) const;

 private:
  bool given_ = false;
  Json fixed_;
  ScriptFunction function_;
  std::string where_;
  const char* what_ = "";
  std::vector<std::string> places_, names_;
};

// Reads a positive size: a number, or the name of an option that contains one.
std::int64_t size_of(const Json& value, const Json& options, const std::string& where,
                     const std::string& of);

// Reads declared parameters: { name, shape, uniform =, xavier =, normal =, constant = }.
extern const std::vector<std::string> kParameterPlaces, kParameterNames;
ParameterList make_parameters(const Json& rows, const Json& options, const std::string& where,
                              const ModuleContext& context);

}  // namespace pushdown
