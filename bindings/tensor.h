// Tensors as Lua objects. Lua counts dimensions and elements from 1, here everything counts from 0.
#pragma once
#include "bindings/bind.h"
#include "bindings/options.h"

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
// "Tensor 2 x 3 float32 {{1, 2, 3}, {4, 5, 6}}", with dots where it is long.
std::string tensor_line(const Tensor& tensor);
// Shape, dtype and device in the first line, then the head of the values, matrix by matrix.
std::string tensor_text(const Tensor& tensor);

// dtype, device and requires_grad; where they are absent: float32, the session's device and false.
struct TensorOptions {
  std::optional<std::string> dtype, device;
  bool requires_grad = false;
  static OptionRows rows();
  at::ScalarType type() const { return dtype ? parse_dtype(*dtype) : at::kFloat; }
  // `values` in the dtype, moved and marked as chosen.
  Tensor apply(lua_State* L, const Tensor& values, at::ScalarType as) const;
};

// Dimension `dim`, counted from 1 or, negative, from the end -> from 0.
std::int64_t to_dimension(std::int64_t dim, std::int64_t count);
// Index `i`, counted from 1 or, negative, from the end, in dimension `dim` (from 0) -> from 0.
std::int64_t to_index(std::int64_t i, std::int64_t size, std::int64_t dim);
// Indices as tensors, between Lua's count from 1 and LibTorch's from 0. The former are checked
// against `size`.
Tensor to_indices(const Tensor& indices, std::int64_t size, std::int64_t dim);

// A tensor or a number, as operators take them.
struct Operand {
  Tensor tensor;
  bool is_number = false;
};
template <>
struct Value<Operand> {
  static Operand get(lua_State* L, int i);
};
// Sizes given one by one or as one list.
std::vector<std::int64_t> read_sizes(const Rest& rest);
// Throws unless a tensor of this shape fits into the machine's memory.
void check_memory(const std::vector<std::int64_t>& shape, std::size_t element_size);

// The parts of the class, one file each.
void bind_tensor_creation(Module& module);
void bind_tensor_indexing(Class<Tensor>& cls);
void bind_tensor_arithmetic(Module& module, Class<Tensor>& cls);
void bind_tensor_reductions(Class<Tensor>& cls);
void bind_tensor_shapes(Module& module, Class<Tensor>& cls);
void bind_tensor_operators(Module& module);
void bind_tensor_files(Module& module);

}  // namespace pushdown
