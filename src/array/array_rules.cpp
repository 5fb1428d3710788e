#include "array/array_rules.h"

#include <set>

#include "array/array_rule_table.h"
#include "base/check.h"

namespace pushdown {
namespace {

using Value = ArrayRules::Value;
using F = ArrayFunction;

const ArrayRuleTable& rules() {
  static const ArrayRuleTable table = [] {
    ArrayRuleTable all = array_function_rules();
    all.merge(array_shape_rules());
    return all;
  }();
  return table;
}

std::string short_name(const WatchedCall& call) {
  const std::string& name = call.name();
  return name.starts_with("aten::") ? name.substr(6) : name;
}

// Returns whether the results for integers are those for the same real numbers.
bool keeps_integers(const std::string& name) {
  static const std::set<std::string> names{"add", "sub",   "rsub",  "mul",       "neg",
                                           "sum", "where", "clamp", "clamp_min", "clamp_max"};
  static const ArrayRuleTable shapes = array_shape_rules();
  return names.contains(name) || shapes.contains(name);
}

// Returns whether the call is an overload that the rule does not cover.
bool is_other(const WatchedCall& call) {
  const auto name = short_name(call);
  const auto& overload = call.overload();
  if (name == "max" || name == "min") return overload != "dim";
  if (name == "split") return overload != "Tensor" && overload != "sizes";
  if (name == "narrow") return overload == "Tensor";
  if (name == "where") return overload.empty();
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
  if (!knows(call_)) no_array_rule(fmt::format("the operator '{}' cannot be recorded", name));
  const auto whole = [](const Tensor& tensor) {
    return !tensor.is_floating_point() && tensor.scalar_type() != at::kBool;
  };
  std::vector<Value> values;
  try {
    values = rules().at(name)(*this);
  } catch (const c10::Error&) {
    no_array_rule(fmt::format("'{}' cannot be recorded with these arguments", name));
  } catch (const std::invalid_argument&) {
    no_array_rule(fmt::format("'{}' cannot be recorded with these shapes", name));
  }
  for (std::size_t k = 0; k < values.size(); ++k) {
    Value& value = values[k];
    if (value.unknown) {
      value.unknown->position = recorder_.position_ ? recorder_.position_() : "";
      continue;
    }
    if (whole(results_.at(k)) && !keeps_integers(name))
      no_array_rule("integers are computed from a recorded tensor");
    value.mask = results_[k].scalar_type() == at::kBool;
    // The rules and LibTorch must agree on the shape.
    ArraySizes shape = results_[k].sizes().vec();
    const ArraySizes& own = graph_.shape(value.node);
    if (value.batch >= 0 && as_place(value.batch) < shape.size() && own.size() == shape.size())
      shape[as_place(value.batch)] =
          own[as_place(value.batch)] * batch() == shape[as_place(value.batch)]
              ? own[as_place(value.batch)]
              : -1;
    if (own != shape) no_array_rule(fmt::format("'{}' cannot be recorded with these shapes", name));
  }
  return values;
}

double ArrayRules::number(std::size_t k) const {
  const c10::IValue& value = argument(k);
  if (value.isTensor()) no_array_rule("a tensor is used as a number");
  return value.toScalar().toDouble();
}

int ArrayRules::dimension(std::int64_t d, std::size_t rank) const {
  const auto found = d < 0 ? d + static_cast<std::int64_t>(rank) : d;
  check(found >= 0 && found < std::max<std::int64_t>(1, static_cast<std::int64_t>(rank)), "array",
        "the dimension does not exist");
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
  if (value.batch == dimension) no_array_rule("an operation combines the sequences of a batch");
}

int ArrayRules::constant(const Tensor& tensor, int batch_from_end) {
  Tensor own = tensor.detach().to(at::kCPU, at::kDouble);
  const auto d = own.dim() - batch_from_end;
  if (batch_from_end > 0 && d >= 0 && own.size(d) > 1) {
    // All sequences must have the same rows as the first one.
    if (own.size(d) % batch() != 0) no_array_rule("a constant that differs between sequences");
    const auto each = own.size(d) / batch();
    const Tensor first = own.narrow(d, 0, each);
    for (std::int64_t b = 1; b < batch(); ++b)
      if (!first.equal(own.narrow(d, b * each, each)))
        no_array_rule("a constant that differs between sequences");
    own = first;
  }
  own = own.contiguous();
  const double* from = own.data_ptr<double>();
  return graph_.constant(own.sizes().vec(), std::vector<double>(from, from + own.numel()));
}

bool ArrayRules::has_equal_rows(const Tensor& constant) const {
  if (constant.dim() < 2 || constant.size(0) != batch()) return false;
  return constant.equal(constant.narrow(0, 0, 1).expand_as(constant));
}

ArrayRules::Aligned ArrayRules::aligned(const std::vector<c10::IValue>& items) {
  Aligned made;
  for (const c10::IValue& item : items) {
    if (!item.isTensor()) continue;
    const Value* found = find(item.toTensor());
    if (found == nullptr || found->batch < 0) continue;
    const int own = static_cast<int>(item.toTensor().dim()) - found->batch;
    if (made.batch_from_end != 0 && made.batch_from_end != own)
      no_array_rule("the sequences of a batch are combined with each other");
    made.batch_from_end = own;
  }
  // A constant with a row for each sequence, together with parameters alone.
  for (const c10::IValue& item : items)
    if (made.batch_from_end == 0 && item.isTensor() && find(item.toTensor()) == nullptr &&
        has_equal_rows(item.toTensor()))
      made.batch_from_end = static_cast<int>(item.toTensor().dim());
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
      no_array_rule("a parameter has a row for each sequence");
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
      if (old[as_place(d)] != 1) no_array_rule("a reshape splits the batch dimension");
    made.batch = 0;
    while (as_place(made.batch) < shape.size() && shape[as_place(made.batch)] == 1) ++made.batch;
    if (as_place(made.batch) >= shape.size() || shape[as_place(made.batch)] % batch() != 0)
      no_array_rule("a reshape splits the batch dimension");
    shape[as_place(made.batch)] /= batch();
  }
  made.node = graph_.reshape(value.node, shape);
  return made;
}

Value ArrayRules::matrix_product(const Tensor& a, const Tensor& b) {
  const auto a_rank = static_cast<int>(a.dim()), b_rank = static_cast<int>(b.dim());
  if (a_rank == 0 || b_rank == 0) no_array_rule("a matrix product of scalars");
  const Value *left = find(a), *right = find(b);
  // Position of the batch dimension in the product, counted from the end with both matrix
  // dimensions there.
  int from_end = 0;
  // A constant with a row for each sequence, times a parameter.
  const auto has_rows = [&](const Value* value, const Tensor& tensor, const Value* other) {
    return value == nullptr && other->batch < 0 && has_equal_rows(tensor);
  };
  const bool left_rows = has_rows(left, a, right), right_rows = has_rows(right, b, left);
  const auto place = [&](const Value* value, int rank, bool rows, bool first) {
    if (!rows && (value == nullptr || value->batch < 0)) return;
    const int own = rank - (rows ? 0 : value->batch);
    const bool vector = rank == 1;
    // Rows of the left factor, columns of the right one.
    const int inner = first || vector ? 1 : 2, outer = first ? 2 : 1;
    if (own == inner) no_array_rule("a product sums over the sequences");
    const int found = own == outer ? outer : own;
    if (from_end != 0 && from_end != found)
      no_array_rule("sequences are multiplied with each other");
    from_end = found;
  };
  place(left, a_rank, left_rows, true);
  place(right, b_rank, right_rows, false);
  if (left != nullptr && right != nullptr && left->batch >= 0 && right->batch >= 0 && from_end <= 2)
    no_array_rule("sequences are multiplied with each other");
  const auto node = [&](const Value* value, const Tensor& tensor, bool rows) {
    if (value != nullptr) return value->node;
    return constant(tensor, rows ? static_cast<int>(tensor.dim()) : from_end > 2 ? from_end : 0);
  };
  int x = node(left, a, left_rows), y = node(right, b, right_rows);
  if (a_rank == 1) x = graph_.unsqueeze(x, 0);
  if (b_rank == 1) y = graph_.unsqueeze(y, 1);
  const auto rank_of = [&](int n) { return static_cast<int>(graph_.shape(n).size()); };
  const auto check_leading = [&](const Value* value, int n) {
    const auto d = rank_of(n) - from_end;
    if (value != nullptr && value->batch < 0 && from_end > 2 && d >= 0 &&
        graph_.shape(n)[as_place(d)] != 1)
      no_array_rule("a parameter has a matrix for each sequence");
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
