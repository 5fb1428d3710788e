#include "bindings/define/script_value.h"

#include "base/check.h"
#include "bindings/tensor/classes.h"

namespace pushdown {
namespace {

constexpr int kDeepestState = 8;

// Reads a state. `path` is the place in it: "state.cells[2]".
class StateReader {
 public:
  StateReader(lua_State* L, const ScriptFunction& function, std::int64_t batch,
              const at::TensorOptions& options, ScriptState& state)
      : L_(L), function_(function), batch_(batch), options_(options), state_(state) {}

  // The value on top of the stack.
  Json read(int depth, const std::string& path) {
    const int top = lua_gettop(L_);
    switch (lua_type(L_, top)) {
      case LUA_TNUMBER: return lua_tonumber(L_, top);
      case LUA_TBOOLEAN: return lua_toboolean(L_, top) != 0;
      case LUA_TSTRING: return lua_tostring(L_, top);
      case LUA_TTABLE: return table(depth, path);
      case LUA_TUSERDATA: return tensor(path);
      default:
        function_.refuse(
            fmt::format("{} must be made of tensors, numbers, texts and tables of them, got {}",
                        path, type_text(L_, top)));
    }
  }

 private:
  Json tensor(const std::string& path) {
    try {
      check(Value<Tensor>::get(L_, lua_gettop(L_)), path);
    } catch (const WrongType&) {
      function_.refuse(
          fmt::format("{} must be a Tensor, got {}", path, type_text(L_, lua_gettop(L_))));
    }
    return nullptr;
  }

  void check(const Tensor& tensor, const std::string& path) {
    if (tensor.dim() == 0 || tensor.size(0) != batch_)
      function_.refuse(
          fmt::format("{} must be a tensor of {} rows, one for each sequence of the "
                      "batch, got {}",
                      path, batch_, result_text(L_, lua_gettop(L_))));
    if (tensor.is_floating_point() &&
        (tensor.dtype() != options_.dtype() || tensor.device() != options_.device()))
      function_.refuse(fmt::format(
          "{} must be {} on {} as the model is (self:zeros makes such "
          "tensors), got {} on {}",
          path, dtype_name(c10::typeMetaToScalarType(options_.dtype())), options_.device().str(),
          dtype_name(tensor.scalar_type()), tensor.device().str()));
    state_.tensors.push_back(tensor);
  }

  Json table(int depth, const std::string& path) {
    if (depth == kDeepestState)
      function_.refuse(path + " is nested too deeply, or contains itself");
    luaL_checkstack(L_, 4, "nested too deeply");
    const int size = static_cast<int>(lua_objlen(L_, -1));
    Json list = Json::array();
    for (int k = 1; k <= size; ++k) {
      lua_rawgeti(L_, -1, k);
      list.push_back(read(depth + 1, fmt::format("{}[{}]", path, k)));
      lua_pop(L_, 1);
    }
    // Lua's own order differs from run to run.
    std::vector<std::string> names;
    int others = 0;
    for (lua_pushnil(L_); lua_next(L_, -2) != 0; lua_pop(L_, 1))
      if (lua_type(L_, -2) == LUA_TSTRING)
        names.emplace_back(lua_tostring(L_, -2));
      else
        ++others;
    if (others != size || (size > 0 && !names.empty()))
      function_.refuse(path + " must be a list or a table with names, got a mixture");
    if (size > 0) return list;
    std::sort(names.begin(), names.end());
    Json object = Json::object();
    auto& entries = object.get_ref<Json::object_t&>();  // without a search for each name
    for (const auto& name : names) {
      lua_getfield(L_, -1, name.c_str());
      entries.emplace_back(name, read(depth + 1, path + "." + name));
      lua_pop(L_, 1);
    }
    return object;
  }

  lua_State* L_;
  const ScriptFunction& function_;
  std::int64_t batch_;
  at::TensorOptions options_;
  ScriptState& state_;
};

void push_frame(lua_State* L, const Json& frame, const std::vector<Tensor>& tensors,
                std::size_t& next) {
  luaL_checkstack(L, 4, "nested too deeply");
  if (frame.is_null()) {
    Value<Tensor>::push(L, tensors[next++]);
  } else if (frame.is_array()) {
    lua_createtable(L, static_cast<int>(frame.size()), 0);
    for (std::size_t k = 0; k < frame.size(); ++k) {
      push_frame(L, frame[k], tensors, next);
      lua_rawseti(L, -2, static_cast<int>(k) + 1);
    }
  } else if (frame.is_object()) {
    lua_createtable(L, 0, static_cast<int>(frame.size()));
    for (const auto& [name, value] : frame.items()) {
      push_frame(L, value, tensors, next);
      lua_setfield(L, -2, name.c_str());
    }
  } else {
    Value<Json>::push(L, frame);
  }
}

// ---- self ----

at::TensorOptions options_of_self(lua_State* L, int index) {
  check(lua_istable(L, index), "self.zeros", "expected self:zeros(...), with ':'");
  lua_getfield(L, index, "dtype");
  lua_getfield(L, index, "device");
  const auto options = at::TensorOptions()
                           .dtype(parse_dtype(Value<std::string>::get(L, lua_gettop(L) - 1)))
                           .device(parse_device(Value<std::string>::get(L, lua_gettop(L))));
  lua_pop(L, 2);
  return options;
}

Tensor filled_copy(lua_State* L, int self, const std::vector<std::int64_t>& shape, double value) {
  const auto options = options_of_self(L, self);
  check_memory(shape, 8);
  return at::full(shape, value, options);
}
Tensor self_zeros(lua_State* L, Any self, Rest sizes) {
  return filled_copy(L, self.index, read_sizes(sizes), 0);
}
Tensor self_ones(lua_State* L, Any self, Rest sizes) {
  return filled_copy(L, self.index, read_sizes(sizes), 1);
}
Tensor self_full(lua_State* L, Any self, const std::vector<std::int64_t>& shape, double value) {
  return filled_copy(L, self.index, shape, value);
}

template <auto F>
void set_method(lua_State* L, const char* name, Doc doc) {
  lua_pushstring(L, (std::string("self:") + name).c_str());
  lua_pushstring(L, doc.text);
  lua_pushcclosure(L, &thunk<F>, 2);
  lua_setfield(L, -2, name);
}

int refuse_change(lua_State* L) {
  const std::string name = type_text(L, 2);
  return luaL_error(L,
                    "self cannot be changed, got a new value for %s: values that change from step "
                    "to step belong in the state",
                    name.c_str());
}

}  // namespace

void ScriptState::push(lua_State* L) const {
  std::size_t next = 0;
  push_frame(L, frame, tensors, next);
}

ScriptState read_state(lua_State* L, int index, const ScriptFunction& function, std::int64_t batch,
                       const at::TensorOptions& options) {
  ScriptState state;
  if (lua_isnoneornil(L, index)) function.refuse("expected a state, got nil");
  lua_pushvalue(L, index);
  state.frame = StateReader(L, function, batch, options, state).read(0, "state");
  lua_pop(L, 1);
  return state;
}

std::string result_text(lua_State* L, int index) {
  try {
    const Tensor& tensor = Value<Tensor>::get(L, index);
    return fmt::format("{} of {}", tensor.dim() == 0 ? "one number" : shape_text(tensor),
                       dtype_name(tensor.scalar_type()));
  } catch (const WrongType& error) {
    return error.got;
  }
}

Tensor read_result(lua_State* L, int index, const ScriptFunction& function, const char* what,
                   const std::vector<std::int64_t>& sizes, const at::TensorOptions& options) {
  std::string shape;
  for (const auto size : sizes)
    shape += (shape.empty() ? "" : " x ") + (size < 0 ? "any" : std::to_string(size));
  const auto dtype = c10::typeMetaToScalarType(options.dtype());
  const auto refuse = [&] {
    function.refuse(fmt::format("{} must be {} of {}, got {}", what, shape, dtype_name(dtype),
                                result_text(L, index)));
  };
  Tensor tensor;
  try {
    tensor = Value<Tensor>::get(L, index);
  } catch (const WrongType&) {
    refuse();
  }
  bool fits = tensor.dim() == static_cast<std::int64_t>(sizes.size()) &&
              tensor.scalar_type() == dtype && tensor.device() == options.device();
  for (std::size_t d = 0; fits && d < sizes.size(); ++d)
    fits = sizes[d] < 0 || tensor.size(static_cast<std::int64_t>(d)) == sizes[d];
  if (!fits) refuse();
  return tensor;
}

KeptValuePtr make_self(lua_State* L, const Json& options, const ParameterList& parameters,
                       const at::TensorOptions& tensor_options,
                       const std::map<std::string, std::int64_t>& sizes) {
  luaL_checkstack(L, 8, "making self");
  lua_newtable(L);
  lua_newtable(L);
  lua_newtable(L);  // the fields
  Value<Json>::push(L, options);
  lua_setfield(L, -2, "options");
  push_entries<Tensor>(L, parameters);
  lua_setfield(L, -2, "parameters");
  Value<std::string>::push(L, dtype_name(c10::typeMetaToScalarType(tensor_options.dtype())));
  lua_setfield(L, -2, "dtype");
  Value<std::string>::push(L, tensor_options.device().str());
  lua_setfield(L, -2, "device");
  for (const auto& [name, size] : sizes) {
    Value<std::int64_t>::push(L, size);
    lua_setfield(L, -2, name.c_str());
  }
  set_method<&self_zeros>(
      L, "zeros",
      "zeros(...) -> Tensor  Returns a tensor of zeros with the model's dtype and device.");
  set_method<&self_ones>(
      L, "ones",
      "ones(...) -> Tensor  Returns a tensor of ones with the model's dtype and device.");
  set_method<&self_full>(L, "full",
                         "full(shape, value) -> Tensor  Returns a tensor of this value with the "
                         "model's dtype and device.");
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, refuse_change);
  lua_setfield(L, -2, "__newindex");
  lua_setmetatable(L, -2);
  auto kept = std::make_shared<KeptValue>(L, lua_gettop(L));
  lua_pop(L, 1);
  return kept;
}

}  // namespace pushdown
