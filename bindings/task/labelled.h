// Labelled datasets as Lua values.
#pragma once
#include "bindings/binder/value.h"
#include "task/labelled_dataset.h"

namespace pushdown {

class Module;

template <>
struct ClassName<LabelledDataset> {
  static constexpr const char* value = "LabelledDataset";
  static std::size_t bytes(const LabelledDataset& dataset) {
    return dataset.symbol_count() * sizeof(int) + dataset.size() * sizeof(Word);
  }
};

// Binds labelled, labelled_dataset and load_labelled of pd.task, and the class.
void bind_labelled(Module& module);

}  // namespace pushdown
