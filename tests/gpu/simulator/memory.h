// Global memory: the memory of this process, or only some ranges of it.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

namespace pushdown::gpu_simulator {

class GlobalMemory {
 public:
  // From the first call on, only the ranges of all calls may be read and written.
  void permit(const void* first, std::size_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(first);
    auto& end = ranges_[address];
    end = std::max<std::uint64_t>(end, address + bytes);
  }
  bool is_limited() const { return !ranges_.empty(); }
  // Returns the place of these bytes, null if they may not be accessed.
  std::uint8_t* find(std::uint64_t address, int bytes) const {
    constexpr std::uint64_t kFirstPage = 4096;
    if (address < kFirstPage || address % static_cast<unsigned>(bytes) != 0) return nullptr;
    if (!ranges_.empty()) {
      auto range = ranges_.upper_bound(address);
      if (range == ranges_.begin() ||
          (--range)->second < address + static_cast<std::uint64_t>(bytes))
        return nullptr;
    }
    return reinterpret_cast<std::uint8_t*>(address);
  }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // from first to end
};

}  // namespace pushdown::gpu_simulator
