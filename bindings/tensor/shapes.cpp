// Shapes, joining, and conversion of dtype and device.
#include "base/check.h"
#include "bindings/tensor/classes.h"

namespace pushdown {
namespace {

using T = const Tensor&;
using Dim = std::optional<std::int64_t>;

std::variant<std::int64_t, std::vector<std::int64_t>> size(T t, Dim dim) {
  if (dim) return t.size(to_dimension(*dim, t.dim()));
  return t.sizes().vec();
}

std::int64_t length(T t, Any) {
  check(t.dim() > 0, "Tensor", "a tensor without dimensions has no length; use item()");
  return t.size(0);
}

Tensor reshape(T t, Rest sizes) { return t.reshape(read_sizes(sizes)); }
Tensor expand(T t, Rest sizes) { return t.expand(read_sizes(sizes)); }

Tensor transpose(T t, Dim first, Dim second) {
  check(t.dim() >= 2, "Tensor:transpose", "the tensor must have two dimensions or more, got {}",
        t.dim());
  return t.transpose(to_dimension(first.value_or(-2), t.dim()),
                     to_dimension(second.value_or(-1), t.dim()));
}

Tensor permute(T t, Rest order) {
  auto dims = read_sizes(order);
  for (auto& d : dims) d = to_dimension(d, t.dim());
  return t.permute(dims);
}

Tensor squeeze(T t, Dim dim) { return dim ? t.squeeze(to_dimension(*dim, t.dim())) : t.squeeze(); }
// The result has one more dimension, so `dim` may be one more than the last.
Tensor unsqueeze(T t, std::int64_t dim) { return t.unsqueeze(to_dimension(dim, t.dim() + 1)); }

Tensor cat(const std::vector<Tensor>& tensors, Dim dim) {
  check(!tensors.empty(), "tensor.cat", "the list of tensors is empty");
  return at::cat(tensors, to_dimension(dim.value_or(1), tensors[0].dim()));
}

Tensor stack(const std::vector<Tensor>& tensors, Dim dim) {
  check(!tensors.empty(), "tensor.stack", "the list of tensors is empty");
  return at::stack(tensors, to_dimension(dim.value_or(1), tensors[0].dim() + 1));
}

struct ConversionOptions {
  std::optional<std::string> dtype, device;
  using Self = ConversionOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"dtype", &Self::dtype, "type of the numbers", OneOf{{"float32", "float64", "int64"}}},
         {"device", &Self::device, "'cpu', 'cuda' or 'cuda:n'"}});
  }
};

Tensor to(T t, const std::variant<std::string, ConversionOptions>& what) {
  if (const auto* name = std::get_if<std::string>(&what)) {
    if (name->starts_with("cpu") || name->starts_with("cuda")) return t.to(parse_device(*name));
    return t.to(parse_dtype(*name));
  }
  const auto& [dtype, device] = std::get<ConversionOptions>(what);
  Tensor result = t;
  if (dtype) result = result.to(parse_dtype(*dtype));
  if (device) result = result.to(parse_device(*device));
  return result;
}

}  // namespace

std::vector<std::int64_t> read_sizes(const Rest& rest) {
  if (rest.count == 1 && lua_istable(rest.state, rest.first))
    return Value<std::vector<std::int64_t>>::get(rest.state, rest.first);
  std::vector<std::int64_t> sizes;
  for (int i = rest.first; i < rest.first + rest.count; ++i)
    sizes.push_back(Value<std::int64_t>::get(rest.state, i));
  return sizes;
}

void bind_tensor_shapes(Module& module, Class<Tensor>& cls) {
  cls.def<&size>("size(dim) -> table or integer  Returns all sizes, or the size of one dimension.")
      .def<[](T t) { return t.dim(); }>("dim() -> integer  Returns the number of dimensions.")
      .def<[](T t) { return t.numel(); }>("numel() -> integer  Returns the number of elements.")
      .def<&length>("__len", "(#t) -> integer  Returns the size of the first dimension.")
      .def<[](T t) { return dtype_name(t.scalar_type()); }>(
          "dtype() -> string  Returns 'float32', 'float64', 'int64' or 'bool'.")
      .def<[](T t) { return t.device().str(); }>("device() -> string  Returns 'cpu' or 'cuda:n'.")
      .def<&reshape>(
          "reshape(sizes) -> Tensor  Returns the same elements in another shape. One size may be "
          "-1.")
      .def<&expand>(
          "expand(sizes) -> Tensor  Repeats dimensions of size 1 without copying; -1 keeps a size.")
      .def<&transpose>(
          "transpose(first, second) -> Tensor  Exchanges two dimensions (default: the last two).")
      .def<&permute>(
          "permute(dims) -> Tensor  Returns the tensor with its dimensions in another order.")
      .def<&squeeze>(
          "squeeze(dim) -> Tensor  Removes a dimension of size 1 (default: all of them).")
      .def<&unsqueeze>("unsqueeze(dim) -> Tensor  Inserts a dimension of size 1 at this place.")
      .def<[](T t) { return t.flatten(); }>(
          "flatten() -> Tensor  Returns all elements in one dimension.")
      .def<[](T t) { return t.clone(); }>("clone() -> Tensor  Returns a copy with its own memory.")
      .def<[](T t) { return t.detach(); }>(
          "detach() -> Tensor  Returns the same values outside the gradient graph.")
      .def<&to>(
          "to(what or {options}) -> Tensor  Returns the tensor in another dtype or on another "
          "device, given by name or as options.");
  module
      .def<&cat>(
          "cat(tensors, dim) -> Tensor  Returns the tensors joined along a dimension (default 1).")
      .def<&stack>(
          "stack(tensors, dim) -> Tensor  Returns the tensors joined along a new dimension "
          "(default 1). Their shapes must agree.");
}

}  // namespace pushdown
