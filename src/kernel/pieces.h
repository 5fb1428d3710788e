// Divides memory for kernels into pieces.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernel/memory/memory_shape.h"

namespace pushdown {

// Each piece has room for two additional paddings, because kernels read and write whole vectors. A
// first pass with a null `memory` counts what the second pass needs.
template <class F>
class Pieces {
 public:
  explicit Pieces(F* memory) : memory_(memory) {}
  F* take(std::int64_t count) {
    F* piece = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += padded_size(count) + 2 * kPadding;
    return piece;
  }
  std::size_t bytes() const { return static_cast<std::size_t>(used_) * sizeof(F); }

 private:
  F* memory_;
  std::int64_t used_ = 0;
};

}  // namespace pushdown
