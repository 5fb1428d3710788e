// Datasets as Lua values.
#pragma once
#include "bindings/binder/value.h"
#include "task/dataset.h"

namespace pushdown {

template <>
struct ClassName<Dataset> {
  static constexpr const char* value = "Dataset";
  static std::size_t bytes(const Dataset& dataset) {
    return dataset.symbol_count() * sizeof(int) + dataset.size() * (sizeof(Word) + sizeof(double));
  }
};

}  // namespace pushdown
