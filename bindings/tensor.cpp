// pd.tensor: creation, gradients, and the class that the other tensor_*.cpp files fill.
#include "bindings/tensor.h"

#include <cmath>

#include "array/array_recorder.h"
#include "base/check.h"
#include "base/memory.h"
#include "base/stopping.h"
#include "bindings/modules.h"
#include "bindings/session.h"
#include "tensor/backward.h"

namespace pushdown {
namespace {

using T = const Tensor&;
using Shape = std::variant<std::int64_t, std::vector<std::int64_t>>;

std::vector<std::int64_t> shape_of(const Shape& given) {
  if (const auto* one = std::get_if<std::int64_t>(&given)) return {*one};
  return std::get<1>(given);
}

Tensor make_tensor(lua_State* L, Any values, OptionTable options) {
  const auto choices = take_tensor_choices(L, options);
  if (lua_type(L, values.index) != LUA_TUSERDATA)
    return choices.apply(tensor_from_lua(L, values.index, choices.dtype));
  const Tensor source = Value<Tensor>::get(L, values.index).detach().clone();
  auto kept = choices;
  if (!choices.dtype_given) kept.dtype = source.scalar_type();
  return kept.apply(source);
}

Tensor filled_tensor(lua_State* L, const Shape& given, double value, OptionTable& options) {
  const auto choices = take_tensor_choices(L, options);
  const auto shape = shape_of(given);
  check_memory(shape, c10::elementSize(choices.dtype));
  check(choices.dtype != at::kLong || std::floor(value) == value, "tensor.full",
        "the value must be an integer for dtype int64, got {}", value);
  return choices.apply(at::full(shape, value, at::TensorOptions(choices.dtype)));
}

Tensor zeros(lua_State* L, const Shape& shape, OptionTable o) {
  return filled_tensor(L, shape, 0, o);
}
Tensor ones(lua_State* L, const Shape& shape, OptionTable o) {
  return filled_tensor(L, shape, 1, o);
}
Tensor full(lua_State* L, const Shape& shape, double value, OptionTable o) {
  return filled_tensor(L, shape, value, o);
}

// first, first + step, ... up to and including last, like Lua's for.
Tensor arange(lua_State* L, double first, double last,
              std::variant<std::monostate, double, OptionTable> third, OptionTable options) {
  const double step = std::holds_alternative<double>(third) ? std::get<double>(third) : 1;
  if (auto* table = std::get_if<OptionTable>(&third)) options = *table;
  const auto choices = take_tensor_choices(L, options);
  check(step != 0 && std::isfinite(first) && std::isfinite(last) && std::isfinite(step),
        "tensor.arange", "the bounds and the step must be finite and the step not 0");
  const double steps = std::floor((last - first) / step + 1e-9);
  check(steps < 1e15, "tensor.arange", "{} elements are too many", steps);
  const auto count = std::max(std::int64_t{0}, static_cast<std::int64_t>(steps) + 1);
  check_memory({count}, 8);
  const Tensor values = at::arange(count, at::kDouble).mul(step).add(first);
  return choices.apply(values);
}

template <class Draw>
Tensor drawn(lua_State* L, const Shape& given, OptionTable& options, Draw draw) {
  const auto seed = options.take<std::uint64_t>("seed");
  const auto choices = take_tensor_choices(L, options, {"seed"});
  check(choices.dtype != at::kLong, "tensor", "random numbers need a floating-point dtype");
  const auto shape = shape_of(given);
  check_memory(shape, 8);
  if (auto* recorder = ArrayRecorder::current()) recorder->refuse("random numbers are drawn");
  Tensor values = at::empty(shape, at::kDouble);
  Random random(seed_or_next(L, seed), "tensor");
  auto* data = values.data_ptr<double>();
  const StopCheck stop;
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    stop();
    data[i] = draw(random);
  }
  return choices.apply(values);
}

Tensor randn(lua_State* L, const Shape& shape, OptionTable options) {
  return drawn(L, shape, options, [](Random& random) { return random.normal(); });
}
Tensor rand(lua_State* L, const Shape& shape, OptionTable options) {
  return drawn(L, shape, options, [](Random& random) { return random.uniform(); });
}

// What is being recorded must not depend on numbers.
void note_reading(T t) {
  if (auto* recorder = ArrayRecorder::current())
    recorder->read(t, "numbers are read out of a tensor that is recorded");
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

void backward(Tensor& t, const std::optional<Tensor>& gradient, OptionTable options) {
  const bool retain = options.take<bool>("retain_graph").value_or(false);
  options.finish("Tensor:backward", {"retain_graph"});
  check(t.requires_grad(), "Tensor:backward",
        "the tensor depends on nothing that was made with requires_grad = true");
  check(gradient.has_value() || t.numel() == 1, "Tensor:backward",
        "a tensor of shape {} needs the gradient of the result as argument; or sum() it first",
        shape_text(t));
  run_backward(t, gradient.value_or(Tensor()), retain);
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

// Calls f(...) without recording; an error of f passes through and the mode comes back.
Results no_grad(lua_State* L, Any function, Rest rest) {
  if (lua_type(L, function.index) != LUA_TFUNCTION)
    throw WrongType(L, function.index, "a function");
  at::NoGradGuard guard;
  lua_call(L, rest.count, LUA_MULTRET);
  return {lua_gettop(L) - function.index + 1};
}

void bind_gradients(Module& module, Class<Tensor>& cls) {
  cls.def<&to_table>("to_table",
                     "to_table() -> table  Nested lists of numbers; a number for a "
                     "tensor without dimensions.")
      .def<&item>("item", "item() -> number  The only element of a tensor.")
      .def<&backward>("backward",
                      "backward(gradient, {retain_graph=})  Adds the gradient of this tensor (of "
                      "one element, or weighted by `gradient`) to grad() of all it "
                      "was computed from.")
      .def<[](T t) { return t.grad(); }>("grad",
                                         "grad() -> Tensor  The gradient collected by "
                                         "backward, or nil.")
      .def<[](Tensor& t) { t.mutable_grad().reset(); }>("zero_grad",
                                                        "zero_grad()  Forgets the gradient.")
      .def<&get_or_set_requires_grad>("requires_grad",
                                      "requires_grad(wanted) -> boolean or Tensor  Whether "
                                      "gradients are recorded; with an argument, sets it.")
      .def<&assign>("assign",
                    "assign(values)  Overwrites all values (a tensor, nested lists or one "
                    "number), unseen by gradients.")
      .def<[](T t, Any) {
        note_reading(t);
        return tensor_line(t);
      }>("__tostring", "tostring(t) -> string  One line: shape, dtype and the first values.")
      .def<[](T t) {
        note_reading(t);
        return tensor_text(t);
      }>("__show", "show(t) -> string  What the prompt prints: several lines.");
  module.def<&no_grad>("no_grad",
                       "no_grad(f, ...) -> ...  Calls f(...) without recording gradients.");
}

}  // namespace

Tensor TensorChoices::apply(const Tensor& values) const {
  check(!requires_grad || at::isFloatingType(dtype), "tensor",
        "only floating-point tensors have gradients, got dtype '{}'", dtype_name(dtype));
  return values.to(device, dtype).set_requires_grad(requires_grad);
}

TensorChoices take_tensor_choices(lua_State* L, OptionTable& options,
                                  const std::vector<std::string>& others) {
  TensorChoices choices;
  choices.device = session(L).device;
  if (const auto dtype = options.take<std::string>("dtype")) {
    choices.dtype = parse_dtype(*dtype);
    choices.dtype_given = true;
  }
  if (const auto device = options.take<std::string>("device"))
    choices.device = parse_device(*device);
  choices.requires_grad = options.take<bool>("requires_grad").value_or(false);
  std::vector<std::string> valid{"dtype", "device", "requires_grad"};
  valid.insert(valid.end(), others.begin(), others.end());
  options.finish("tensor", valid);
  return choices;
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
          "tensor(values, {dtype=, device=, requires_grad=}) -> Tensor  A tensor from "
          "nested lists, a number or a tensor; dtype is 'float32' (default), 'float64' "
          "or 'int64'.")
      .def<&zeros>("zeros", "zeros(shape, {dtype=, device=, requires_grad=}) -> Tensor  All 0.")
      .def<&ones>("ones", "ones(shape, {dtype=, device=, requires_grad=}) -> Tensor  All 1.")
      .def<&full>("full",
                  "full(shape, value, {dtype=, device=, requires_grad=}) -> Tensor  All "
                  "the value.")
      .def<&arange>("arange",
                    "arange(first, last, step, {dtype=, device=, requires_grad=}) -> "
                    "Tensor  first, first + step, ... up to and including last; the "
                    "step, 1 by default, may be left out.")
      .def<&rand>("rand",
                  "rand(shape, {seed=, dtype=, device=, requires_grad=}) -> Tensor  Uniform "
                  "in [0, 1).")
      .def<&randn>("randn",
                   "randn(shape, {seed=, dtype=, device=, requires_grad=}) -> Tensor  "
                   "Standard normal.");
}

void bind_tensor(lua_State* L) {
  Module module(L, "tensor", "Tensors.");
  bind_tensor_creation(module);
  Class<Tensor> cls(module, "Numbers in a grid of any number of dimensions, with gradients.");
  bind_gradients(module, cls);
  bind_tensor_indexing(cls);
  bind_tensor_arithmetic(module, cls);
  bind_tensor_reductions(cls);
  bind_tensor_shapes(module, cls);
  bind_tensor_operators(module);
  bind_tensor_files(module);
}

}  // namespace pushdown
