// UTF-8: whether text is valid, and whether it may be shown. The module and the shell share this
// file, which depends only on the standard library.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace pushdown {

// Returns the position of the first byte that is not part of valid UTF-8 (RFC 3629), or npos.
inline std::size_t invalid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const int more = lead < 0x80                    ? 0
                     : lead >= 0xC2 && lead <= 0xDF ? 1
                     : (lead & 0xF0) == 0xE0        ? 2
                     : lead >= 0xF0 && lead <= 0xF4 ? 3
                                                    : -1;
    if (more < 0 || i + static_cast<std::size_t>(more) >= text.size()) return i;
    for (int k = 1; k <= more; ++k)
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return i;
    const auto second = more > 0 ? static_cast<unsigned char>(text[i + 1]) : 0x80;
    const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
    const bool outside = (lead == 0xED && second > 0x9F) || (lead == 0xF4 && second > 0x8F);
    if (overlong || outside) return i;
    i += more + 1;
  }
  return std::string_view::npos;
}

// Returns whether the locale says that the terminal accepts UTF-8. The first of these variables
// that is set decides.
inline bool utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const char* value = std::getenv(name); value && *value) {
      std::string_view locale(value);
      for (const char* ending : {"UTF-8", "utf-8", "UTF8", "utf8"})
        if (locale.find(ending) != locale.npos) return true;
      return false;
    }
  return false;
}

// Returns the text as a terminal may show it. Control characters, which could move its cursor or
// rename its window, become \027 with their number. Tabs and line ends stay.
inline std::string without_controls(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    const bool second_set = byte == 0xC2 && next >= 0x80 && next <= 0x9F;  // U+0080 to U+009F
    if (!second_set && (byte >= 32 ? byte != 127 : byte == '\n' || byte == '\t')) {
      result += text[i];
      continue;
    }
    char number[8];
    std::snprintf(number, sizeof number, "\\%03d", second_set ? next : byte);
    result += number;
    i += second_set ? 1 : 0;
  }
  return result;
}

// Returns "byte 0xff at position 3", counted from 1.
inline std::string describe_byte(std::string_view text, std::size_t place) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "byte 0x%02x at position %zu",
                static_cast<unsigned char>(text[place]), place + 1);
  return buffer;
}

}  // namespace pushdown
