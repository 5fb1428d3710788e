// pd.tensor: creation, gradients, and the class, which the other files of this folder complete.
#include "bindings/tensor/classes.h"

#include <cmath>

#include "array/array_recorder.h"
#include "base/check.h"
#include "base/memory.h"
#include "base/stopping.h"
#include "bindings/session/state.h"
#include "tensor/backward.h"

namespace pushdown {
namespace {

using T = const Tensor&;
using Shape = std::variant<std::int64_t, std::vector<std::int64_t>>;

std::vector<std::int64_t> shape_of(const Shape& given) {
  if (const auto* one = std::get_if<std::int64_t>(&given)) return {*one};
  return std::get<1>(given);
}

Tensor make_tensor(lua_State* L, Any values, const TensorOptions& options) {
  if (lua_type(L, values.index) != LUA_TUSERDATA)
    return options.apply(L, tensor_from_lua(L, values.index, options.type()), options.type());
  const Tensor source = Value<Tensor>::get(L, values.index).detach().clone();
  return options.apply(L, source, options.dtype ? options.type() : source.scalar_type());
}

Tensor full(lua_State* L, const Shape& given, double value, const TensorOptions& options) {
  const auto type = options.type();
  const auto shape = shape_of(given);
  check_memory(shape, c10::elementSize(type));
  check(type != at::kLong || std::floor(value) == value, "tensor.full",
        "the value must be an integer for dtype int64, got {}", value);
  return options.apply(L, at::full(shape, value, at::TensorOptions(type)), type);
}
Tensor zeros(lua_State* L, const Shape& shape, const TensorOptions& options) {
  return full(L, shape, 0, options);
}
Tensor ones(lua_State* L, const Shape& shape, const TensorOptions& options) {
  return full(L, shape, 1, options);
}

// first, first + step, ... up to and including last, like Lua's for.
Tensor arange(lua_State* L, double first, double last,
              const std::variant<std::monostate, double, TensorOptions>& third,
              TensorOptions options) {
  const double step = std::holds_alternative<double>(third) ? std::get<double>(third) : 1;
  if (const auto* table = std::get_if<TensorOptions>(&third)) options = *table;
  check(step != 0 && std::isfinite(first) && std::isfinite(last) && std::isfinite(step),
        "tensor.arange", "the bounds and the step must be finite and the step not 0");
  const double steps = std::floor((last - first) / step + 1e-9);
  check(steps < 1e15, "tensor.arange", "{} elements are too many", steps);
  const auto count = std::max(std::int64_t{0}, static_cast<std::int64_t>(steps) + 1);
  check_memory({count}, 8);
  return options.apply(L, at::arange(count, at::kDouble).mul(step).add(first), options.type());
}

struct RandomOptions : TensorOptions {
  std::optional<std::uint64_t> seed;
  static OptionRows rows() {
    return declare<RandomOptions>({{"seed", &RandomOptions::seed, "random seed"}})
        .with<RandomOptions, TensorOptions>();
  }
};

template <class Draw>
Tensor drawn(lua_State* L, const Shape& given, const RandomOptions& options, Draw draw) {
  check(options.type() != at::kLong, "tensor", "random numbers need a floating-point dtype");
  const auto shape = shape_of(given);
  check_memory(shape, 8);
  if (auto* recorder = ArrayRecorder::current()) recorder->refuse("random numbers are drawn");
  Tensor values = at::empty(shape, at::kDouble);
  Random random(seed_or_next(L, options.seed), "tensor");
  auto* data = values.data_ptr<double>();
  const StopCheck stop;
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    stop();
    data[i] = draw(random);
  }
  return options.apply(L, values, options.type());
}

Tensor randn(lua_State* L, const Shape& shape, const RandomOptions& options) {
  return drawn(L, shape, options, [](Random& random) { return random.normal(); });
}
Tensor rand(lua_State* L, const Shape& shape, const RandomOptions& options) {
  return drawn(L, shape, options, [](Random& random) { return random.uniform(); });
}

// A recorded function must not depend on numbers.
void note_reading(T t) {
  if (auto* recorder = ArrayRecorder::current())
    recorder->read(t, "numbers are read from a recorded tensor");
}

Results to_table(lua_State* L, T t) {
  note_reading(t);
  push_nested(L, t.detach().to(at::kCPU));
  return {1};
}

std::variant<bool, double> item(T t) {
  check(t.numel() == 1, "Tensor:item", "the tensor must have one element, got shape {}",
        shape_text(t));
  if (t.scalar_type() == at::kBool) return t.item<bool>();
  return t.item<double>();
}

struct BackwardOptions {
  bool retain_graph = false;
  static OptionRows rows() {
    return declare<BackwardOptions>({{"retain_graph", &BackwardOptions::retain_graph,
                                      "keeps the graph for another backward pass"}});
  }
};

void backward(Tensor& t, const std::optional<Tensor>& gradient, const BackwardOptions& options) {
  check(t.requires_grad(), "Tensor:backward",
        "the tensor depends on nothing that was made with requires_grad = true");
  check(gradient.has_value() || t.numel() == 1, "Tensor:backward",
        "a tensor of shape {} needs the gradient of the result as argument; or sum() it first",
        shape_text(t));
  run_backward(t, gradient.value_or(Tensor()), options.retain_graph);
}

Tensor requires_grad(Tensor& t, std::optional<bool> wanted) {
  if (!wanted) return t;
  check(t.is_leaf() || *wanted, "Tensor:requires_grad",
        "only tensors that were not computed can leave the graph; use detach()");
  check(t.is_floating_point() || !*wanted, "Tensor:requires_grad",
        "only floating-point tensors have gradients, got {}", dtype_name(t.scalar_type()));
  return t.set_requires_grad(*wanted);
}

Results get_or_set_requires_grad(lua_State* L, Tensor& t, std::optional<bool> wanted) {
  if (!wanted) return {Value<bool>::push(L, t.requires_grad())};
  return {Value<Tensor>::push(L, requires_grad(t, wanted))};
}

void assign(Tensor& t, Any values) {
  if (auto* recorder = ArrayRecorder::current()) recorder->read(t, "a tensor is changed in place");
  const Tensor given = tensor_from_lua(values.state, values.index, t.scalar_type());
  check(given.dim() == 0 || given.sizes() == t.sizes(), "Tensor:assign",
        "the tensor has shape {}, the new values {}", shape_text(t), shape_text(given));
  at::NoGradGuard no_grad;
  t.copy_(given);
}

// Calls f(...) without recording gradients. An error of f is passed on, and the mode is restored.
Results no_grad(lua_State* L, Any function, Rest rest) {
  if (lua_type(L, function.index) != LUA_TFUNCTION)
    throw WrongType(L, function.index, "a function");
  at::NoGradGuard guard;
  call_lua(L, rest.count, LUA_MULTRET);
  return {lua_gettop(L) - function.index + 1};
}

void bind_gradients(Module& module, Class<Tensor>& cls) {
  cls.def<&to_table>(
         "to_table() -> table  Returns nested lists of numbers, or a number for a tensor without "
         "dimensions.")
      .def<&item>("item() -> number  Returns the only element of a tensor.")
      .def<&backward>(
          "backward(gradient, {options})  Adds the gradient of this tensor (of one element, or "
          "weighted by `gradient`) to grad() of every tensor it was computed from.")
      .def<[](T t) { return t.grad(); }>(
          "grad() -> Tensor  Returns the gradient that backward has collected, or nil.")
      .def<[](Tensor& t) { t.mutable_grad().reset(); }>("zero_grad()  Clears the gradient.")
      .def<&get_or_set_requires_grad>(
          "requires_grad(wanted) -> boolean or Tensor  Returns whether gradients are recorded. "
          "With an argument, sets this and returns the tensor.")
      .def<&assign>(
          "assign(values)  Overwrites all values with those of a tensor, of nested lists or with "
          "one number. The change is not recorded for gradients.")
      .def<[](T t, Any) {
        note_reading(t);
        return tensor_line(t);
      }>("tostring(t) -> string  Returns one line with the shape, the dtype and the first values.")
      .def<[](T t) {
        note_reading(t);
        return tensor_text(t);
      }>("__show", "show(t) -> string  Returns the text that the prompt prints, in several lines.");
  module.def<&no_grad>(
      "no_grad(f, ...) -> ...  Calls f(...) without recording gradients and returns its results.");
}

}  // namespace

OptionRows TensorOptions::rows() {
  using Self = TensorOptions;
  return declare<Self>(
      {{"dtype", &Self::dtype, "type of the numbers; float32 if absent",
        OneOf{{"float32", "float64", "int64"}}},
       {"device", &Self::device, "'cpu', 'cuda' or 'cuda:n'; if absent, that of the session"},
       {"requires_grad", &Self::requires_grad, "records gradients"}});
}

Tensor TensorOptions::apply(lua_State* L, const Tensor& values, at::ScalarType as) const {
  check(!requires_grad || at::isFloatingType(as), "tensor",
        "only floating-point tensors have gradients, got dtype '{}'", dtype_name(as));
  const auto place = device ? parse_device(*device) : session(L).device;
  return values.to(place, as).set_requires_grad(requires_grad);
}

void check_memory(const std::vector<std::int64_t>& shape, std::size_t element_size) {
  double bytes = static_cast<double>(element_size);
  for (const auto size : shape) {
    check(size >= 0, "tensor", "sizes must not be negative, got {}", size);
    bytes *= static_cast<double>(size);
  }
  pushdown::check_memory("tensor", "a tensor", bytes);
}

void bind_tensor_creation(Module& module) {
  module
      .call<&make_tensor>(
          "tensor(values, {options}) -> Tensor  Returns a tensor from nested lists, a number or a "
          "tensor.")
      .def<&zeros>("zeros(shape, {options}) -> Tensor  Returns a tensor of zeros.")
      .def<&ones>("ones(shape, {options}) -> Tensor  Returns a tensor of ones.")
      .def<&full>(
          "full(shape, value, {options}) -> Tensor  Returns a tensor with this value everywhere.")
      .def<&arange>(
          "arange(first, last, step, {options}) -> Tensor  Returns first, first + step, ... up to "
          "and including last. The default of step is 1.")
      .def<&rand>("rand(shape, {options}) -> Tensor  Returns uniform random numbers in [0, 1).")
      .def<&randn>("randn(shape, {options}) -> Tensor  Returns standard normal random numbers.");
}

void bind_tensor(lua_State* L) {
  Module module(L, "tensor", "Tensors.");
  bind_tensor_creation(module);
  Class<Tensor> cls(module, "An array of numbers with any number of dimensions, with gradients.");
  bind_gradients(module, cls);
  bind_tensor_indexing(cls);
  bind_tensor_arithmetic(module, cls);
  bind_tensor_reductions(cls);
  bind_tensor_shapes(module, cls);
  bind_tensor_operators(module);
  bind_tensor_files(module);
}

}  // namespace pushdown
