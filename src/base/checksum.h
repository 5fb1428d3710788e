// 64-bit FNV-1a. Detects accidental changes, not deliberate ones.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace pushdown {

class Checksum {
 public:
  void add(std::string_view bytes) {
    for (const unsigned char c : bytes) hash_ = (hash_ ^ c) * 0x100000001b3ULL;
  }
  std::string text() const { return fmt::format("{:016x}", hash_); }  // 16 hexadecimal digits

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

inline std::string checksum(std::string_view bytes) {
  Checksum sum;
  sum.add(bytes);
  return sum.text();
}

}  // namespace pushdown
