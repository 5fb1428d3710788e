#include "train/problems/batch_order.h"

#include <numeric>

#include "base/check.h"

namespace pushdown {

BatchOrder::BatchOrder(std::int64_t count, const Random& random, bool shuffled)
    : order_(count), random_(random), shuffled_(shuffled) {
  shuffle();
}

void BatchOrder::shuffle() {
  // Starts from the same order every time, so that the result depends only on the generator.
  std::iota(order_.begin(), order_.end(), std::int64_t{0});
  epoch_start_ = random_.state();
  if (shuffled_) random_.shuffle(order_);
  position_ = 0;
}

void BatchOrder::next_epoch() { shuffle(); }

void BatchOrder::restore(const std::string& generator, std::int64_t position) {
  const auto state = random_state_from_text(generator);
  check(position >= 0 && position <= count(), "train.restore",
        "the position in the epoch must be 0 to {} batches, got {}", count(), position);
  random_.set_state(state);
  shuffle();
  position_ = position;
}

}  // namespace pushdown
