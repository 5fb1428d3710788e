#include "model/positions.h"

#include <cmath>

#include "base/check.h"
#include "kernel/attention/attention.h"

namespace pushdown {

const std::vector<std::string>& position_kinds() {
  static const std::vector<std::string> kinds{"none",  "sinusoidal", "rotary",
                                              "alibi", "relative",   "randomized"};
  return kinds;
}

const std::vector<std::string>& attention_positions() {
  static const std::vector<std::string> kinds{"none", "rotary", "alibi", "relative"};
  return kinds;
}

AttentionEncoding attention_encoding(const std::string& kind) {
  return kind == "rotary"     ? AttentionEncoding::rotary
         : kind == "alibi"    ? AttentionEncoding::alibi
         : kind == "relative" ? AttentionEncoding::relative
                              : AttentionEncoding::none;
}

Tensor sinusoids(const std::vector<std::int64_t>& positions, std::int64_t size) {
  Tensor encodings = at::empty({std::ssize(positions), size}, at::kDouble);
  auto* value = encodings.data_ptr<double>();
  for (const std::int64_t t : positions)
    for (std::int64_t i = 0; i < size; ++i) {
      const double angle =
          static_cast<double>(t) *
          std::pow(10000.0, -static_cast<double>(i - i % 2) / static_cast<double>(size));
      *value++ = i % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  return encodings;
}

Tensor PositionTable::rows(std::int64_t first, std::int64_t count) const {
  const std::lock_guard lock(mutex_);
  const std::int64_t end = first + count, before = known_.defined() ? known_.size(0) : 0;
  if (before < end) {
    // Twice as many, because a string may be read symbol by symbol.
    std::vector<std::int64_t> positions;
    for (std::int64_t t = 0; t < std::max(end, 2 * before); ++t) positions.push_back(gap_ * t);
    known_ = sinusoids(positions, size_).to(options_);
  }
  return known_.narrow(0, first, count);
}

std::vector<std::int64_t> drawn_positions(std::int64_t count, std::int64_t longest,
                                          Random& random) {
  check(count <= longest, "model.transformer",
        "{} positions of a string, its beginning included, cannot be drawn from {}: expected a "
        "larger 'longest_position'",
        count, longest);
  // Each number is taken with the share of those left that are still needed (Knuth, algorithm S).
  std::vector<std::int64_t> drawn;
  for (std::int64_t t = 0; std::ssize(drawn) < count; ++t)
    if (random.below(static_cast<std::uint64_t>(longest - t)) <
        static_cast<std::uint64_t>(count - std::ssize(drawn)))
      drawn.push_back(t);
  return drawn;
}

Tensor rotated(const Tensor& x, std::int64_t first) {
  const auto length = x.size(2), size = x.size(3);
  Tensor angles = at::empty({length, size / 2}, at::kDouble);
  auto* angle = angles.data_ptr<double>();
  for (std::int64_t t = first; t < first + length; ++t)
    for (std::int64_t i = 0; i < size / 2; ++i)
      *angle++ = static_cast<double>(t) * rotary_frequency(i, size);
  const Tensor cosine = angles.cos().to(x.options()), sine = angles.sin().to(x.options());
  const Tensor pairs = x.unflatten(3, {size / 2, 2});
  const Tensor even = pairs.select(4, 0), odd = pairs.select(4, 1);
  return at::stack({even * cosine - odd * sine, odd * cosine + even * sine}, 4).flatten(3);
}

Tensor alibi_scores(std::int64_t heads, std::int64_t first, std::int64_t length,
                    const at::TensorOptions& options) {
  std::vector<double> slopes;
  for (std::int64_t h = 0; h < heads; ++h) slopes.push_back(alibi_slope(h, heads));
  const Tensor times = at::arange(length, at::kDouble);
  const Tensor distances = times.unsqueeze(0) - times.narrow(0, first, length - first).unsqueeze(1);
  return (at::tensor(slopes, at::kDouble).view({heads, 1, 1}) * distances).to(options);
}

Tensor scores_of_distances(const Tensor& scores, std::int64_t first) {
  const auto length = scores.size(3);
  const Tensor times = at::arange(length, scores.options().dtype(at::kLong));
  const Tensor distances =
      (times.narrow(0, first, length - first).unsqueeze(1) - times.unsqueeze(0)).clamp_min(0);
  return scores.gather(3, distances.expand_as(scores));
}

}  // namespace pushdown
