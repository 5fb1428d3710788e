// Element-wise operators and functions, and products.
#include <ATen/ScalarOps.h>

#include <cmath>

#include "base/check.h"
#include "bindings/tensor/classes.h"
#include "tensor/product.h"

namespace pushdown {

// Type promotion of numbers is that of LibTorch: a number never widens the dtype of a tensor, but a
// fraction turns integers into float32.
Operand Value<Operand>::get(lua_State* L, int i) {
  if (lua_type(L, i) == LUA_TNUMBER) {
    const double number = lua_tonumber(L, i);
    const bool integral = std::floor(number) == number && std::fabs(number) <= 9007199254740992.0;
    return {at::native::wrapped_scalar_tensor(
                integral ? at::Scalar(static_cast<std::int64_t>(number)) : at::Scalar(number)),
            true};
  }
  if (lua_type(L, i) != LUA_TUSERDATA) throw WrongType(L, i, "a number or a Tensor");
  return {Value<Tensor>::get(L, i), false};
}

namespace tensor_arithmetic {

template <auto F>
Tensor binary(const Operand& a, const Operand& b) {
  return F(a.tensor, b.tensor);
}

// Lua's comparison operators need one truth value, so both operands must have one element.
double single(const Operand& operand) {
  check(operand.tensor.numel() == 1, "Tensor",
        "< and <= compare tensors of one element, got shape {}; lt, le, gt and ge compare element "
        "by element",
        shape_text(operand.tensor));
  return operand.tensor.item<double>();
}

bool equal(const Tensor& a, const Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.device() == b.device() && a.equal(b);
}

bool allclose(const Tensor& a, const Tensor& b, std::optional<double> relative,
              std::optional<double> absolute) {
  return a.sizes() == b.sizes() && at::allclose(a.to(at::kDouble), b.to(a.device(), at::kDouble),
                                                relative.value_or(1e-5), absolute.value_or(1e-8));
}

Tensor clamp(const Tensor& t, std::optional<double> low, std::optional<double> high) {
  const auto bound = [](const std::optional<double>& b) {
    return b ? optional<at::Scalar>(*b) : optional<at::Scalar>();
  };
  return at::clamp(t, bound(low), bound(high));
}

Tensor where(const Tensor& mask, const Operand& yes, const Operand& no) {
  check(mask.scalar_type() == at::kBool, "tensor.where", "the condition must be bool, got {}",
        dtype_name(mask.scalar_type()));
  const auto dtype = at::result_type(yes.tensor, no.tensor);
  return at::where(mask, yes.tensor.to(mask.device(), dtype), no.tensor.to(mask.device(), dtype));
}

using T = const Tensor&;

void bind_functions(Class<Tensor>& cls) {
  cls.def<[](T t) { return t.log(); }>("log() -> Tensor  Returns the natural logarithm.")
      .def<[](T t) { return t.log1p(); }>("log1p() -> Tensor  Returns log(1 + t), accurate near 0.")
      .def<[](T t) { return t.exp(); }>("exp() -> Tensor  Returns exp(t).")
      .def<[](T t) { return t.expm1(); }>("expm1() -> Tensor  Returns exp(t) - 1, accurate near 0.")
      .def<[](T t) { return t.tanh(); }>("tanh() -> Tensor  Returns the hyperbolic tangent.")
      .def<[](T t) { return t.sigmoid(); }>("sigmoid() -> Tensor  Returns 1 / (1 + exp(-t)).")
      .def<[](T t) { return t.relu(); }>("relu() -> Tensor  Returns max(t, 0).")
      .def<[](T t) { return at::softplus(t); }>("softplus() -> Tensor  Returns log(1 + exp(t)).")
      .def<[](T t) { return t.sqrt(); }>("sqrt() -> Tensor  Returns the square root.")
      .def<[](T t) { return t.abs(); }>(
          "abs() -> Tensor  Returns the absolute value of each element.")
      .def<[](T t) { return t.sign(); }>(
          "sign() -> Tensor  Returns the sign of each element: -1, 0 or 1.")
      .def<[](T t) { return t.sin(); }>("sin() -> Tensor  Returns the sine.")
      .def<[](T t) { return t.cos(); }>("cos() -> Tensor  Returns the cosine.")
      .def<[](T t) { return t.floor(); }>(
          "floor() -> Tensor  Returns the largest integer that is not above each element.")
      .def<[](T t) { return t.ceil(); }>(
          "ceil() -> Tensor  Returns the smallest integer that is not below each element.")
      .def<[](T t) { return t.round(); }>(
          "round() -> Tensor  Returns the nearest integer, halves rounded to even.")
      .def<[](T t) { return t.isnan(); }>(
          "isnan() -> Tensor  Returns a bool tensor that is true where t is not a number.")
      .def<[](T t) { return t.logical_not(); }>(
          "logical_not() -> Tensor  Returns a bool tensor that is true where t is 0 or false.")
      .def<[](T t, T o) { return t.logical_and(o); }>(
          "logical_and(other) -> Tensor  Returns a bool tensor that is true where both are true.")
      .def<[](T t, T o) { return t.logical_or(o); }>(
          "logical_or(other) -> Tensor  Returns a bool tensor that is true where at least one is "
          "true.")
      .def<&clamp>(
          "clamp(low, high) -> Tensor  Returns the tensor with values below low or above high "
          "replaced by the bound. Either bound may be nil.")
      .def<[](T t, T mask, double v) { return t.masked_fill(mask, v); }>(
          "masked_fill(mask, value) -> Tensor  Returns the tensor with `value` where the mask is "
          "true.");
}

void bind_binary(Class<Tensor>& cls) {
  constexpr auto kAdd = [](T a, T b) { return at::add(a, b); };
  constexpr auto kSub = [](T a, T b) { return at::sub(a, b); };
  constexpr auto kMul = [](T a, T b) { return at::mul(a, b); };
  constexpr auto kDiv = [](T a, T b) { return at::div(a, b); };
  constexpr auto kMod = [](T a, T b) { return at::remainder(a, b); };
  constexpr auto kPow = [](T a, T b) { return at::pow(a, b); };
  cls.def<&binary<kAdd>>(
         "__add", "(a + b) -> Tensor  Returns the sum of tensors or numbers, with broadcasting.")
      .def<&binary<kSub>>(
          "__sub",
          "(a - b) -> Tensor  Returns the difference of tensors or numbers, with broadcasting.")
      .def<&binary<kMul>>(
          "__mul", "(a * b) -> Tensor  Returns the product, element by element, with broadcasting.")
      .def<&binary<kDiv>>("__div",
                          "(a / b) -> Tensor  Returns the quotient, element by element. The result "
                          "is never of integer type.")
      .def<&binary<kMod>>("__mod",
                          "(a % b) -> Tensor  Returns the remainder with the sign of b, as in Lua.")
      .def<&binary<kPow>>("__pow", "(a ^ b) -> Tensor  Returns the power, element by element.")
      .def<&binary<kPow>>("pow(exponent) -> Tensor  Returns the power, element by element.")
      .def<[](T t, Any) { return at::neg(t); }>("__unm",
                                                "(-t) -> Tensor  Returns the negated tensor.");
  cls.def<&equal>("__eq",
                  "(a == b) -> boolean  Returns whether shape, dtype and all values are equal.")
      .def<&equal>(
          "equal(other) -> boolean  Returns whether shape, dtype and all values are equal.")
      .def<[](const Operand& a, const Operand& b) { return single(a) < single(b); }>(
          "__lt", "(a < b) -> boolean  Compares two tensors of one element.")
      .def<[](const Operand& a, const Operand& b) { return single(a) <= single(b); }>(
          "__le", "(a <= b) -> boolean  Compares two tensors of one element.")
      .def<[](T a, const Operand& b) { return at::eq(a, b.tensor); }>(
          "eq(other) -> Tensor  Returns a bool tensor that is true where t is equal to other.")
      .def<[](T a, const Operand& b) { return at::ne(a, b.tensor); }>(
          "ne(other) -> Tensor  Returns a bool tensor that is true where t is not equal to other.")
      .def<[](T a, const Operand& b) { return at::lt(a, b.tensor); }>(
          "lt(other) -> Tensor  Returns a bool tensor that is true where t is less than other.")
      .def<[](T a, const Operand& b) { return at::le(a, b.tensor); }>(
          "le(other) -> Tensor  Returns a bool tensor that is true where t is less than or equal "
          "to other.")
      .def<[](T a, const Operand& b) { return at::gt(a, b.tensor); }>(
          "gt(other) -> Tensor  Returns a bool tensor that is true where t is greater than other.")
      .def<[](T a, const Operand& b) { return at::ge(a, b.tensor); }>(
          "ge(other) -> Tensor  Returns a bool tensor that is true where t is greater than or "
          "equal to other.")
      .def<&allclose>(
          "allclose(other, relative, absolute) -> boolean  Returns whether the shapes agree and |a "
          "- b| <= absolute + relative |b| everywhere. Defaults: relative 1e-5, absolute 1e-8.")
      .def<[](T a, T b) { return product(a, b); }>(
          "matmul(other) -> Tensor  Returns the matrix product over the last two dimensions. "
          "Leading dimensions are batches.")
      .def<[](T a, T b) { return at::dot(a, b); }>(
          "dot(other) -> Tensor  Returns the inner product of two vectors.");
}

}  // namespace tensor_arithmetic

void bind_tensor_arithmetic(Module& module, Class<Tensor>& cls) {
  using namespace tensor_arithmetic;
  bind_functions(cls);
  bind_binary(cls);
  module
      .def<&where>(
          "where(mask, yes, no) -> Tensor  Returns the elements of yes where the mask is true, and "
          "those of no elsewhere.")
      .def<[](const Operand& a, const Operand& b) {
        const bool whole = at::isIntegralType(at::result_type(a.tensor, b.tensor), true);
        return at::logaddexp(whole ? a.tensor.to(at::kFloat) : a.tensor, b.tensor);
      }>("logaddexp(a, b) -> Tensor  Returns log(exp(a) + exp(b)) of two tensors or numbers: the "
         "sum of numbers that are stored as logarithms.")
      .def<[](const Operand& a, const Operand& b) { return at::maximum(a.tensor, b.tensor); }>(
          "maximum(a, b) -> Tensor  Returns the larger of two tensors or numbers, element by "
          "element.")
      .def<[](const Operand& a, const Operand& b) { return at::minimum(a.tensor, b.tensor); }>(
          "minimum(a, b) -> Tensor  Returns the smaller of two tensors or numbers, element by "
          "element.");
}

}  // namespace pushdown
