#include "array/array_rules.h"

#include <cmath>
#include <set>

#include "base/check.h"

namespace pushdown {
namespace {

using Value = ArrayRules::Value;
using Rule = std::function<std::vector<Value>(ArrayRules&)>;
using F = ArrayFunction;

std::size_t as_place(int d) { return static_cast<std::size_t>(d); }

[[noreturn]] void unknown(std::string reason) { throw ArrayRules::Unknown{std::move(reason)}; }

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
  if (rounding.toStringRef() != "floor") unknown("a division that truncates");
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
  if (p != 2) unknown(fmt::format("the norm of order {}", p));
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
    positions.unknown = ArrayRefusal{"the positions of greatest or least numbers are used", ""};
    return std::vector<Value>{r.reduced(kind, value, {d}, r.argument(2).toBool()), positions};
  };
}

// ---- Shapes ----

std::vector<Value> reshape_rule(ArrayRules& r) { return {r.reshaped(r.value(0), r.result())}; }

std::vector<Value> same_rule(ArrayRules& r) { return {r.value(0)}; }

std::vector<Value> conversion_rule(ArrayRules& r) {
  Value value = r.value(0);
  if (r.result().scalar_type() == at::kBool && !value.mask) {
    value.node = r.graph().map(F::not_equal, {value.node, r.graph().number(0)});
    value.mask = true;
  } else if (r.result().is_floating_point()) {
    value.mask = false;
  }
  return {value};
}

std::vector<Value> expand_rule(ArrayRules& r) {
  Value value = r.value(0);
  ArraySizes shape = r.result().sizes().vec();
  const ArraySizes& old = r.graph().shape(value.node);
  const auto more = shape.size() - old.size();
  if (value.batch >= 0) {
    value.batch += static_cast<int>(more);
    shape[as_place(value.batch)] = old[as_place(value.batch) - more];
  } else {
    // A parameter that is repeated for each sequence.
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (shape[d] == r.batch() && (d < more || old[d - more] == 1)) {
        value.batch = static_cast<int>(d);
        shape[d] = 1;
        break;
      }
  }
  value.node = r.graph().expand(value.node, shape);
  return {value};
}

std::vector<Value> permuted(ArrayRules& r, const std::vector<int>& order) {
  Value value = r.value(0);
  value.node = r.graph().permute(value.node, order);
  if (value.batch >= 0)
    value.batch =
        static_cast<int>(std::find(order.begin(), order.end(), value.batch) - order.begin());
  return {value};
}
std::vector<Value> exchanged(ArrayRules& r, std::int64_t first, std::int64_t second) {
  const auto rank = r.graph().shape(r.value(0).node).size();
  std::vector<int> order;
  for (int d = 0; d < static_cast<int>(rank); ++d) order.push_back(d);
  if (rank > 0)
    std::swap(order[as_place(r.dimension(first, rank))],
              order[as_place(r.dimension(second, rank))]);
  return permuted(r, order);
}
std::vector<Value> permute_rule(ArrayRules& r) {
  return permuted(r, r.dimensions(r.argument(1), r.graph().shape(r.value(0).node).size()));
}
std::vector<Value> matrix_transpose_rule(ArrayRules& r) {
  const auto rank = r.graph().shape(r.value(0).node).size();
  return rank < 2 ? std::vector<Value>{r.value(0)} : exchanged(r, -2, -1);
}

std::vector<Value> unsqueeze_rule(ArrayRules& r) {
  Value value = r.value(0);
  const int d = r.dimension(r.integer(1), r.graph().shape(value.node).size() + 1);
  value.node = r.graph().unsqueeze(value.node, d);
  if (value.batch >= d) ++value.batch;
  return {value};
}

std::vector<Value> squeeze_rule(ArrayRules& r) {
  Value value = r.value(0);
  const Tensor& tensor = r.argument(0).toTensor();
  const auto rank = static_cast<std::size_t>(tensor.dim());
  std::vector<int> dims;
  if (r.argument(1).isNone())
    dims = r.dimensions({}, rank);
  else
    dims = r.dimensions(r.argument(1), rank);
  std::sort(dims.rbegin(), dims.rend());
  for (const int d : dims) {
    if (tensor.size(d) != 1) continue;
    value.node = r.graph().squeeze(value.node, d);
    if (value.batch > d) --value.batch;
  }
  return {value};
}

// Numbers first, first + step, ... of a dimension; of that of the batch only all of them.
Value part_of(ArrayRules& r, const Value& value, int d, std::int64_t first, std::int64_t count,
              std::int64_t step = 1) {
  Value part = value;
  if (d == value.batch) {
    if (first == 0 && step == 1 && count == r.batch() * r.graph().shape(value.node)[as_place(d)])
      return part;
    r.check_sequences(value, d);
  }
  part.node = r.graph().narrow(value.node, d, first, count, step);
  return part;
}

std::vector<Value> slice_rule(ArrayRules& r) {
  const Value value = r.value(0);
  const Tensor& tensor = r.argument(0).toTensor();
  const int d =
      r.dimension(r.argument(1).isInt() ? r.integer(1) : 0, static_cast<std::size_t>(tensor.dim()));
  const auto size = tensor.size(d);
  std::int64_t first = r.argument(2).isInt() ? r.integer(2) : 0;
  if (first < 0) first += size;
  first = std::clamp<std::int64_t>(first, 0, size);
  const std::int64_t step = r.argument(4).isInt() ? r.integer(4) : 1;
  return {part_of(r, value, d, first, r.result().size(d), step)};
}

std::vector<Value> narrow_rule(ArrayRules& r) {
  const Value value = r.value(0);
  const Tensor& tensor = r.argument(0).toTensor();
  const int d = r.dimension(r.integer(1), static_cast<std::size_t>(tensor.dim()));
  if (!r.argument(2).isInt()) unknown("a part whose place is a tensor");
  const auto first = r.integer(2);
  return {part_of(r, value, d, first < 0 ? first + tensor.size(d) : first, r.integer(3))};
}

Value selected(ArrayRules& r, const Value& value, int d, std::int64_t index) {
  r.check_sequences(value, d);
  Value part = value;
  part.node = r.graph().select(value.node, d, index);
  if (part.batch > d) --part.batch;
  return part;
}

std::vector<Value> select_rule(ArrayRules& r) {
  const Value value = r.value(0);
  const Tensor& tensor = r.argument(0).toTensor();
  const int d = r.dimension(r.integer(1), static_cast<std::size_t>(tensor.dim()));
  const auto index = r.integer(2);
  return {selected(r, value, d, index < 0 ? index + tensor.size(d) : index)};
}

std::vector<Value> unbind_rule(ArrayRules& r) {
  const Value value = r.value(0);
  const Tensor& tensor = r.argument(0).toTensor();
  const int d =
      r.dimension(r.argument(1).isInt() ? r.integer(1) : 0, static_cast<std::size_t>(tensor.dim()));
  std::vector<Value> all;
  for (std::int64_t k = 0; k < tensor.size(d); ++k) all.push_back(selected(r, value, d, k));
  return all;
}

std::vector<Value> split_rule(ArrayRules& r) {
  const Value value = r.value(0);
  const auto rank = r.graph().shape(value.node).size();
  const int d = r.dimension(r.argument(2).isInt() ? r.integer(2) : 0, rank);
  std::vector<Value> all;
  std::int64_t first = 0;
  for (std::size_t k = 0; first < r.argument(0).toTensor().size(d); ++k) {
    const auto count = r.result(k).size(d);
    all.push_back(part_of(r, value, d, first, count));
    first += count;
  }
  return all;
}

Value joined_values(ArrayRules& r, const std::vector<Tensor>& tensors, std::int64_t dimension,
                    bool stacked) {
  int from_end = 0;
  for (const Tensor& tensor : tensors)
    if (const Value* value = r.find(tensor); value != nullptr && value->batch >= 0) {
      const int own = static_cast<int>(tensor.dim()) - value->batch;
      if (from_end != 0 && from_end != own) unknown("tensors of sequences are joined across");
      from_end = own;
    }
  const auto rank = static_cast<int>(tensors.front().dim());
  const int d = r.dimension(dimension, as_place(rank) + (stacked ? 1 : 0));
  if (!stacked && from_end > 0 && d == rank - from_end) unknown("sequences are joined");
  std::vector<int> parts;
  ArraySizes shape;
  for (const Tensor& tensor : tensors) {
    // An empty tensor of one dimension joins with any.
    if (!stacked && tensor.numel() == 0 && tensor.dim() == 1 && rank > 1) continue;
    const Value* value = r.find(tensor);
    int node = value != nullptr ? value->node : r.constant(tensor, from_end);
    if (value != nullptr && value->batch < 0 && from_end > 0 &&
        r.graph().shape(node)[as_place(rank - from_end)] != 1)
      unknown("a parameter is joined with what differs from sequence to sequence");
    if (stacked) node = r.graph().unsqueeze(node, d);
    parts.push_back(node);
  }
  Value made;
  made.node = r.graph().join(parts, d);
  made.batch = from_end == 0 ? -1 : rank - from_end;
  if (stacked && made.batch >= d) ++made.batch;
  made.mask = r.result().scalar_type() == at::kBool;
  return made;
}

std::vector<Value> pad_rule(ArrayRules& r) {
  Value value = r.value(0);
  const auto pads = r.argument(1).toIntVector();
  const double fill = r.argument(2).isScalar() ? r.number(2) : 0;
  const auto rank = r.graph().shape(value.node).size();
  for (std::size_t k = 0; 2 * k < pads.size(); ++k) {
    const auto d = rank - 1 - k;
    const auto before = pads[2 * k], after = pads[2 * k + 1];
    if (before == 0 && after == 0) continue;
    r.check_sequences(value, static_cast<int>(d));
    auto shape = r.graph().shape(value.node);
    if (before < 0 || after < 0)
      value.node = r.graph().narrow(
          value.node, static_cast<int>(d), std::max<std::int64_t>(0, -before),
          shape[d] + std::min<std::int64_t>(0, before) + std::min<std::int64_t>(0, after));
    std::vector<int> parts{value.node};
    const auto filled = [&](std::int64_t count) {
      auto own = shape;
      own[d] = count;
      return r.graph().expand(r.graph().number(fill), own);
    };
    if (before > 0) parts.insert(parts.begin(), filled(before));
    if (after > 0) parts.push_back(filled(after));
    value.node = r.graph().join(parts, static_cast<int>(d));
  }
  return {value};
}

std::vector<Value> roll_rule(ArrayRules& r) {
  Value value = r.value(0);
  const auto rank = r.graph().shape(value.node).size();
  const auto shifts = r.argument(1).toIntVector();
  if (r.argument(2).toIntVector().empty()) unknown("a roll over all dimensions");
  const auto dims = r.dimensions(r.argument(2), rank);
  for (std::size_t k = 0; k < dims.size(); ++k) {
    r.check_sequences(value, dims[k]);
    const auto size = r.graph().shape(value.node)[as_place(dims[k])];
    const auto shift = ((shifts[k] % size) + size) % size;
    if (shift == 0) continue;
    value.node = r.graph().join({r.graph().narrow(value.node, dims[k], size - shift, shift),
                                 r.graph().narrow(value.node, dims[k], 0, size - shift)},
                                dims[k]);
  }
  return {value};
}

std::vector<Value> flip_rule(ArrayRules& r) {
  Value value = r.value(0);
  for (const int d : r.dimensions(r.argument(1), r.graph().shape(value.node).size())) {
    r.check_sequences(value, d);
    const auto size = r.graph().shape(value.node)[as_place(d)];
    value.node = r.graph().narrow(value.node, d, size - 1, size, -1);
  }
  return {value};
}

Value chosen(ArrayRules& r, const Value& value, int d, const Tensor& indices) {
  if (r.find(indices) != nullptr) unknown("positions that are computed choose numbers");
  r.check_sequences(value, d);
  const Tensor own = indices.to(at::kCPU, at::kLong).contiguous();
  if (own.dim() > 1 || own.numel() > 256 || own.numel() == 0) unknown("a choice by many positions");
  std::vector<int> parts;
  const auto size = r.graph().shape(value.node)[as_place(d)];
  for (std::int64_t k = 0; k < own.numel(); ++k) {
    auto index = own.data_ptr<std::int64_t>()[k];
    if (index < 0) index += size;
    parts.push_back(r.graph().narrow(value.node, d, index, 1));
  }
  Value made = value;
  made.node = r.graph().join(parts, d);
  return made;
}
std::vector<Value> index_select_rule(ArrayRules& r) {
  const Value value = r.value(0);
  return {chosen(r, value, r.dimension(r.integer(1), r.graph().shape(value.node).size()),
                 r.argument(2).toTensor())};
}

std::vector<Value> triangle_rule(ArrayRules& r, bool lower) {
  Value value = r.value(0);
  const auto rank = r.graph().shape(value.node).size();
  r.check_sequences(value, static_cast<int>(rank) - 1);
  r.check_sequences(value, static_cast<int>(rank) - 2);
  const auto shape = r.graph().shape(value.node);
  const auto rows = shape[rank - 2], columns = shape[rank - 1];
  const auto diagonal = r.argument(1).isInt() ? r.integer(1) : 0;
  std::vector<double> mask;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      mask.push_back(lower ? j - i <= diagonal : j - i >= diagonal);
  const int kept = r.graph().constant({rows, columns}, mask);
  value.node = r.graph().map(F::choose, {kept, value.node, r.graph().number(0)});
  return {value};
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
    if (product.batch >= 0 && mine != from_end) unknown("sequences are added across");
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
  if (known != nullptr && known->batch >= 0) unknown("a linear map that differs by sequence");
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

// ---- The table ----

const std::map<std::string, Rule>& rules() {
  static const std::map<std::string, Rule> table = [] {
    std::map<std::string, Rule> all{
        {"add", [](ArrayRules& r) { return sum_rule(r, F::add, false); }},
        {"sub", [](ArrayRules& r) { return sum_rule(r, F::subtract, false); }},
        {"rsub", [](ArrayRules& r) { return sum_rule(r, F::subtract, true); }},
        {"div", division_rule},
        {"true_divide", maps(F::divide, {0, 1})},
        {"maximum", maps(F::maximum, {0, 1})},
        {"minimum", maps(F::minimum, {0, 1})},
        {"remainder", maps(F::remainder, {0, 1})},
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
        {"where", maps(F::choose, {0, 1, 2})},
        {"masked_fill", masked_fill_rule},
        {"mul",
         [](ArrayRules& r) {
           const bool masks = r.result().scalar_type() == at::kBool;
           return std::vector<Value>{r.map(masks ? F::both : F::multiply, {0, 1})};
         }},
        {"softplus",
         [](ArrayRules& r) {
           if (r.number(1) != 1 || r.number(2) != 20) unknown("a softplus of another form");
           return std::vector<Value>{r.map(F::softplus, {0})};
         }},
        {"detach", maps(F::stop, {0})},
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
             unknown("an approximated gelu");
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
        {"expand", expand_rule},
        {"permute", permute_rule},
        {"transpose", [](ArrayRules& r) { return exchanged(r, r.integer(1), r.integer(2)); }},
        {"t", matrix_transpose_rule},
        {"mT", matrix_transpose_rule},
        {"unsqueeze", unsqueeze_rule},
        {"squeeze", squeeze_rule},
        {"slice", slice_rule},
        {"narrow", narrow_rule},
        {"select", select_rule},
        {"unbind", unbind_rule},
        {"split", split_rule},
        {"split_with_sizes", split_rule},
        {"cat",
         [](ArrayRules& r) {
           return std::vector<Value>{
               joined_values(r, r.argument(0).toTensorVector(), r.integer(1), false)};
         }},
        {"stack",
         [](ArrayRules& r) {
           return std::vector<Value>{
               joined_values(r, r.argument(0).toTensorVector(), r.integer(1), true)};
         }},
        {"constant_pad_nd", pad_rule},
        {"roll", roll_rule},
        {"flip", flip_rule},
        {"index_select", index_select_rule},
        {"tril", [](ArrayRules& r) { return triangle_rule(r, true); }},
        {"triu", [](ArrayRules& r) { return triangle_rule(r, false); }},
        {"matmul", product_rule},
        {"mm", product_rule},
        {"bmm", product_rule},
        {"mv", product_rule},
        {"addmm", added_product_rule},
        {"baddbmm", added_product_rule},
        {"linear", linear_rule},
        {"to", conversion_rule},
        {"_to_copy", conversion_rule},
    };
    const std::pair<const char*, F> one[] = {{"neg", F::negate},
                                             {"exp", F::exp},
                                             {"log", F::log},
                                             {"log1p", F::log1p},
                                             {"expm1", F::expm1},
                                             {"tanh", F::tanh},
                                             {"sigmoid", F::sigmoid},
                                             {"relu", F::relu},
                                             {"sqrt", F::sqrt},
                                             {"abs", F::abs},
                                             {"sign", F::sign},
                                             {"sgn", F::sign},
                                             {"sin", F::sin},
                                             {"cos", F::cos},
                                             {"erf", F::erf},
                                             {"floor", F::floor},
                                             {"ceil", F::ceil},
                                             {"round", F::round},
                                             {"isnan", F::is_nan},
                                             {"logical_not", F::none_of},
                                             {"bitwise_not", F::none_of}};
    for (const auto& [name, function] : one) all[name] = maps(function, {0});
    const std::pair<const char*, F> two[] = {{"lt", F::less},          {"le", F::less_equal},
                                             {"gt", F::greater},       {"ge", F::greater_equal},
                                             {"eq", F::equal},         {"ne", F::not_equal},
                                             {"logical_and", F::both}, {"logical_or", F::either}};
    for (const auto& [name, function] : two) all[name] = maps(function, {0, 1});
    for (const char* name : {"view", "reshape", "_unsafe_view", "_reshape_alias", "flatten"})
      all[name] = reshape_rule;
    for (const char* name : {"clone", "contiguous", "alias", "lift_fresh", "lift"})
      all[name] = same_rule;
    return all;
  }();
  return table;
}

std::string short_name(const WatchedCall& call) {
  const std::string& name = call.name();
  return name.starts_with("aten::") ? name.substr(6) : name;
}

// Overloads that are something else than what the rule is for.
bool is_other(const WatchedCall& call) {
  const auto name = short_name(call);
  const auto& overload = call.overload();
  if (name == "max" || name == "min") return overload != "dim";
  if (name == "split") return overload != "Tensor" && overload != "sizes";
  if (name == "narrow") return overload == "Tensor";
  if (name == "where") return overload == "";
  if (name == "pow") return overload == "Scalar" && false;
  return false;
}

}  // namespace

bool ArrayRules::is_random(const WatchedCall& call) {
  static const std::set<std::string> names{
      "rand",         "randn",     "randint", "randperm",      "rand_like",
      "randn_like",   "bernoulli", "normal",  "multinomial",   "randint_like",
      "uniform",      "poisson",   "normal_", "uniform_",      "bernoulli_",
      "exponential_", "cauchy_",   "random_", "native_dropout"};
  return names.contains(short_name(call));
}

bool ArrayRules::is_reading(const WatchedCall& call) {
  static const std::set<std::string> names{
      "item",    "_local_scalar_dense", "is_nonzero", "equal", "allclose",
      "nonzero", "masked_select",       "unique"};
  return names.contains(short_name(call));
}

bool ArrayRules::is_constant(const WatchedCall& call) {
  static const std::set<std::string> names{"zeros_like", "ones_like", "full_like", "empty_like",
                                           "new_zeros",  "new_ones",  "new_full",  "new_empty"};
  return names.contains(short_name(call));
}

bool ArrayRules::knows(const WatchedCall& call) {
  return rules().contains(short_name(call)) && !is_other(call);
}

std::vector<Value> ArrayRules::apply() {
  const auto name = short_name(call_);
  if (!knows(call_)) unknown(fmt::format("the operator '{}' cannot be recorded", name));
  const auto whole = [](const Tensor& tensor) {
    return !tensor.is_floating_point() && tensor.scalar_type() != at::kBool;
  };
  std::vector<Value> values;
  try {
    values = rules().at(name)(*this);
  } catch (const c10::Error&) {
    unknown(fmt::format("'{}' cannot be recorded with these arguments", name));
  } catch (const std::invalid_argument&) {
    unknown(fmt::format("'{}' cannot be recorded with these shapes", name));
  }
  for (std::size_t k = 0; k < values.size(); ++k) {
    Value& value = values[k];
    if (value.unknown) {
      value.unknown->position = recorder_.position_ ? recorder_.position_() : "";
      continue;
    }
    if (whole(results_.at(k))) unknown("whole numbers are computed from what is recorded");
    value.mask = results_[k].scalar_type() == at::kBool;
    // The rules and LibTorch must agree.
    ArraySizes shape = results_[k].sizes().vec();
    const ArraySizes& own = graph_.shape(value.node);
    if (value.batch >= 0 && as_place(value.batch) < shape.size() && own.size() == shape.size())
      shape[as_place(value.batch)] =
          own[as_place(value.batch)] * batch() == shape[as_place(value.batch)]
              ? own[as_place(value.batch)]
              : -1;
    if (own != shape) unknown(fmt::format("'{}' cannot be recorded with these shapes", name));
  }
  return values;
}

double ArrayRules::number(std::size_t k) const {
  const c10::IValue& value = argument(k);
  if (value.isTensor()) unknown("a number that is a tensor");
  return value.toScalar().toDouble();
}

int ArrayRules::dimension(std::int64_t d, std::size_t rank) const {
  const auto found = d < 0 ? d + static_cast<std::int64_t>(rank) : d;
  check(found >= 0 && found < std::max<std::int64_t>(1, static_cast<std::int64_t>(rank)), "array",
        "a dimension that is not there");
  return static_cast<int>(found);
}

std::vector<int> ArrayRules::dimensions(const c10::IValue& list, std::size_t rank) const {
  std::vector<int> found;
  if (list.isInt()) return {dimension(list.toInt(), rank)};
  if (list.isIntList() && !list.toIntVector().empty()) {
    for (const auto d : list.toIntVector()) found.push_back(dimension(d, rank));
    return found;
  }
  for (int d = 0; d < static_cast<int>(rank); ++d) found.push_back(d);
  return found;
}

Value ArrayRules::value(std::size_t k) { return value_of(argument(k).toTensor()); }

Value ArrayRules::value_of(const Tensor& tensor) {
  if (const Value* found = find(tensor)) return *found;
  Value made;
  made.node = constant(tensor, 0);
  return made;
}

void ArrayRules::check_sequences(const Value& value, int dimension) const {
  if (value.batch == dimension) unknown("the sequences of a batch are not kept apart");
}

int ArrayRules::constant(const Tensor& tensor, int batch_from_end) {
  Tensor own = tensor.detach().to(at::kCPU, at::kDouble);
  const auto d = own.dim() - batch_from_end;
  if (batch_from_end > 0 && d >= 0 && own.size(d) > 1) {
    // The rows of all sequences must be those of the first one.
    if (own.size(d) % batch() != 0) unknown("a constant that differs from sequence to sequence");
    const auto each = own.size(d) / batch();
    const Tensor first = own.narrow(d, 0, each);
    for (std::int64_t b = 1; b < batch(); ++b)
      if (!first.equal(own.narrow(d, b * each, each)))
        unknown("a constant that differs from sequence to sequence");
    own = first;
  }
  own = own.contiguous();
  const double* from = own.data_ptr<double>();
  return graph_.constant(own.sizes().vec(), std::vector<double>(from, from + own.numel()));
}

ArrayRules::Aligned ArrayRules::aligned(const std::vector<c10::IValue>& items) {
  Aligned made;
  for (const c10::IValue& item : items) {
    if (!item.isTensor()) continue;
    const Value* found = find(item.toTensor());
    if (found == nullptr || found->batch < 0) continue;
    const int own = static_cast<int>(item.toTensor().dim()) - found->batch;
    if (made.batch_from_end != 0 && made.batch_from_end != own)
      unknown("the sequences of a batch are combined with each other");
    made.batch_from_end = own;
  }
  for (const c10::IValue& item : items) {
    if (!item.isTensor()) {
      made.nodes.push_back(graph_.number(item.toScalar().toDouble()));
      continue;
    }
    const Value* found = find(item.toTensor());
    if (found == nullptr) {
      made.nodes.push_back(constant(item.toTensor(), made.batch_from_end));
      continue;
    }
    const auto& shape = graph_.shape(found->node);
    const auto d = static_cast<int>(shape.size()) - made.batch_from_end;
    if (found->batch < 0 && made.batch_from_end > 0 && d >= 0 && shape[as_place(d)] != 1)
      unknown("a parameter has a row for each sequence");
    made.nodes.push_back(found->node);
  }
  return made;
}

Value ArrayRules::of(const Aligned& from, int node) const {
  Value made;
  made.node = node;
  if (from.batch_from_end > 0)
    made.batch = static_cast<int>(graph_.shape(node).size()) - from.batch_from_end;
  else
    made.batch = -1;
  return made;
}

Value ArrayRules::map(ArrayFunction function, std::vector<std::size_t> arguments) {
  std::vector<c10::IValue> items;
  for (const auto k : arguments) items.push_back(argument(k));
  const auto from = aligned(items);
  return of(from, graph_.map(function, from.nodes));
}

Value ArrayRules::reshaped(const Value& value, const Tensor& result) {
  Value made = value;
  ArraySizes shape = result.sizes().vec();
  if (value.batch >= 0) {
    const ArraySizes& old = graph_.shape(value.node);
    for (int d = 0; d < value.batch; ++d)
      if (old[as_place(d)] != 1) unknown("a reshape takes sequences apart");
    made.batch = 0;
    while (as_place(made.batch) < shape.size() && shape[as_place(made.batch)] == 1) ++made.batch;
    if (as_place(made.batch) >= shape.size() || shape[as_place(made.batch)] % batch() != 0)
      unknown("a reshape takes sequences apart");
    shape[as_place(made.batch)] /= batch();
  }
  made.node = graph_.reshape(value.node, shape);
  return made;
}

Value ArrayRules::matrix_product(const Tensor& a, const Tensor& b) {
  const auto a_rank = static_cast<int>(a.dim()), b_rank = static_cast<int>(b.dim());
  if (a_rank == 0 || b_rank == 0) unknown("a product of numbers");
  const Value *left = find(a), *right = find(b);
  // Where the batch is in the product, counted from the end with both matrix dimensions there.
  int from_end = 0;
  const auto place = [&](const Value* value, int rank, bool first) {
    if (value == nullptr || value->batch < 0) return;
    const int own = rank - value->batch;
    const bool vector = rank == 1;
    // Rows of the left factor, columns of the right one.
    const int inner = first || vector ? 1 : 2, outer = first ? 2 : 1;
    if (own == inner) unknown("a product sums over the sequences");
    const int found = own == outer ? outer : own;
    if (from_end != 0 && from_end != found) unknown("sequences are multiplied with each other");
    from_end = found;
  };
  place(left, a_rank, true);
  place(right, b_rank, false);
  if (left != nullptr && right != nullptr && left->batch >= 0 && right->batch >= 0 && from_end <= 2)
    unknown("sequences are multiplied with each other");
  const auto node = [&](const Value* value, const Tensor& tensor) {
    if (value != nullptr) return value->node;
    return constant(tensor, from_end > 2 ? from_end : 0);
  };
  int x = node(left, a), y = node(right, b);
  if (a_rank == 1) x = graph_.unsqueeze(x, 0);
  if (b_rank == 1) y = graph_.unsqueeze(y, 1);
  const auto rank_of = [&](int n) { return static_cast<int>(graph_.shape(n).size()); };
  const auto check_leading = [&](const Value* value, int n) {
    const auto d = rank_of(n) - from_end;
    if (value != nullptr && value->batch < 0 && from_end > 2 && d >= 0 &&
        graph_.shape(n)[as_place(d)] != 1)
      unknown("a parameter has a matrix for each sequence");
  };
  check_leading(left, x);
  check_leading(right, y);
  // M x 1 x K and N x K
  x = graph_.unsqueeze(x, rank_of(x) - 1);
  std::vector<int> order;
  for (int d = 0; d < rank_of(y); ++d) order.push_back(d);
  std::swap(order[as_place(rank_of(y) - 1)], order[as_place(rank_of(y) - 2)]);
  y = graph_.unsqueeze(graph_.permute(y, order), rank_of(y) - 2);
  Value made;
  made.node = graph_.contraction(x, y);
  const int rank = rank_of(made.node);
  made.batch = from_end == 0 ? -1 : rank - from_end;
  if (b_rank == 1) {
    made.node = graph_.squeeze(made.node, rank - 1);
  }
  if (a_rank == 1) {
    const int d = rank - 2;
    made.node = graph_.squeeze(made.node, d);
    if (made.batch > d) --made.batch;
  }
  return made;
}

Value ArrayRules::reduced(ArrayKind kind, const Value& value, std::vector<int> dims, bool kept) {
  std::sort(dims.rbegin(), dims.rend());
  Value made = value;
  for (const int d : dims) {
    check_sequences(value, d);
    made.node = graph_.line(kind, graph_.move_last(made.node, d));
    if (kept)
      made.node = graph_.unsqueeze(made.node, d);
    else if (made.batch > d)
      --made.batch;
  }
  return made;
}

Value ArrayRules::along(ArrayKind kind, const Value& value, int dimension) {
  check_sequences(value, dimension);
  Value made = value;
  made.node = graph_.line(kind, graph_.move_last(value.node, dimension));
  const auto rank = static_cast<int>(graph_.shape(value.node).size());
  std::vector<int> order;
  for (int d = 0; d < rank; ++d)
    order.push_back(d < dimension ? d : d == dimension ? rank - 1 : d - 1);
  made.node = graph_.permute(made.node, order);
  return made;
}

}  // namespace pushdown
