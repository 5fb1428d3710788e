// What Lua functions that C++ calls are given and give back: states, tensors, `self`, and the
// declarations of options, action layers and parameters.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "bindings/options.h"
#include "bindings/script_call.h"
#include "tensor/module_context.h"

namespace pushdown {

// A tensor, a number, a text, true or false, or a table of such (a list, or by name; tables may be
// nested), as C++ keeps it between two calls: the tensors in a fixed order, and the rest with null
// in their places.
struct ScriptState {
  std::vector<Tensor> tensors;
  Json frame;

  void push(lua_State* L) const;
};
// The state at the index: everything else than the above is refused in the name of `function`, and
// so are tensors that are not B x ..., and floating-point ones of another dtype or device.
ScriptState read_state(lua_State* L, int index, const ScriptFunction& function, std::int64_t batch,
                       const at::TensorOptions& options);
// The tensor at the index, called `what`, which must have these sizes (-1: any) and options.
Tensor read_result(lua_State* L, int index, const ScriptFunction& function, const char* what,
                   const std::vector<std::int64_t>& sizes, const at::TensorOptions& options);
// "a 2 x 3 float32 Tensor", "nil", "a table": for messages.
std::string result_text(lua_State* L, int index);

// What a definition's functions get first: options, parameters, dtype, device and `sizes` by name,
// and zeros(...), ones(...), full(shape, value) of the model's dtype and device. Fields cannot be
// changed.
KeptValuePtr make_self(lua_State* L, const Json& options, const ParameterList& parameters,
                       const at::TensorOptions& tensor_options,
                       const std::map<std::string, std::int64_t>& sizes);

// A list of rows, { 'size', 20, 'what it is', minimum = 1 }: entries without a name get those of
// `places`, and no other names than these and `names` are valid.
Json read_rows(lua_State* L, int index, const std::string& where, const char* what,
               const std::vector<std::string>& places, const std::vector<std::string>& names);

// Options as a definition declares them: { name, default, doc, type =, minimum =, maximum =,
// choices = }. The type follows from the default where it is not given; an option without a default
// may be absent.
std::vector<OptionSpec> read_option_specs(lua_State* L, int index, const std::string& where);

// Declarations that may depend on options and sizes: the rows, or a function that returns them.
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

// A positive size: a number, or the name of an option that holds one.
std::int64_t size_of(const Json& value, const Json& options, const std::string& where,
                     const std::string& of);

// Parameters by declaration: { name, shape, uniform =, xavier =, normal =, constant = }.
extern const std::vector<std::string> kParameterPlaces, kParameterNames;
ParameterList make_parameters(const Json& rows, const Json& options, const std::string& where,
                              const ModuleContext& context);

}  // namespace pushdown
