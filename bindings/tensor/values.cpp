// Converts tensors from and to nested lists, and to text.
#include <cmath>

#include "base/check.h"
#include "base/stopping.h"
#include "bindings/tensor/classes.h"

namespace pushdown {
namespace {

constexpr std::size_t kMostDimensions = 16;

// Collects the numbers of nested lists; the first branch fixes the shape.
class NestedReader {
 public:
  NestedReader(lua_State* L, int argument, bool integral)
      : L_(L), argument_(argument), integral_(integral) {}

  // Reads the value on top of the stack, at nesting depth `depth`.
  void read(std::size_t depth) {
    if (lua_istable(L_, -1)) return read_list(depth);
    if (lua_type(L_, -1) != LUA_TNUMBER)
      wrong(depth < shape.size() || !fixed_ ? "a number or a list" : "a number",
            type_text(L_, lua_gettop(L_)));
    if (fixed_ && depth != shape.size())
      wrong(fmt::format("a list of {} elements", shape[depth]), type_text(L_, lua_gettop(L_)));
    fixed_ = true;
    const double value = lua_tonumber(L_, -1);
    if (integral_ && !(std::floor(value) == value && std::fabs(value) <= 9007199254740992.0))
      wrong("an integer, for dtype int64", type_text(L_, lua_gettop(L_)));
    values.push_back(value);
  }

  std::vector<std::int64_t> shape;
  std::vector<double> values;

 private:
  void read_list(std::size_t depth) {
    const std::size_t size = lua_objlen(L_, -1);
    if (depth == 0) check_keys(size);
    if (fixed_ && depth >= shape.size()) wrong("a number", "a list");
    if (depth == kMostDimensions) wrong("at most 16 nested lists", "more (or a cycle)");
    if (depth == shape.size()) {
      shape.push_back(static_cast<std::int64_t>(size));
      fixed_ = size == 0;
    } else if (static_cast<std::int64_t>(size) != shape[depth]) {
      wrong(fmt::format("{} elements as in the lists before", shape[depth]), std::to_string(size));
    }
    luaL_checkstack(L_, 3, "nested too deeply");
    for (std::size_t k = 1; k <= size; ++k) {
      lua_rawgeti(L_, -1, static_cast<int>(k));
      path_.push_back(k);
      stop_();
      read(depth + 1);
      path_.pop_back();
      lua_pop(L_, 1);
    }
  }

  // Finds keys such as dtype in pd.tensor{1, 2, dtype = 'float64'}, and holes.
  void check_keys(std::size_t size) {
    std::size_t keys = 0;
    for (lua_pushnil(L_); lua_next(L_, -2) != 0; lua_pop(L_, 1), ++keys)
      if (lua_type(L_, -2) != LUA_TNUMBER)
        wrong("a list (options go into a second table)",
              "the key " + type_text(L_, lua_gettop(L_) - 1));
    if (keys != size) wrong("a list without holes", "one with holes");
  }

  [[noreturn]] void wrong(std::string expected, std::string got) const {
    WrongType error(argument_, std::move(expected), std::move(got));
    for (const auto k : path_) error.path += fmt::format("[{}]", k);
    throw error;
  }

  lua_State* L_;
  int argument_;
  bool integral_;
  bool fixed_ = false;
  StopCheck stop_;
  std::vector<std::size_t> path_;
};

std::string number_text(const Tensor& scalar) {
  if (scalar.scalar_type() == at::kBool) return scalar.item<bool>() ? "true" : "false";
  if (at::isIntegralType(scalar.scalar_type(), false))
    return std::to_string(scalar.item<std::int64_t>());
  if (!scalar.is_floating_point()) return "?";
  return fmt::format("{:.5g}", scalar.item<double>());
}

// Returns {{1, 2, ...}, ...} with at most `most` elements per list and about `budget` characters.
void append_nested(std::string& text, const Tensor& tensor, std::int64_t most, std::size_t budget) {
  if (tensor.dim() == 0) {
    text += number_text(tensor);
    return;
  }
  text += '{';
  for (std::int64_t i = 0; i < tensor.size(0); ++i) {
    if (i > 0) text += ", ";
    if (i == most || text.size() > budget) {
      text += "...";
      break;
    }
    append_nested(text, tensor.select(0, i), most, budget);
  }
  text += '}';
}

std::string headline(const Tensor& tensor) {
  std::string text = "Tensor ";
  if (tensor.dim() > 0) text += shape_text(tensor) + " ";
  text += dtype_name(tensor.scalar_type());
  if (!tensor.device().is_cpu()) text += " " + tensor.device().str();
  if (tensor.requires_grad()) text += " requires_grad";
  return text;
}

Tensor shown_values(const Tensor& tensor) { return tensor.detach().to(at::kCPU); }

constexpr std::int64_t kRows = 10, kColumns = 10, kMatrices = 4;

// Right-aligned columns.
void append_matrix(std::string& text, const Tensor& matrix) {
  const auto rows = std::min(matrix.size(0), kRows), columns = std::min(matrix.size(1), kColumns);
  std::vector<std::string> cells;
  std::size_t width = 1;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      cells.push_back(number_text(matrix[i][j]));
      width = std::max(width, cells.back().size());
    }
  for (std::int64_t i = 0; i < rows; ++i) {
    text += "\n ";
    for (std::int64_t j = 0; j < columns; ++j)
      text += fmt::format(" {:>{}}", cells[i * columns + j], width);
    if (columns < matrix.size(1)) text += "  ...";
  }
  if (rows < matrix.size(0)) text += "\n  ...";
}

}  // namespace

Tensor tensor_from_lua(lua_State* L, int index, at::ScalarType dtype) {
  if (lua_type(L, index) == LUA_TUSERDATA) return Value<Tensor>::get(L, index).to(dtype);
  NestedReader reader(L, index, dtype == at::kLong);
  lua_pushvalue(L, index);
  reader.read(0);
  lua_pop(L, 1);
  Tensor values = at::empty(reader.shape, at::kDouble);
  std::copy(reader.values.begin(), reader.values.end(), values.data_ptr<double>());
  return values.to(dtype);
}

void push_nested(lua_State* L, const Tensor& tensor) {
  if (tensor.dim() == 0) {
    if (tensor.scalar_type() == at::kBool)
      lua_pushboolean(L, tensor.item<bool>());
    else
      lua_pushnumber(L, tensor.item<double>());
    return;
  }
  luaL_checkstack(L, 4, "nested too deeply");
  const auto size = tensor.size(0);
  lua_createtable(L, static_cast<int>(size), 0);
  if (tensor.dim() == 1 &&
      tensor.scalar_type() != at::kBool) {  // without a tensor for each element
    const Tensor row = tensor.to(at::kDouble).contiguous();
    const auto* data = row.data_ptr<double>();
    for (std::int64_t i = 0; i < size; ++i) {
      lua_pushnumber(L, data[i]);
      lua_rawseti(L, -2, static_cast<int>(i) + 1);
    }
    return;
  }
  for (std::int64_t i = 0; i < size; ++i) {
    push_nested(L, tensor.select(0, i));
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
}

std::string tensor_line(const Tensor& tensor) {
  std::string text = headline(tensor) + " ";
  append_nested(text, shown_values(tensor), 6, text.size() + 90);
  return text;
}

std::string tensor_text(const Tensor& tensor) {
  if (tensor.dim() <= 1 || tensor.numel() == 0) return tensor_line(tensor);
  std::string text = headline(tensor);
  const Tensor values = shown_values(tensor);
  if (values.dim() == 2) return append_matrix(text, values), text;
  const Tensor matrices = values.reshape({-1, values.size(-2), values.size(-1)});
  for (std::int64_t i = 0; i < std::min(matrices.size(0), kMatrices); ++i) {
    std::string place;
    std::int64_t rest = i;
    for (std::int64_t dim = values.dim() - 3; dim >= 0; rest /= values.size(dim--))
      place = fmt::format("{}, ", rest % values.size(dim) + 1) + place;
    text += fmt::format("\n [{{{}{{}}, {{}}}}]", place);
    append_matrix(text, matrices[i]);
  }
  if (matrices.size(0) > kMatrices)
    text += fmt::format("\n ... {} matrices in all", matrices.size(0));
  return text;
}

}  // namespace pushdown
