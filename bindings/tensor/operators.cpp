// pd.tensor.op(name, ...): any operator of LibTorch by its name. LibTorch's schemas of its
// operators decide which overload fits the arguments and how they are converted.
#include <ATen/core/dispatch/Dispatcher.h>

#include <cmath>

#include "base/check.h"
#include "bindings/tensor/classes.h"

namespace pushdown {
namespace {

using c10::IValue;
using c10::TypeKind;

// Returns all overloads of aten operators by name, the plain ones first.
const std::map<std::string, std::vector<c10::OperatorHandle>>& operators() {
  static const auto table = [] {
    std::map<std::string, std::vector<c10::OperatorHandle>> found;
    auto& dispatcher = c10::Dispatcher::singleton();
    for (const auto& name : dispatcher.getAllOpNames()) {
      const auto handle = dispatcher.findSchema(name);
      if (!handle || !name.name.starts_with("aten::")) continue;
      auto& overloads = found[name.name.substr(6)];
      overloads.insert(name.overload_name.empty() ? overloads.begin() : overloads.end(), *handle);
    }
    return found;
  }();
  return table;
}

// Operators that do not check their arguments: wrong ones would read or write memory of others.
bool is_unsafe(const std::string& name) {
  return name.starts_with("_") || name.starts_with("as_strided") || name.starts_with("set_") ||
         name.starts_with("resize") || name == "from_file" || name == "set";
}

std::optional<IValue> convert(lua_State* L, int i, const c10::TypePtr& type);

template <class Element>
std::optional<IValue> convert_list(lua_State* L, int i, const c10::TypePtr& element) {
  c10::List<Element> list;
  const int size = static_cast<int>(lua_objlen(L, i));
  for (int k = 1; k <= size; ++k) {
    lua_rawgeti(L, i, k);
    const auto value = convert(L, lua_gettop(L), element);
    lua_pop(L, 1);
    if (!value) return std::nullopt;
    list.push_back(value->to<Element>());
  }
  return IValue(std::move(list));
}

std::optional<IValue> convert_number(lua_State* L, int i, TypeKind kind) {
  const double number = lua_tonumber(L, i);
  const bool integral = std::floor(number) == number && std::fabs(number) <= 9007199254740992.0;
  if (kind == TypeKind::FloatType) return IValue(number);
  if (integral) return IValue(static_cast<std::int64_t>(number));
  return kind == TypeKind::NumberType ? std::optional(IValue(number)) : std::nullopt;
}

// Converts the Lua value to the type. Returns nothing if it does not fit.
std::optional<IValue> convert(lua_State* L, int i, const c10::TypePtr& type) {
  const int given = lua_type(L, i);
  switch (type->kind()) {
    case TypeKind::OptionalType:
      if (given == LUA_TNIL || given == LUA_TNONE) return IValue();
      return convert(L, i, type->castRaw<c10::OptionalType>()->getElementType());
    case TypeKind::TensorType:
      if (given != LUA_TUSERDATA) return std::nullopt;
      return IValue(Value<Tensor>::get(L, i));
    case TypeKind::NumberType:
    case TypeKind::FloatType:
    case TypeKind::IntType:
#if TORCH_VERSION_MAJOR >= 2
    case TypeKind::SymIntType:
#endif
      // A dtype is an integer in LibTorch and a name in Lua.
      if (given == LUA_TSTRING && type->kind() == TypeKind::IntType)
        return IValue(static_cast<std::int64_t>(parse_dtype(lua_tostring(L, i))));
      if (given != LUA_TNUMBER) return std::nullopt;
      return convert_number(L, i, type->kind());
    case TypeKind::BoolType:
      if (given != LUA_TBOOLEAN) return std::nullopt;
      return IValue(lua_toboolean(L, i) != 0);
    case TypeKind::StringType:
      if (given != LUA_TSTRING) return std::nullopt;
      return IValue(Value<std::string>::get(L, i));
    case TypeKind::DeviceObjType:
      if (given != LUA_TSTRING) return std::nullopt;
      return IValue(parse_device(lua_tostring(L, i)));
    case TypeKind::ListType: {
      if (given != LUA_TTABLE) return std::nullopt;
      const auto element = type->castRaw<c10::ListType>()->getElementType();
      switch (element->kind()) {
        case TypeKind::TensorType: return convert_list<Tensor>(L, i, element);
        case TypeKind::FloatType: return convert_list<double>(L, i, element);
        case TypeKind::BoolType: return convert_list<bool>(L, i, element);
        case TypeKind::IntType: return convert_list<std::int64_t>(L, i, element);
#if TORCH_VERSION_MAJOR >= 2
        case TypeKind::SymIntType: return convert_list<std::int64_t>(L, i, c10::IntType::get());
#endif
        default: return std::nullopt;
      }
    }
    default: return std::nullopt;
  }
}

// Converts the arguments for this overload: first the positional ones, then those by name in a last
// table.
std::optional<std::vector<IValue>> match(const Rest& rest, const c10::FunctionSchema& schema) {
  lua_State* L = rest.state;
  const auto& formals = schema.arguments();
  int positional = rest.count;
  const int last = rest.first + rest.count - 1;
  const bool named = rest.count > 0 && lua_istable(L, last) && lua_objlen(L, last) == 0;
  if (named) --positional;
  std::vector<IValue> stack;
  int used_names = 0, place = 0;
  for (const auto& formal : formals) {
    std::optional<IValue> value;
    if (place < positional && !formal.kwarg_only()) {
      value = convert(L, rest.first + place++, formal.type());
    } else {
      if (named)
        lua_getfield(L, last, formal.name().c_str());
      else
        lua_pushnil(L);
      if (!lua_isnil(L, -1)) {
        value = convert(L, lua_gettop(L), formal.type());
        ++used_names;
      } else if (formal.default_value()) {
        value = *formal.default_value();
      }
      lua_pop(L, 1);
    }
    if (!value) return std::nullopt;
    stack.push_back(*std::move(value));
  }
  int names = 0;
  if (named)
    for (lua_pushnil(L); lua_next(L, last) != 0; lua_pop(L, 1)) ++names;
  if (place != positional || names != used_names) return std::nullopt;
  return stack;
}

int push_value(lua_State* L, const IValue& value) {
  luaL_checkstack(L, 4, "too many results");
  if (value.isTensor()) {
    if (value.toTensor().defined()) return Value<Tensor>::push(L, value.toTensor());
    return lua_pushnil(L), 1;
  }
  if (value.isDouble()) return lua_pushnumber(L, value.toDouble()), 1;
  if (value.isInt()) return lua_pushnumber(L, static_cast<lua_Number>(value.toInt())), 1;
  if (value.isBool()) return lua_pushboolean(L, value.toBool()), 1;
  if (value.isString()) return Value<std::string>::push(L, value.toStringRef());
  if (value.isTensorList()) return Value<std::vector<Tensor>>::push(L, value.toTensorVector());
  if (value.isIntList()) return Value<std::vector<std::int64_t>>::push(L, value.toIntVector());
  lua_pushnil(L);
  return 1;
}

Results call_operator(lua_State* L, const std::string& name, Rest rest) {
  const auto found = operators().find(name);
  if (found == operators().end() || is_unsafe(name)) {
    std::vector<std::string> names;
    for (const auto& [known, overloads] : operators())
      if (!is_unsafe(known)) names.push_back(known);
    const auto near = nearest_names(name, names);
    fail("tensor.op", "there is no operator '{}'{}", name,
         near.empty() ? "" : ", did you mean " + near + "?");
  }
  for (const auto& handle : found->second) {
    auto stack = match(rest, handle.schema());
    if (!stack) continue;
    try {
      handle.callBoxed(&*stack);
    } catch (const c10::Error& error) {
      // The arguments count from 0, so the message does, too.
      fail("tensor.op", "{}", error.what_without_backtrace());
    }
    int count = 0;
    for (const auto& value : *stack) count += push_value(L, value);
    return {count};
  }
  std::string text;
  for (const auto& handle : found->second) text += "\n  " + c10::toString(handle.schema());
  fail("tensor.op", "the arguments fit none of the overloads of '{}':{}", name, text);
}

}  // namespace

void bind_tensor_operators(Module& module) {
  module.def<&call_operator>(
      "op(name, ...) -> ...  Calls any operator of LibTorch with LibTorch's own conventions "
      "(dimensions and indices from 0). Named arguments go into a last table.");
}

}  // namespace pushdown
