// Tensors as Lua objects. Lua counts dimensions and elements from 1, here everything counts from 0.
#pragma once
#include "bindings/options.h"
#include "bindings/value.h"

namespace pushdown {

template <>
struct ClassName<Tensor> {
  static constexpr const char* value = "Tensor";
  static std::size_t bytes(const Tensor& tensor) {
    return tensor.defined() ? static_cast<std::size_t>(tensor.numel()) * tensor.element_size() : 0;
  }
};

// Nested lists of numbers (or one number, or a tensor, which is converted) -> tensor. Ragged or
// non-numeric input throws WrongType with the path of the element.
Tensor tensor_from_lua(lua_State* L, int index, at::ScalarType dtype);
// Nested lists of numbers; a tensor without dimensions is a number. Pushed.
void push_nested(lua_State* L, const Tensor& tensor);
// "2 x 3 float32 {{1, 2, 3}, {4, 5, 6}}", with dots where it is long.
std::string tensor_line(const Tensor& tensor);
// Shape, dtype and device in the first line, then the head of the values, matrix by matrix.
std::string tensor_text(const Tensor& tensor);

// Takes dtype, device and requires_grad; the session's device and float32 where they are absent.
struct TensorChoices {
  at::ScalarType dtype = at::kFloat;
  at::Device device = at::Device(at::kCPU);
  bool requires_grad = false;
  // values, moved and marked as chosen.
  Tensor apply(const Tensor& values) const;
};
TensorChoices take_tensor_choices(lua_State* L, OptionTable& options);

}  // namespace pushdown
