// Tensors as Lua objects. Lua counts dimensions and elements from 1; here all counts start at 0.
#pragma once
#include "bindings/binder/bind.h"
#include "bindings/binder/options.h"

namespace pushdown {

template <>
inline constexpr auto kClassName<Tensor> = "Tensor";
template <>
inline constexpr auto kHeldBytes<Tensor> = [](const Tensor& tensor) {
  return tensor.defined() ? tensor.numel() * tensor.element_size() : 0;
};

// Converts nested lists of numbers, one number or a tensor to a tensor. Throws WrongType with the
// path of the element for ragged or non-numeric input.
Tensor tensor_from_lua(lua_State* L, int index, at::ScalarType dtype);
// Pushes nested lists of numbers, or a number for a tensor without dimensions.
void push_nested(lua_State* L, const Tensor& tensor);
// Returns "Tensor 2 x 3 float32 {{1, 2, 3}, {4, 5, 6}}", shortened with dots if it is long.
std::string tensor_line(const Tensor& tensor);
// Returns shape, dtype and device in the first line, then the first values, matrix by matrix.
std::string tensor_text(const Tensor& tensor);

// dtype, device and requires_grad. Defaults: float32, the session's device and false.
struct TensorOptions {
  std::optional<std::string> dtype, device;
  bool requires_grad = false;
  static OptionRows rows();
  at::ScalarType type() const { return dtype ? parse_dtype(*dtype) : at::kFloat; }
  // Returns `values` in the chosen dtype, on the chosen device, and with requires_grad as chosen.
  Tensor apply(lua_State* L, const Tensor& values, at::ScalarType as) const;
};

// Converts dimension `dim`, counted from 1 or, if negative, from the end, to a count from 0.
std::int64_t to_dimension(std::int64_t dim, std::int64_t count);
// Converts index `i` of dimension `dim` (from 0), counted from 1 or, if negative, from the end, to
// a count from 0.
std::int64_t to_index(std::int64_t i, std::int64_t size, std::int64_t dim);
// Convert tensors of indices between Lua's count from 1 and LibTorch's count from 0. Lua's are
// checked against `size`.
Tensor to_indices(const Tensor& indices, std::int64_t size, std::int64_t dim);

// A tensor or a number, as an operand.
struct Operand {
  Tensor tensor;
  bool is_number = false;
};
template <>
struct Value<Operand> {
  static Operand get(lua_State* L, int i);
};
// Sizes as separate arguments or as one list.
std::vector<std::int64_t> read_sizes(const Rest& rest);
// Throws unless a tensor of this shape fits into the machine's memory.
void check_memory(const std::vector<std::int64_t>& shape, std::size_t element_size);

// The parts of the class, each in a file of its own.
void bind_tensor_creation(Module& module);
void bind_tensor_indexing(Class<Tensor>& cls);
void bind_tensor_arithmetic(Module& module, Class<Tensor>& cls);
void bind_tensor_reductions(Class<Tensor>& cls);
void bind_tensor_shapes(Module& module, Class<Tensor>& cls);
void bind_tensor_operators(Module& module);
void bind_tensor_files(Module& module);

}  // namespace pushdown
