// Seeded random numbers: xoshiro256++ (Blackman and Vigna, 2019) seeded through splitmix64. Each
// (seed, stream) pair gives an independent stream. The state can be saved and restored, and the
// numbers do not depend on the standard library.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pushdown {

class Random {
 public:
  using State = std::array<std::uint64_t, 4>;

  explicit Random(std::uint64_t seed = 0, std::uint64_t stream = 0);
  // A stream named after its purpose, so that adding a new consumer does not change the other
  // numbers.
  Random(std::uint64_t seed, std::string_view stream);

  // Uniform over all 64-bit values.
  std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }
  // Uniform in [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  double uniform(double low, double high);   // uniform in [low, high)
  std::uint64_t below(std::uint64_t count);  // uniform over 0 .. count-1, without bias
  double normal();                           // standard normal (Box-Muller, one of the pair)

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

  const State& state() const { return state_; }
  void set_state(const State& state) { state_ = state; }

 private:
  State state_;
};

// Converts the state to 64 hexadecimal digits and back. Throws std::invalid_argument on other text.
std::string to_text(const Random::State& state);
Random::State random_state_from_text(std::string_view text);

}  // namespace pushdown
