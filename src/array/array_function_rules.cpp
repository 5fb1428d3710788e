// The rules of functions, reductions and products.
#include "array/array_rule_table.h"

#include <cmath>

#include "base/check.h"

namespace pushdown {
namespace {

using Value = ArrayRules::Value;
using Rule = ArrayRule;
using F = ArrayFunction;

Rule maps(F function, std::vector<std::size_t> arguments) {
  return [=](ArrayRules& r) { return std::vector<Value>{r.map(function, arguments)}; };
}

// a + alpha b
std::vector<Value> sum_rule(ArrayRules& r, F function, bool exchanged) {
  auto from = r.aligned({r.argument(0), r.argument(1)});
  if (r.result().scalar_type() == at::kBool) return {r.map(F::either, {0, 1})};
  int a = from.nodes[0], b = from.nodes[1];
  if (exchanged) std::swap(a, b);
  const double alpha = r.argument(2).isScalar() ? r.number(2) : 1;
  if (alpha != 1) (exchanged ? a : b) = r.times(exchanged ? a : b, alpha);
  return {r.of(from, r.graph().map(function, {a, b}))};
}

std::vector<Value> power_rule(ArrayRules& r) {
  if (r.argument(1).isScalar()) {
    const double exponent = r.number(1);
    const auto from = r.aligned({r.argument(0)});
    const int x = from.nodes[0];
    if (exponent == 2) return {r.of(from, r.graph().map(F::multiply, {x, x}))};
    if (exponent == 0.5) return {r.of(from, r.graph().map(F::sqrt, {x}))};
    if (exponent == 1) return {r.of(from, r.graph().map(F::copy, {x}))};
  }
  return {r.map(F::power, {0, 1})};
}

std::vector<Value> division_rule(ArrayRules& r) {
  const auto& rounding = r.argument(2);
  if (rounding.isNone()) return {r.map(F::divide, {0, 1})};
  Value value = r.map(F::divide, {0, 1});
  if (rounding.toStringRef() != "floor") no_array_rule("a truncating division");
  value.node = r.graph().map(F::floor, {value.node});
  return {value};
}

std::vector<Value> clamp_rule(ArrayRules& r) {
  std::vector<c10::IValue> items{r.argument(0)};
  const bool low = !r.argument(1).isNone(), high = !r.argument(2).isNone();
  if (low) items.push_back(r.argument(1));
  if (high) items.push_back(r.argument(2));
  const auto from = r.aligned(items);
  int node = from.nodes[0];
  if (low) node = r.graph().map(F::at_least, {node, from.nodes[1]});
  if (high) node = r.graph().map(F::at_most, {node, from.nodes.back()});
  return {r.of(from, node)};
}

std::vector<Value> masked_fill_rule(ArrayRules& r) {
  const auto from = r.aligned({r.argument(0), r.argument(1), r.argument(2)});
  return {r.of(from, r.graph().map(F::choose, {from.nodes[1], from.nodes[2], from.nodes[0]}))};
}

Rule composed(std::function<int(ArrayRules&, int)> of) {
  return [of = std::move(of)](ArrayRules& r) {
    Value value = r.value(0);
    value.node = of(r, value.node);
    return std::vector<Value>{value};
  };
}

// ---- Reductions ----

std::vector<Value> reduction(ArrayRules& r, ArrayKind kind, std::size_t dims, std::size_t keep) {
  const Value value = r.value(0);
  const auto rank = r.graph().shape(value.node).size();
  const bool kept = r.argument(keep).isBool() && r.argument(keep).toBool();
  return {r.reduced(kind, value, r.dimensions(r.argument(dims), rank), kept)};
}
Rule reduces(ArrayKind kind, std::size_t dims, std::size_t keep) {
  return [=](ArrayRules& r) { return reduction(r, kind, dims, keep); };
}
Rule runs_along(ArrayKind kind) {
  return [=](ArrayRules& r) {
    const Value value = r.value(0);
    return std::vector<Value>{
        r.along(kind, value, r.dimension(r.integer(1), r.graph().shape(value.node).size()))};
  };
}
double share_of(ArrayRules& r, const Value& value, const std::vector<int>& dims) {
  double count = 1;
  for (const int d : dims) count *= static_cast<double>(r.graph().shape(value.node)[as_place(d)]);
  return count;
}

std::vector<Value> mean_rule(ArrayRules& r) {
  const Value value = r.value(0);
  const auto dims = r.dimensions(r.argument(1), r.graph().shape(value.node).size());
  Value sum = reduction(r, ArrayKind::sum, 1, 2)[0];
  sum.node = r.times(sum.node, 1 / share_of(r, value, dims));
  return {sum};
}

// std.correction(self, dim, *, correction, keepdim), std.dim(self, dim, unbiased, keepdim)
std::vector<Value> deviation_rule(ArrayRules& r) {
  const Value value = r.value(0);
  const auto dims = r.dimensions(r.argument(1), r.graph().shape(value.node).size());
  const auto& by = r.argument(2);
  const double correction = by.isBool() ? (by.toBool() ? 1 : 0) : by.isNone() ? 1 : r.number(2);
  const double count = share_of(r, value, dims);
  Value mean = r.reduced(ArrayKind::sum, value, dims, true);
  mean.node = r.times(mean.node, 1 / count);
  Value square = value;
  const int apart = r.graph().map(F::subtract, {value.node, mean.node});
  square.node = r.graph().map(F::multiply, {apart, apart});
  Value sum = r.reduced(ArrayKind::sum, square, dims, r.argument(3).toBool());
  sum.node = r.graph().map(F::sqrt, {r.times(sum.node, 1 / (count - correction))});
  return {sum};
}

std::vector<Value> norm_rule(ArrayRules& r) {
  const Value value = r.value(0);
  const double p = r.argument(1).isNone() ? 2 : r.number(1);
  const auto dims = r.dimensions(r.argument(2), r.graph().shape(value.node).size());
  const bool kept = r.argument(3).isBool() && r.argument(3).toBool();
  Value each = value;
  if (p == 1) {
    each.node = r.graph().map(F::abs, {value.node});
    return {r.reduced(ArrayKind::sum, each, dims, kept)};
  }
  if (p != 2) no_array_rule(fmt::format("the norm of order {}", p));
  each.node = r.graph().map(F::multiply, {value.node, value.node});
  Value sum = r.reduced(ArrayKind::sum, each, dims, kept);
  // The norm of 0 has the derivative 0.
  const int zero = r.graph().number(0), one = r.graph().number(1);
  const int none = r.graph().map(F::equal, {sum.node, zero});
  const int safe = r.graph().map(F::choose, {none, one, sum.node});
  sum.node = r.graph().map(F::choose, {none, zero, r.graph().map(F::sqrt, {safe})});
  return {sum};
}

Rule extreme(ArrayKind kind) {
  return [=](ArrayRules& r) {
    const Value value = r.value(0);
    const int d = r.dimension(r.integer(1), r.graph().shape(value.node).size());
    Value positions;
    positions.unknown = ArrayRefusal{"uses the positions of maxima or minima", ""};
    return std::vector<Value>{r.reduced(kind, value, {d}, r.argument(2).toBool()), positions};
  };
}

// ---- Products ----

std::vector<Value> product_rule(ArrayRules& r) {
  return {r.matrix_product(r.argument(0).toTensor(), r.argument(1).toTensor())};
}

// beta self + alpha (a b)
std::vector<Value> added_product_rule(ArrayRules& r) {
  Value product = r.matrix_product(r.argument(1).toTensor(), r.argument(2).toTensor());
  const Tensor& added = r.argument(0).toTensor();
  const double beta = r.number(3), alpha = r.number(4);
  const auto rank = static_cast<int>(r.graph().shape(product.node).size());
  const int from_end = product.batch < 0 ? 0 : rank - product.batch;
  const Value* own = r.find(added);
  int node = own != nullptr ? own->node : r.constant(added, from_end);
  if (own != nullptr && own->batch >= 0) {
    const int mine = static_cast<int>(added.dim()) - own->batch;
    if (product.batch >= 0 && mine != from_end)
      no_array_rule("adds different sequences of the batch");
    product.batch = rank - mine;
  }
  node = r.times(node, beta);
  product.node = r.graph().map(F::add, {r.times(product.node, alpha), node});
  return {product};
}

std::vector<Value> linear_rule(ArrayRules& r) {
  const Tensor& weight = r.argument(1).toTensor();
  const Value* known = r.find(weight);
  const Tensor& x = r.argument(0).toTensor();
  if (known != nullptr && known->batch >= 0)
    no_array_rule("a linear map that differs between sequences");
  const int rows = known != nullptr ? known->node : r.constant(weight, 0);  // O x I
  const Value input = r.value_of(x);
  r.check_sequences(input, static_cast<int>(x.dim()) - 1);
  Value made = input;
  made.mask = false;
  made.node =
      r.graph().contraction(r.graph().unsqueeze(input.node, static_cast<int>(x.dim()) - 1), rows);
  if (!r.argument(2).isNone()) {
    const Tensor& bias = r.argument(2).toTensor();
    const Value* own = r.find(bias);
    made.node = r.graph().map(F::add, {made.node, own ? own->node : r.constant(bias, 0)});
  }
  return {made};
}

}  // namespace

ArrayRuleTable array_function_rules() {
  ArrayRuleTable all{
      {"sgn", maps(F::sign, {0})},
      {"bitwise_not", maps(F::none_of, {0})},
      {"add", [](ArrayRules& r) { return sum_rule(r, F::add, false); }},
      {"sub", [](ArrayRules& r) { return sum_rule(r, F::subtract, false); }},
      {"rsub", [](ArrayRules& r) { return sum_rule(r, F::subtract, true); }},
      {"div", division_rule},
      {"true_divide", maps(F::divide, {0, 1})},
      {"pow", power_rule},
      {"clamp", clamp_rule},
      {"clamp_min",
       [](ArrayRules& r) {
         const auto from = r.aligned({r.argument(0), r.argument(1)});
         return std::vector<Value>{r.of(from, r.graph().map(F::at_least, from.nodes))};
       }},
      {"clamp_max",
       [](ArrayRules& r) {
         const auto from = r.aligned({r.argument(0), r.argument(1)});
         return std::vector<Value>{r.of(from, r.graph().map(F::at_most, from.nodes))};
       }},
      {"masked_fill", masked_fill_rule},
      {"mul",
       [](ArrayRules& r) {
         const bool masks = r.result().scalar_type() == at::kBool;
         return std::vector<Value>{r.map(masks ? F::both : F::multiply, {0, 1})};
       }},
      {"softplus",
       [](ArrayRules& r) {
         if (r.number(1) != 1 || r.number(2) != 20)
           no_array_rule("a softplus with beta or threshold other than the default");
         return std::vector<Value>{r.map(F::softplus, {0})};
       }},
      {"reciprocal", composed([](ArrayRules& r, int x) {
         return r.graph().map(F::divide, {r.graph().number(1), x});
       })},
      {"rsqrt", composed([](ArrayRules& r, int x) {
         return r.graph().map(F::divide, {r.graph().number(1), r.graph().map(F::sqrt, {x})});
       })},
      {"square", composed([](ArrayRules& r, int x) {
         return r.graph().map(F::multiply, {x, x});
       })},
      {"silu", composed([](ArrayRules& r, int x) {
         return r.graph().map(F::multiply, {x, r.graph().map(F::sigmoid, {x})});
       })},
      {"log_sigmoid", composed([](ArrayRules& r, int x) {
         return r.negated(r.graph().map(F::softplus, {r.negated(x)}));
       })},
      {"log2", composed([](ArrayRules& r, int x) {
         return r.times(r.graph().map(F::log, {x}), 1 / std::log(2.0));
       })},
      {"log10", composed([](ArrayRules& r, int x) {
         return r.times(r.graph().map(F::log, {x}), 1 / std::log(10.0));
       })},
      {"gelu",
       [](ArrayRules& r) {
         if (r.argument(1).isString() && r.argument(1).toStringRef() != "none")
           no_array_rule("an approximated gelu");
         Value value = r.value(0);
         const int error = r.graph().map(F::erf, {r.times(value.node, std::sqrt(0.5))});
         const int one = r.graph().map(F::add, {error, r.graph().number(1)});
         value.node = r.graph().map(F::multiply, {r.times(value.node, 0.5), one});
         return std::vector<Value>{value};
       }},
      {"leaky_relu", composed([](ArrayRules& r, int x) {
         const double slope = r.number(1);
         const int positive = r.graph().map(F::greater, {x, r.graph().number(0)});
         return r.graph().map(F::choose, {positive, x, r.times(x, slope)});
       })},
      {"elu", composed([](ArrayRules& r, int x) {
         const double alpha = r.number(1), scale = r.number(2), inner = r.number(3);
         const int positive = r.graph().map(F::greater, {x, r.graph().number(0)});
         const int below = r.graph().map(F::expm1, {r.times(x, inner)});
         return r.graph().map(F::choose,
                              {positive, r.times(x, scale), r.times(below, alpha * scale)});
       })},
      {"sum", reduces(ArrayKind::sum, 1, 2)},
      {"mean", mean_rule},
      {"prod", reduces(ArrayKind::product, 1, 2)},
      {"logsumexp", reduces(ArrayKind::logsumexp, 1, 2)},
      {"std", deviation_rule},
      {"norm", norm_rule},
      {"max", extreme(ArrayKind::greatest)},
      {"min", extreme(ArrayKind::least)},
      {"softmax", runs_along(ArrayKind::softmax)},
      {"_softmax", runs_along(ArrayKind::softmax)},
      {"log_softmax", runs_along(ArrayKind::log_softmax)},
      {"_log_softmax", runs_along(ArrayKind::log_softmax)},
      {"cumsum", runs_along(ArrayKind::running_sum)},
      {"cumprod", runs_along(ArrayKind::running_product)},
      {"matmul", product_rule},
      {"mm", product_rule},
      {"bmm", product_rule},
      {"mv", product_rule},
      {"addmm", added_product_rule},
      {"baddbmm", added_product_rule},
      {"linear", linear_rule},
  };
  // The functions that are operators themselves.
  for (int k = 0; k < kFunctionCount; ++k) {
    const F function{static_cast<std::uint8_t>(k)};
    const FunctionFacts& facts = facts_of(function);
    std::vector<std::size_t> operands{0, 1, 2};
    operands.resize(static_cast<std::size_t>(facts.operands));
    if (function != F::copy) all.try_emplace(facts.text, maps(function, operands));
  }
  return all;
}

}  // namespace pushdown
