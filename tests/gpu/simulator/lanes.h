// The 32 lanes of a warp: a number or a bit for each.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace pushdown::gpu_simulator {

inline constexpr int kLanes = 32;

template <class T>
struct alignas(64) Lanes : std::array<T, kLanes> {};

using Mask = std::uint32_t;  // bit i belongs to lane i
inline constexpr Mask kAllLanes = 0xffffffffu;
inline Mask bit_of(int lane) { return Mask{1} << lane; }
inline int first_lane(Mask mask) { return std::countr_zero(mask); }

// Calls body(lane) for each lane of the mask.
template <class Body>
void each_lane(Mask mask, const Body& body) {
  for (; mask != 0; mask &= mask - 1) body(first_lane(mask));
}
template <class T>
Lanes<T> broadcast(T value) {
  Lanes<T> lanes;
  lanes.fill(value);
  return lanes;
}
// Returns function(a_i, b_i, ...) of each lane i.
template <class Function, class... T>
auto map_lanes(const Function& function, const Lanes<T>&... of) {
  Lanes<decltype(function(of[0]...))> result;
  for (int i = 0; i < kLanes; ++i) result[i] = function(of[i]...);
  return result;
}
// Returns the lanes for which function(a_i, b_i, ...) is true.
template <class Function, class... T>
Mask lanes_where(const Function& function, const Lanes<T>&... of) {
  Mask mask = 0;
  for (int i = 0; i < kLanes; ++i) mask |= Mask{function(of[i]...)} << i;
  return mask;
}
// Returns the same bits as numbers of another type.
template <class To, class From>
Lanes<To> reinterpret_lanes(const Lanes<From>& from) {
  static_assert(sizeof(Lanes<To>) == sizeof(Lanes<From>));
  Lanes<To> to;
  std::memcpy(to.data(), from.data(), sizeof(from));
  return to;
}

}  // namespace pushdown::gpu_simulator
