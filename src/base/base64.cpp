#include "base/base64.h"

#include <cstdint>

namespace pushdown {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (; !bytes.empty(); bytes.remove_prefix(std::min<std::size_t>(bytes.size(), 3))) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 3; ++i)
      number = number << 8 | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0);
    for (std::size_t i = 0; i < 4; ++i)
      text += i <= bytes.size() ? kDigits[number >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

}  // namespace pushdown
