// Reductions such as sums and extrema, over all elements or over dimensions counted from 1.
#include "base/check.h"
#include "bindings/tensor/classes.h"

namespace pushdown {
namespace {

using T = const Tensor&;
using Dims = std::optional<std::variant<std::int64_t, std::vector<std::int64_t>>>;
using Dim = std::optional<std::int64_t>;
using Keep = std::optional<bool>;

// One dimension, a list of dimensions, or all (absent).
std::vector<std::int64_t> to_dimensions(T t, const Dims& dims) {
  std::vector<std::int64_t> result;
  if (!dims) {
    for (std::int64_t d = 0; d < t.dim(); ++d) result.push_back(d);
  } else if (const auto* one = std::get_if<std::int64_t>(&*dims)) {
    result.push_back(to_dimension(*one, t.dim()));
  } else {
    for (const auto d : std::get<1>(*dims)) result.push_back(to_dimension(d, t.dim()));
  }
  return result;
}

Tensor floating(T t) { return t.is_floating_point() ? t : t.to(at::kFloat); }
std::int64_t last(T t, Dim dim) {
  return t.dim() == 0 && !dim ? 0 : to_dimension(dim.value_or(-1), t.dim());
}
void check_elements(const char* what, T t) {
  check(t.numel() > 0, what, "an empty tensor has none");
}

// LibTorch reads an empty list of dimensions as "all", so a scalar needs no list.
Tensor sum(T t, const Dims& dims, Keep keep) {
  if (!dims && !keep.value_or(false)) return t.sum();
  return t.sum(to_dimensions(t, dims), keep.value_or(false));
}
Tensor mean(T t, const Dims& dims, Keep keep) {
  if (!dims && !keep.value_or(false)) return floating(t).mean();
  return floating(t).mean(to_dimensions(t, dims), keep.value_or(false));
}
Tensor logsumexp(T t, const Dims& dims, Keep keep) {
  return floating(t).logsumexp(to_dimensions(t, dims), keep.value_or(false));
}
Tensor norm(T t, std::optional<double> p, const Dims& dims, Keep keep) {
  return at::norm(floating(t), optional<at::Scalar>(p.value_or(2)), to_dimensions(t, dims),
                  keep.value_or(false));
}
Tensor deviation(T t, const Dims& dims, Keep keep) {
  return at::std(floating(t), to_dimensions(t, dims), true, keep.value_or(false));
}
Tensor prod(T t, Dim dim, Keep keep) {
  return dim ? t.prod(to_dimension(*dim, t.dim()), keep.value_or(false)) : t.prod();
}

int push_pair(lua_State* L, const std::tuple<Tensor, Tensor>& pair) {
  Value<Tensor>::push(L, std::get<0>(pair));
  Value<Tensor>::push(L, std::get<1>(pair).add(1));
  return 2;
}
Results max(lua_State* L, T t, Dim dim, Keep keep) {
  check_elements("Tensor:max", t);
  if (!dim) return {Value<Tensor>::push(L, t.max())};
  return {push_pair(L, t.max(to_dimension(*dim, t.dim()), keep.value_or(false)))};
}
Results min(lua_State* L, T t, Dim dim, Keep keep) {
  check_elements("Tensor:min", t);
  if (!dim) return {Value<Tensor>::push(L, t.min())};
  return {push_pair(L, t.min(to_dimension(*dim, t.dim()), keep.value_or(false)))};
}
Results sort(lua_State* L, T t, Dim dim, std::optional<bool> descending) {
  // Stable, so that equal values keep their order on every device.
  return {push_pair(L, t.sort(true, last(t, dim), descending.value_or(false)))};
}
Tensor argmax(T t, Dim dim, Keep keep) {
  check_elements("Tensor:argmax", t);
  if (!dim) return t.argmax().add(1);
  return t.argmax(to_dimension(*dim, t.dim()), keep.value_or(false)).add(1);
}
Tensor argmin(T t, Dim dim, Keep keep) {
  check_elements("Tensor:argmin", t);
  if (!dim) return t.argmin().add(1);
  return t.argmin(to_dimension(*dim, t.dim()), keep.value_or(false)).add(1);
}

}  // namespace

void bind_tensor_reductions(Class<Tensor>& cls) {
  cls.def<&sum>(
         "sum(dims, keep) -> Tensor  Returns the sum over the dimensions (default: all). With "
         "`keep`, they remain with size 1.")
      .def<&mean>(
          "mean(dims, keep) -> Tensor  Returns the arithmetic mean over the dimensions (default: "
          "all).")
      .def<&deviation>(
          "std(dims, keep) -> Tensor  Returns the standard deviation with divisor n - 1 over the "
          "dimensions (default: all).")
      .def<&logsumexp>(
          "logsumexp(dims, keep) -> Tensor  Returns the logarithm of the sum of exp(t) over the "
          "dimensions (default: all), without overflow.")
      .def<&norm>(
          "norm(p, dims, keep) -> Tensor  Returns the p-norm (default: p = 2) over the dimensions "
          "(default: all).")
      .def<&prod>(
          "prod(dim, keep) -> Tensor  Returns the product over one dimension (default: all).")
      .def<&max>(
          "max(dim, keep) -> Tensor, Tensor  Returns the largest element, or the largest values "
          "along a dimension and their positions from 1.")
      .def<&min>(
          "min(dim, keep) -> Tensor, Tensor  Returns the smallest element, or the smallest values "
          "along a dimension and their positions from 1.")
      .def<&argmax>(
          "argmax(dim, keep) -> Tensor  Returns the position, from 1, of the largest element of a "
          "dimension, or without a dimension that of all elements in row-major order.")
      .def<&argmin>(
          "argmin(dim, keep) -> Tensor  Returns the position, from 1, of the smallest element of a "
          "dimension, or without a dimension that of all elements in row-major order.")
      .def<&sort>(
          "sort(dim, descending) -> Tensor, Tensor  Sorts along a dimension (default: the last). "
          "Returns the values and their positions from 1.")
      .def<[](T t, Dim dim) { return t.cumsum(last(t, dim)); }>(
          "cumsum(dim) -> Tensor  Returns the running sum along a dimension (default: the last).")
      .def<[](T t) { return t.to(at::kBool).any(); }>(
          "any() -> Tensor  Returns whether some element is true or not 0.")
      .def<[](T t) { return t.to(at::kBool).all(); }>(
          "all() -> Tensor  Returns whether every element is true or not 0.")
      .def<[](T t, Dim dim) { return floating(t).softmax(last(t, dim)); }>(
          "softmax(dim) -> Tensor  Returns exp(t) normalized to sum 1 along a dimension (default: "
          "the last).")
      .def<[](T t, Dim dim) { return floating(t).log_softmax(last(t, dim)); }>(
          "log_softmax(dim) -> Tensor  Returns the logarithm of the softmax along a dimension "
          "(default: the last).");
}

}  // namespace pushdown
