#include "array/array_graph.h"

#include <algorithm>

#include "base/check.h"

namespace pushdown {
namespace {

std::size_t place_of(int n) { return static_cast<std::size_t>(n); }

}  // namespace

std::int64_t array_count(const ArraySizes& shape) {
  std::int64_t count = 1;
  for (const auto size : shape) count *= size;
  return count;
}

ArrayLayout contiguous_layout(const ArraySizes& shape) {
  ArrayLayout layout{shape, 0, ArraySizes(shape.size())};
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    layout.strides[d] = stride;
    stride *= shape[d];
  }
  return layout;
}

ArraySizes broadcast_shape(const ArraySizes& a, const ArraySizes& b) {
  ArraySizes shape(std::max(a.size(), b.size()), 1);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto own = [&](const ArraySizes& of) {
      return d < of.size() ? of[of.size() - 1 - d] : 1;
    };
    const auto x = own(a), y = own(b);
    check(x == y || x == 1 || y == 1, "array", "the shapes do not match");
    shape[shape.size() - 1 - d] = x == 1 ? y : x;
  }
  return shape;
}

int ArrayGraph::add(ArrayNode node) {
  nodes_.push_back(std::move(node));
  return size() - 1;
}

int ArrayGraph::input(int which, std::int64_t offset, ArraySizes shape, bool gradient) {
  ArrayNode node;
  node.shape = std::move(shape);
  node.input = which;
  node.offset = offset;
  node.gradient = gradient;
  return add(std::move(node));
}

int ArrayGraph::constant(ArraySizes shape, std::vector<double> values) {
  const bool equal = std::all_of(values.begin(), values.end(), [&](double value) {
    return value == values.front() || (value != value && values.front() != values.front());
  });
  if (!shape.empty() && equal && !values.empty()) return expand(number(values.front()), shape);
  ArrayNode node;
  node.kind = ArrayNode::Kind::constant;
  node.shape = std::move(shape);
  node.values = std::move(values);
  return add(std::move(node));
}

int ArrayGraph::number(double value) { return constant({}, {value}); }

ArrayLayout ArrayGraph::layout(int n) const {
  return node(n).kind == ArrayNode::Kind::view ? node(n).layout : contiguous_layout(shape(n));
}
int ArrayGraph::base(int n) const {
  return node(n).kind == ArrayNode::Kind::view ? node(n).operands[0] : n;
}

int ArrayGraph::view(int n, const ArrayLayout& layout) {
  const int of = base(n);
  const ArrayLayout whole = contiguous_layout(shape(of));
  if (layout.shape == whole.shape && layout.strides == whole.strides && layout.offset == 0)
    return of;
  ArrayNode view;
  view.kind = ArrayNode::Kind::view;
  view.shape = layout.shape;
  view.operands = {of};
  view.layout = layout;
  view.gradient = node(of).gradient;
  return add(std::move(view));
}

int ArrayGraph::expand(int n, const ArraySizes& shape) {
  if (this->shape(n) == shape) return n;
  const ArrayLayout old = layout(n);
  ArrayLayout made{shape, old.offset, ArraySizes(shape.size())};
  const auto more = shape.size() - old.shape.size();
  for (std::size_t d = more; d < shape.size(); ++d)
    made.strides[d] = old.shape[d - more] == shape[d] ? old.strides[d - more] : 0;
  return view(n, made);
}

int ArrayGraph::permute(int n, const std::vector<int>& order) {
  const ArrayLayout old = layout(n);
  ArrayLayout made{{}, old.offset, {}};
  for (const int d : order) {
    made.shape.push_back(old.shape[place_of(d)]);
    made.strides.push_back(old.strides[place_of(d)]);
  }
  return view(n, made);
}

int ArrayGraph::narrow(int n, int dimension, std::int64_t first, std::int64_t count,
                       std::int64_t step) {
  ArrayLayout made = layout(n);
  const auto d = place_of(dimension);
  made.offset += first * made.strides[d];
  made.strides[d] *= step;
  made.shape[d] = count;
  return view(n, made);
}

int ArrayGraph::select(int n, int dimension, std::int64_t index) {
  return squeeze(narrow(n, dimension, index, 1), dimension);
}

int ArrayGraph::unsqueeze(int n, int dimension) {
  ArrayLayout made = layout(n);
  made.shape.insert(made.shape.begin() + dimension, 1);
  made.strides.insert(made.strides.begin() + dimension, 0);
  return view(n, made);
}

int ArrayGraph::squeeze(int n, int dimension) {
  ArrayLayout made = layout(n);
  made.shape.erase(made.shape.begin() + dimension);
  made.strides.erase(made.strides.begin() + dimension);
  return view(n, made);
}

int ArrayGraph::move_last(int n, int dimension) {
  std::vector<int> order;
  for (int d = 0; d < static_cast<int>(shape(n).size()); ++d)
    if (d != dimension) order.push_back(d);
  order.push_back(dimension);
  return permute(n, order);
}

int ArrayGraph::reshape(int n, const ArraySizes& shape) {
  if (this->shape(n) == shape) return n;
  const ArrayLayout old = layout(n);
  // Groups of contiguous dimensions, and the dimensions of the new shape into which they are split.
  ArrayLayout made{shape, old.offset, ArraySizes(shape.size())};
  std::size_t next = 0;
  bool fits = true;
  ArraySizes sizes, strides;
  for (std::size_t d = 0; d < old.shape.size(); ++d) {
    if (old.shape[d] == 1) continue;
    if (!sizes.empty() && strides.back() == old.strides[d] * old.shape[d]) {
      sizes.back() *= old.shape[d];
      strides.back() = old.strides[d];
    } else {
      sizes.push_back(old.shape[d]);
      strides.push_back(old.strides[d]);
    }
  }
  for (std::size_t k = 0; k < sizes.size() && fits; ++k) {
    std::int64_t left = sizes[k];
    while (left > 1 && next < shape.size() && fits) {
      if (shape[next] == 1) {
        ++next;
        continue;
      }
      fits = left % shape[next] == 0;
      if (!fits) break;
      left /= shape[next];
      made.strides[next] = left * strides[k];
      ++next;
    }
    fits = fits && left == 1;
  }
  if (fits) return view(n, made);
  const int whole = copied(n);
  ArrayLayout plain = contiguous_layout(shape);
  return view(whole, plain);
}

int ArrayGraph::map(ArrayFunction function, std::vector<int> operands) {
  ArrayNode node;
  node.kind = ArrayNode::Kind::map;
  node.function = function;
  for (const int n : operands) node.shape = broadcast_shape(node.shape, shape(n));
  for (int& n : operands) n = expand(n, node.shape);
  for (std::size_t k = 0; k < operands.size(); ++k)
    node.gradient |= facts_of(function).has_slope[k] && this->node(operands[k]).gradient;
  node.operands = std::move(operands);
  return add(std::move(node));
}

int ArrayGraph::line(ArrayKind kind, int n) {
  ArrayNode node;
  node.kind = ArrayNode::Kind::line;
  node.line = kind;
  node.shape = shape(n);
  if (facts_of(kind).shortens) node.shape.pop_back();
  node.operands = {n};
  node.gradient = this->node(n).gradient;
  return add(std::move(node));
}

int ArrayGraph::contraction(int a, int b) {
  ArrayNode node;
  node.kind = ArrayNode::Kind::contraction;
  node.shape = broadcast_shape(shape(a), shape(b));
  node.operands = {expand(a, node.shape), expand(b, node.shape)};
  node.shape.pop_back();
  node.gradient = this->node(a).gradient || this->node(b).gradient;
  return add(std::move(node));
}

int ArrayGraph::join(std::vector<int> parts, int axis) {
  std::erase_if(parts, [&](int n) { return shape(n)[place_of(axis)] == 0; });
  if (parts.size() == 1) return parts[0];
  ArrayNode node;
  node.kind = ArrayNode::Kind::join;
  node.axis = axis;
  node.shape = shape(parts.at(0));
  node.shape[place_of(axis)] = 0;
  for (const int n : parts) {
    node.shape[place_of(axis)] += shape(n)[place_of(axis)];
    node.gradient = node.gradient || this->node(n).gradient;
  }
  node.operands = std::move(parts);
  return add(std::move(node));
}

}  // namespace pushdown
