#include "base/random.h"

#include <cmath>
#include <numbers>

#include "base/check.h"

namespace pushdown {
namespace {

std::uint64_t splitmix(std::uint64_t& x) {
  std::uint64_t z = (x += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// FNV-1a; needed only to spread the names over the streams.
std::uint64_t hash_name(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const unsigned char c : text) hash = (hash ^ c) * 0x100000001b3ULL;
  return hash;
}

}  // namespace

Random::Random(std::uint64_t seed, std::uint64_t stream) {
  std::uint64_t x = seed;
  // Passing the stream through the generator keeps (1, 0) and (0, 1) apart.
  x = splitmix(x) ^ stream;
  for (auto& word : state_) word = splitmix(x);
}

Random::Random(std::uint64_t seed, std::string_view stream) : Random(seed, hash_name(stream)) {}

double Random::uniform(double low, double high) { return low + (high - low) * uniform(); }

std::uint64_t Random::below(std::uint64_t count) {
  check(count > 0, "random.below", "count must be positive");
  // Values below `threshold` would make the first residues more likely than the others.
  const std::uint64_t threshold = (0 - count) % count;
  for (;;) {
    const std::uint64_t value = next();
    if (value >= threshold) return value % count;
  }
}

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::string to_text(const Random::State& state) {
  std::string text;
  for (const auto word : state) text += fmt::format("{:016x}", word);
  return text;
}

Random::State random_state_from_text(std::string_view text) {
  check(text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos,
        "random.state", "a generator state has 64 hexadecimal digits, got '{}'", text);
  Random::State state;
  for (std::size_t i = 0; i < 4; ++i)
    state[i] = std::stoull(std::string(text.substr(16 * i, 16)), nullptr, 16);
  return state;
}

}  // namespace pushdown
