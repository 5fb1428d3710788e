// Reads the reference numbers of tests/golden (see its README).
#pragma once
#include <fstream>
#include <stdexcept>

#include "base/options.h"
#include "base/torch.h"
#include "support/golden_folder.h"

namespace pushdown::testing_support {

inline Json load_golden(const std::string& name) {
  std::ifstream file(std::string(GOLDEN_FOLDER) + "/" + name + ".json");
  if (!file) throw std::runtime_error("missing golden file " + name);
  return Json::parse(file);
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

// Largest deviation, relative to numbers above one and absolute below; a deviation in NaN counts.
inline double deviation(const Tensor& got, const Tensor& wanted) {
  if (got.sizes() != wanted.sizes()) return std::numeric_limits<double>::infinity();
  if (got.numel() == 0) return 0;
  const Tensor a = got.detach().to(at::kDouble), b = wanted.detach().to(at::kDouble);
  const double worst = ((a - b).abs() / b.abs().clamp_min(1)).max().item<double>();
  return std::isnan(worst) ? std::numeric_limits<double>::infinity() : worst;
}

}  // namespace pushdown::testing_support
