// The rules of operators that only move numbers: parts, dimensions, joining, padding, choosing.
#include <numeric>

#include "array/array_rule_table.h"
#include "base/check.h"

namespace pushdown {
namespace {

using Value = ArrayRules::Value;
using F = ArrayFunction;

std::vector<Value> reshape_rule(ArrayRules& r) { return {r.reshaped(r.value(0), r.result())}; }

std::vector<Value> same_rule(ArrayRules& r) { return {r.value(0)}; }

std::vector<Value> conversion_rule(ArrayRules& r) {
  Value value = r.value(0);
  if (r.result().scalar_type() == at::kBool && !value.mask) {
    value.node = r.graph().map(F::not_equal, {value.node, r.graph().number(0)});
    value.mask = true;
  } else if (r.result().is_floating_point()) {
    value.mask = false;
  } else if (r.argument(0).toTensor().is_floating_point()) {
    const auto map = [&](F function, std::vector<int> of) {
      return r.graph().map(function, std::move(of));
    };
    value.node =
        map(F::multiply, {map(F::sign, {value.node}), map(F::floor, {map(F::abs, {value.node})})});
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
    // For a parameter that is repeated for each sequence.
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

// Returns the numbers first, first + step, ... of a dimension; for the batch dimension, only all of
// them.
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
  if (!r.argument(2).isInt()) no_array_rule("a slice at a position that is a tensor");
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
      if (from_end != 0 && from_end != own) no_array_rule("joins different sequences of the batch");
      from_end = own;
    }
  const auto rank = static_cast<int>(tensors.front().dim());
  const int d = r.dimension(dimension, as_place(rank) + (stacked ? 1 : 0));
  if (!stacked && from_end > 0 && d == rank - from_end)
    no_array_rule("joins tensors along the batch dimension");
  std::vector<int> parts;
  ArraySizes shape;
  for (const Tensor& tensor : tensors) {
    // An empty tensor of one dimension can be joined with any tensor.
    if (!stacked && tensor.numel() == 0 && tensor.dim() == 1 && rank > 1) continue;
    const Value* value = r.find(tensor);
    int node = value != nullptr ? value->node : r.constant(tensor, from_end);
    if (value != nullptr && value->batch < 0 && from_end > 0 &&
        r.graph().shape(node)[as_place(rank - from_end)] != 1)
      no_array_rule("joins a parameter with a tensor that differs between sequences");
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
  if (r.argument(2).toIntVector().empty()) no_array_rule("a roll over all dimensions");
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
  if (r.find(indices) != nullptr) no_array_rule("an index that is computed");
  r.check_sequences(value, d);
  const Tensor own = indices.to(at::kCPU, at::kLong).contiguous();
  if (own.dim() > 1 || own.numel() > 256 || own.numel() == 0)
    no_array_rule("an index with more than 256 positions or several dimensions");
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

// One number of each row, at a position that is recorded, too.
std::vector<Value> gather_rule(ArrayRules& r) {
  Value value = r.value(0);
  const Value* index = r.find(r.argument(2).toTensor());
  if (index == nullptr) no_array_rule("'gather' has positions that do not depend on the input");
  ArraySizes shape = r.graph().shape(value.node);
  const auto d = r.dimension(r.integer(1), shape.size());
  r.check_sequences(value, d);
  const auto size = std::exchange(shape[as_place(d)], 1);
  if (index->batch != value.batch || r.graph().shape(index->node) != shape)
    no_array_rule("'gather' does not take one number from each row");
  std::vector<double> places(static_cast<std::size_t>(size));
  std::iota(places.begin(), places.end(), 0);
  ArraySizes along(shape.size(), 1);
  along[as_place(d)] = size;
  ArrayGraph& graph = r.graph();
  const int here = graph.map(F::equal, {graph.constant(along, std::move(places)), index->node});
  value.node = graph.map(F::choose, {here, value.node, graph.number(0)});
  return {r.reduced(ArrayKind::sum, value, {d}, true)};
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

}  // namespace

ArrayRuleTable array_shape_rules() {
  ArrayRuleTable all{
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
      {"gather", gather_rule},
      {"index_select", index_select_rule},
      {"tril", [](ArrayRules& r) { return triangle_rule(r, true); }},
      {"triu", [](ArrayRules& r) { return triangle_rule(r, false); }},
      {"to", conversion_rule},
      {"_to_copy", conversion_rule},
  };
  for (const char* name : {"view", "reshape", "_unsafe_view", "_reshape_alias", "flatten"})
    all[name] = reshape_rule;
  for (const char* name : {"clone", "contiguous", "alias", "lift_fresh", "lift"})
    all[name] = same_rule;
  return all;
}

}  // namespace pushdown
