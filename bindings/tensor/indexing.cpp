// t[...]: indices count from 1 as in Lua, negative ones from the end.
#include <algorithm>

#include "base/check.h"
#include "bindings/tensor/classes.h"

namespace pushdown {
namespace {

// Returns positions first..last of dimension `dim` (from 0), which messages call `named`. Positions
// count from 1, both are included, and last = first - 1 gives none.
Tensor slice_of(const Tensor& tensor, std::int64_t dim, std::int64_t named, std::int64_t first,
                std::int64_t last) {
  const auto size = tensor.size(dim);
  const auto from_one = [size](std::int64_t i) { return i < 0 ? size + i + 1 : i; };
  const auto begin = from_one(first), end = from_one(last);
  check(begin >= 1 && end <= size && begin <= end + 1, "Tensor",
        "the range {}, {} does not lie in dimension {} of size {}", first, last, named, size);
  return tensor.narrow(dim, begin - 1, end - begin + 1);
}

// Applies the entry of t[{...}] on top of the stack to dimension `dim`, and returns the next
// dimension.
std::int64_t apply_entry(lua_State* L, int argument, std::int64_t place, Tensor& tensor,
                         std::int64_t dim) {
  if (lua_type(L, -1) == LUA_TNUMBER) {
    // Dimensions before this one may be gone, so its place in the key is its name.
    const auto i =
        to_index(Value<std::int64_t>::get(L, lua_gettop(L)), tensor.size(dim), place - 1);
    tensor = tensor.select(dim, i);
    return dim;
  }
  const auto range = lua_istable(L, -1) ? Value<std::vector<std::int64_t>>::get(L, lua_gettop(L))
                                        : std::vector<std::int64_t>(1);
  if (range.size() == 1 || range.size() > 2) {
    WrongType error(argument, "an integer, a range {first, last} or {} for all",
                    type_text(L, lua_gettop(L)));
    error.path = fmt::format("[{}]", place);
    throw error;
  }
  if (range.size() == 2) tensor = slice_of(tensor, dim, place, range[0], range[1]);
  return dim + 1;
}

Tensor view_at(const Tensor& tensor, const Any& key) {
  lua_State* L = key.state;
  if (lua_type(L, key.index) == LUA_TNUMBER) {
    check(tensor.dim() > 0, "Tensor", "a tensor without dimensions cannot be indexed; use item()");
    const auto i = Value<std::int64_t>::get(L, key.index);
    return tensor.select(0, to_index(i, tensor.size(0), 0));
  }
  if (!lua_istable(L, key.index))
    throw WrongType(L, key.index, "an integer, a list such as {2, {1, 3}}, or a Tensor");
  const auto count = static_cast<std::int64_t>(lua_objlen(L, key.index));
  check(count <= tensor.dim(), "Tensor", "{} indices were given for {} dimensions", count,
        tensor.dim());
  Tensor view = tensor;
  std::int64_t dim = 0;
  for (std::int64_t k = 1; k <= count; ++k) {
    lua_rawgeti(L, key.index, static_cast<int>(k));
    dim = apply_entry(L, key.index, k, view, dim);
    lua_pop(L, 1);
  }
  return view;
}

// A tensor as key: a mask of the same leading shape, or positions in dimension 1.
std::optional<Tensor> tensor_key(const Tensor& tensor, const Any& key) {
  if (lua_type(key.state, key.index) != LUA_TUSERDATA) return std::nullopt;
  const Tensor indices = Value<Tensor>::get(key.state, key.index);
  check(tensor.dim() > 0, "Tensor", "a tensor without dimensions cannot be indexed; use item()");
  if (indices.scalar_type() == at::kBool) {
    // LibTorch gives masks without dimensions another meaning, and fails internally on some of
    // them.
    check(indices.dim() > 0 && indices.dim() <= tensor.dim() &&
              tensor.sizes().slice(0, indices.dim()) == indices.sizes(),
          "Tensor",
          "a mask must have the tensor's shape or its first dimensions: expected {}, got {}",
          shape_text(tensor), shape_text(indices));
    return indices;
  }
  return to_indices(indices, tensor.size(0), 0);
}

Tensor get(const Tensor& tensor, Any key) {
  if (const auto indices = tensor_key(tensor, key)) return at::index(tensor, {*indices});
  return view_at(tensor, key);
}

void set(Tensor& tensor, Any key, Any value) {
  lua_State* L = key.state;
  if (lua_type(L, key.index) == LUA_TSTRING)
    fail("Tensor", "a tensor has no field '{}' that could be set", lua_tostring(L, key.index));
  const Tensor values =
      tensor_from_lua(L, value.index,
                      tensor.scalar_type() == at::kBool ? at::kLong : tensor.scalar_type())
          .to(tensor.options());
  if (const auto indices = tensor_key(tensor, key)) {
    tensor.index_put_({*indices}, values);
    return;
  }
  Tensor view = view_at(tensor, key);
  check(values.dim() == 0 || values.sizes() == view.sizes(), "Tensor",
        "the selected elements have shape {}, the new values {}", shape_text(view),
        shape_text(values));
  view.copy_(values);
}

Tensor slice(const Tensor& t, std::int64_t dim, std::int64_t first, std::int64_t last) {
  const auto from_zero = to_dimension(dim, t.dim());
  return slice_of(t, from_zero, from_zero + 1, first, last);
}

Tensor index_select(const Tensor& t, std::int64_t dim, Any indices) {
  const auto d = to_dimension(dim, t.dim());
  const Tensor given = tensor_from_lua(indices.state, indices.index, at::kLong);
  return t.index_select(d, to_indices(given, t.size(d), d).to(t.device()));
}

Tensor gather(const Tensor& t, std::int64_t dim, Any indices) {
  const auto d = to_dimension(dim, t.dim());
  const Tensor given = tensor_from_lua(indices.state, indices.index, at::kLong);
  return t.gather(d, to_indices(given, t.size(d), d).to(t.device()));
}

}  // namespace

std::int64_t to_dimension(std::int64_t dim, std::int64_t count) {
  const auto resolved = dim < 0 ? count + dim : dim - 1;
  check(dim != 0 && resolved >= 0 && resolved < count, "Tensor",
        "there is no dimension {}; the tensor has {} (counted from 1, or from the end with -1)",
        dim, count);
  return resolved;
}

std::int64_t to_index(std::int64_t i, std::int64_t size, std::int64_t dim) {
  const auto resolved = i < 0 ? size + i : i - 1;
  check(i != 0 && resolved >= 0 && resolved < size, "Tensor",
        "index {} is out of range for dimension {} of size {} (counted from 1)", i, dim + 1, size);
  return resolved;
}

Tensor to_indices(const Tensor& indices, std::int64_t size, std::int64_t dim) {
  check(indices.scalar_type() == at::kLong, "Tensor", "indices must be int64, got {}",
        dtype_name(indices.scalar_type()));
  const Tensor own = indices.cpu().contiguous();
  const auto* first = own.data_ptr<std::int64_t>();
  std::for_each(first, first + own.numel(), [&](std::int64_t i) { to_index(i, size, dim); });
  return at::where(indices.lt(0), indices.add(size), indices.sub(1));
}

void bind_tensor_indexing(Class<Tensor>& cls) {
  cls.def<&get>("__index",
                "(t[key]) -> Tensor  Returns an element, a slice or a selection: t[i], t[{i, "
                "{first, last}, {}}], t[mask] or t[indices]. Indices start at 1; negative ones "
                "count from the end.")
      .def<&set>("__newindex",
                 "(t[key] = value)  Overwrites the elements that t[key] selects with a number, a "
                 "tensor or nested lists.")
      .def<&slice>(
          "slice(dim, first, last) -> Tensor  Returns the positions first to last of a dimension, "
          "both included. The result shares its memory with t.")
      .def<&index_select>(
          "index_select(dim, indices) -> Tensor  Returns a copy of the listed positions of a "
          "dimension.")
      .def<&gather>(
          "gather(dim, indices) -> Tensor  Returns, for each index, the element at that position "
          "of the dimension.");
}

}  // namespace pushdown
