// Operators and functions that act element by element, and products.
#include <ATen/ScalarOps.h>

#include <cmath>

#include "base/check.h"
#include "bindings/tensor.h"
#include "tensor/product.h"

namespace pushdown {

// A number takes part in type promotion as in LibTorch: it never widens a tensor's dtype, but a
// fraction makes integers float32.
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

namespace {

template <auto F>
Tensor binary(const Operand& a, const Operand& b) {
  return F(a.tensor, b.tensor);
}

// Comparisons as Lua's own operators need one truth value, so one element on each side.
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

Tensor tensor_arithmetic_where(const Tensor& mask, const Operand& yes, const Operand& no) {
  check(mask.scalar_type() == at::kBool, "tensor.where", "the condition must be bool, got {}",
        dtype_name(mask.scalar_type()));
  const auto dtype = at::result_type(yes.tensor, no.tensor);
  return at::where(mask, yes.tensor.to(mask.device(), dtype), no.tensor.to(mask.device(), dtype));
}

using T = const Tensor&;

void bind_functions(Class<Tensor>& cls) {
  cls.def<[](T t) { return t.log(); }>("log", "log() -> Tensor  Natural logarithm.")
      .def<[](T t) { return t.log1p(); }>("log1p", "log1p() -> Tensor  log(1 + t), exact near 0.")
      .def<[](T t) { return t.exp(); }>("exp", "exp() -> Tensor  Exponential.")
      .def<[](T t) { return t.expm1(); }>("expm1", "expm1() -> Tensor  exp(t) - 1, exact near 0.")
      .def<[](T t) { return t.tanh(); }>("tanh", "tanh() -> Tensor  Hyperbolic tangent.")
      .def<[](T t) { return t.sigmoid(); }>("sigmoid", "sigmoid() -> Tensor  1 / (1 + exp(-t)).")
      .def<[](T t) { return t.relu(); }>("relu", "relu() -> Tensor  max(t, 0).")
      .def<[](T t) { return at::softplus(t); }>("softplus",
                                                "softplus() -> Tensor  log(1 + exp(t)).")
      .def<[](T t) { return t.sqrt(); }>("sqrt", "sqrt() -> Tensor  Square root.")
      .def<[](T t) { return t.abs(); }>("abs", "abs() -> Tensor  Absolute value.")
      .def<[](T t) { return t.sign(); }>("sign", "sign() -> Tensor  -1, 0 or 1.")
      .def<[](T t) { return t.sin(); }>("sin", "sin() -> Tensor  Sine.")
      .def<[](T t) { return t.cos(); }>("cos", "cos() -> Tensor  Cosine.")
      .def<[](T t) { return t.floor(); }>("floor", "floor() -> Tensor  Largest integer below.")
      .def<[](T t) { return t.ceil(); }>("ceil", "ceil() -> Tensor  Smallest integer above.")
      .def<[](T t) { return t.round(); }>("round",
                                          "round() -> Tensor  Nearest integer, halves to even.")
      .def<[](T t) { return t.isnan(); }>("isnan", "isnan() -> Tensor  Where t is not a number.")
      .def<[](T t) { return t.logical_not(); }>("logical_not",
                                                "logical_not() -> Tensor  Where t is 0 or false.")
      .def<[](T t, T o) { return t.logical_and(o); }>(
          "logical_and", "logical_and(other) -> Tensor  Where both are true.")
      .def<[](T t, T o) { return t.logical_or(o); }>(
          "logical_or", "logical_or(other) -> Tensor  Where one is true.")
      .def<&clamp>("clamp",
                   "clamp(low, high) -> Tensor  Values below low or above high replaced by the "
                   "bound; either may be nil.")
      .def<[](T t, T mask, double v) { return t.masked_fill(mask, v); }>(
          "masked_fill", "masked_fill(mask, value) -> Tensor  The value where the mask is true.");
}

void bind_binary(Class<Tensor>& cls) {
  constexpr auto kAdd = [](T a, T b) { return at::add(a, b); };
  constexpr auto kSub = [](T a, T b) { return at::sub(a, b); };
  constexpr auto kMul = [](T a, T b) { return at::mul(a, b); };
  constexpr auto kDiv = [](T a, T b) { return at::div(a, b); };
  constexpr auto kMod = [](T a, T b) { return at::remainder(a, b); };
  constexpr auto kPow = [](T a, T b) { return at::pow(a, b); };
  cls.def<&binary<kAdd>>("__add", "(a + b) -> Tensor  Sum of tensors or numbers, broadcast.")
      .def<&binary<kSub>>("__sub",
                          "(a - b) -> Tensor  Difference of tensors or numbers, broadcast.")
      .def<&binary<kMul>>("__mul", "(a * b) -> Tensor  Product, element by element, broadcast.")
      .def<&binary<kDiv>>("__div",
                          "(a / b) -> Tensor  Quotient, element by element; never integral.")
      .def<&binary<kMod>>("__mod", "(a % b) -> Tensor  Remainder with the sign of b, as in Lua.")
      .def<&binary<kPow>>("__pow", "(a ^ b) -> Tensor  Power, element by element.")
      .def<&binary<kPow>>("pow", "pow(exponent) -> Tensor  Power, element by element.")
      .def<[](T t, Any) { return at::neg(t); }>("__unm", "(-t) -> Tensor  Negation.");
  cls.def<&equal>("__eq", "(a == b) -> boolean  Whether shape, dtype and all values are equal.")
      .def<&equal>("equal",
                   "equal(other) -> boolean  Whether shape, dtype and all values are equal.")
      .def<[](const Operand& a, const Operand& b) { return single(a) < single(b); }>(
          "__lt", "(a < b) -> boolean  Compares tensors of one element.")
      .def<[](const Operand& a, const Operand& b) { return single(a) <= single(b); }>(
          "__le", "(a <= b) -> boolean  Compares tensors of one element.")
      .def<[](T a, const Operand& b) { return at::eq(a, b.tensor); }>(
          "eq", "eq(other) -> Tensor  Where equal, as bool.")
      .def<[](T a, const Operand& b) { return at::ne(a, b.tensor); }>(
          "ne", "ne(other) -> Tensor  Where not equal, as bool.")
      .def<[](T a, const Operand& b) { return at::lt(a, b.tensor); }>(
          "lt", "lt(other) -> Tensor  Where less, as bool.")
      .def<[](T a, const Operand& b) { return at::le(a, b.tensor); }>(
          "le", "le(other) -> Tensor  Where less or equal, as bool.")
      .def<[](T a, const Operand& b) { return at::gt(a, b.tensor); }>(
          "gt", "gt(other) -> Tensor  Where greater, as bool.")
      .def<[](T a, const Operand& b) { return at::ge(a, b.tensor); }>(
          "ge", "ge(other) -> Tensor  Where greater or equal, as bool.")
      .def<&allclose>(
          "allclose",
          "allclose(other, relative, absolute) -> boolean  Whether the shapes agree and "
          "|a - b| <= absolute + relative |b| (1e-8, 1e-5) everywhere.")
      .def<[](T a, T b) { return product(a, b); }>(
          "matmul",
          "matmul(other) -> Tensor  Matrix product over the last two dimensions; leading ones are "
          "batches.")
      .def<[](T a, T b) { return at::dot(a, b); }>(
          "dot", "dot(other) -> Tensor  Inner product of two vectors.");
}

}  // namespace

void bind_tensor_arithmetic(Module& module, Class<Tensor>& cls) {
  bind_functions(cls);
  bind_binary(cls);
  module
      .def<&tensor_arithmetic_where>(
          "where",
          "where(mask, yes, no) -> Tensor  Elements of yes where the mask is true, else of no.")
      .def<[](const Operand& a, const Operand& b) { return at::maximum(a.tensor, b.tensor); }>(
          "maximum", "maximum(a, b) -> Tensor  The larger of two, element by element.")
      .def<[](const Operand& a, const Operand& b) { return at::minimum(a.tensor, b.tensor); }>(
          "minimum", "minimum(a, b) -> Tensor  The smaller of two, element by element.");
}

}  // namespace pushdown
