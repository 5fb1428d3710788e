// The declarations in definitions: action layers and parameters.
#include "base/check.h"
#include "bindings/binder/option_rows.h"
#include "bindings/define/script_value.h"

namespace pushdown {

ScriptRows::ScriptRows(lua_State* L, int index, std::string where, const char* what,
                       std::vector<std::string> places, std::vector<std::string> names)
    : given_(true),
      where_(std::move(where)),
      what_(what),
      places_(std::move(places)),
      names_(std::move(names)) {
  if (lua_isfunction(L, index))
    function_ = script_function(L, index, where_);
  else
    fixed_ = read_rows(L, index, where_, what_, places_, names_);
}

Json ScriptRows::rows(const Json& options, std::int64_t size) const {
  if (!function_) return fixed_;
  ScriptCall call(function_);
  Value<Json>::push(call.state(), options);
  Value<std::int64_t>::push(call.state(), size);
  call.run(1);
  return read_rows(call.state(), 1, where_, what_, places_, names_);
}

std::int64_t size_of(const Json& value, const Json& options, const std::string& where,
                     const std::string& of) {
  if (value.is_string()) {
    const auto name = value.get<std::string>();
    std::vector<std::string> names;
    for (const auto& [key, ignored] : options.items()) names.push_back(key);
    check(options.contains(name), where,
          "the size of {} is '{}', which is not one of the options {}", of, name,
          quoted_list(names));
    return size_of(options[name], Json::object(), where, of);
  }
  check(value.is_number_integer() && value.get<std::int64_t>() >= 1, where,
        "the size of {} must be a whole number from 1 or the name of an option, got {}", of,
        value.dump());
  return value.get<std::int64_t>();
}

const std::vector<std::string> kParameterPlaces{"name", "shape"};
const std::vector<std::string> kParameterNames{"uniform", "xavier", "normal", "constant"};

ParameterList make_parameters(const Json& rows, const Json& options, const std::string& where,
                              const ModuleContext& context) {
  ParameterList list;
  for (const auto& row : rows) {
    const std::string name = row["name"];
    const auto of = fmt::format("parameter '{}'", name);
    check(row.contains("shape"), where, "{} needs a shape: {{ '{}', {{ 3, 4 }} }}", of, name);
    const Json sizes = row["shape"].is_array() ? row["shape"] : Json::array({row["shape"]});
    std::vector<std::int64_t> shape;
    for (const auto& size : sizes) shape.push_back(size_of(size, options, where, of));
    std::vector<std::string> given;
    for (const auto& how : kParameterNames)
      if (row.contains(how)) given.push_back(how);
    check(given.size() <= 1, where, "{} must start in one way, got {}", of, quoted_list(given));
    const std::string how = given.empty() ? "uniform" : given.front();
    const Json value = row.value(how, Json(0.1));
    check(value.is_number(), where, "'{}' of {} must be a number, got {}", how, of, value.dump());
    const double number = value.get<double>();
    Tensor tensor;
    if (how == "uniform") tensor = uniform_parameter(shape, -number, number, context);
    if (how == "normal") tensor = normal_parameter(shape, number, context);
    if (how == "constant") tensor = constant_parameter(shape, number, context);
    if (how == "xavier") {
      check(shape.size() == 2, where, "'xavier' is for matrices, {} has {} dimensions", of,
            shape.size());
      tensor = xavier_parameter(shape[0], shape[1], number, context);
    }
    list.emplace_back(name, tensor);
  }
  return list;
}

}  // namespace pushdown
