// Reads the reference numbers of tests/golden (see its README).
#pragma once
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "base/options.h"
#include "support/golden_folder.h"
#include "tensor/finite_differences.h"
#include "tensor/torch.h"

namespace pushdown::testing_support {

inline Json load_golden(const std::string& name) {
  std::ifstream file(fmt::format("{}/{}.json", GOLDEN_FOLDER, name));
  if (!file) throw std::runtime_error(fmt::format("missing golden file {}", name));
  return parse_json(std::string(std::istreambuf_iterator<char>(file), {}));
}

inline void flatten(const Json& value, std::vector<double>& numbers) {
  if (value.is_array()) {
    for (const auto& item : value) flatten(item, numbers);
  } else {
    numbers.push_back(value.is_null() ? -std::numeric_limits<double>::infinity()
                                      : value.get<double>());
  }
}

// A nested list of numbers (null: -inf) as a float64 tensor.
inline Tensor golden_tensor(const Json& value) {
  std::vector<std::int64_t> shape;
  for (const Json* level = &value; level->is_array(); level = &level->front())
    shape.push_back(static_cast<std::int64_t>(level->size()));
  std::vector<double> numbers;
  flatten(value, numbers);
  return at::tensor(numbers, at::kDouble).view(shape);
}

using pushdown::deviation;

}  // namespace pushdown::testing_support
