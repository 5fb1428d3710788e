// SHA-256 (FIPS 180-4), used to identify the files that a run has read.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace pushdown {

class Sha256 {
 public:
  void add(std::string_view bytes);
  // Returns the digest as 64 hexadecimal digits, or as 32 bytes. Nothing can be added afterwards.
  std::string text();
  std::string bytes();

 private:
  void finish();
  void compress(const unsigned char* block);

  std::array<std::uint32_t, 8> hash_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> block_{};
  std::size_t filled_ = 0;
  std::uint64_t length_ = 0;  // in bytes
};

std::string sha256(std::string_view bytes);

}  // namespace pushdown
