// The order in which training processes its batches: in every epoch each batch once, either
// shuffled anew by a seeded generator or in the given order. The current position is one generator
// state and one index.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"

namespace pushdown {

class BatchOrder {
 public:
  // 0 .. count-1 in the first epoch's order; without `shuffled`, in ascending order in every epoch.
  BatchOrder(std::int64_t count, const Random& random, bool shuffled = true);

  std::int64_t count() const { return static_cast<std::int64_t>(order_.size()); }
  std::int64_t position() const { return position_; }  // number of batches taken in this epoch
  bool at_end() const { return position_ == count(); }
  // Returns the batch that is this many positions ahead; 0: the next one.
  std::int64_t ahead(std::int64_t places) const { return order_[position_ + places]; }
  void advance() { ++position_; }
  void next_epoch();

  // The generator before this epoch was shuffled; together with position(), the complete state.
  std::string generator() const { return to_text(epoch_start_); }
  // Throws std::invalid_argument on a malformed generator or a position outside 0 .. count.
  void restore(const std::string& generator, std::int64_t position);

 private:
  void shuffle();

  std::vector<std::int64_t> order_;
  Random random_;
  bool shuffled_;
  Random::State epoch_start_;
  std::int64_t position_ = 0;
};

}  // namespace pushdown
