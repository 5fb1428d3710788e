// Texts for terminals. The module and the shell share this file.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/utf8.h"

namespace pushdown {

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
// rename its window, and bytes that are not UTF-8 become \027 with their number. Tabs and line ends
// stay, except in names and values, which are in one line.
inline std::string without_controls(std::string_view text, bool one_line = false) {
  std::string result;
  result.reserve(text.size());
  auto invalid = find_invalid_utf8(text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    const bool second_set = byte == 0xC2 && next >= 0x80 && next <= 0x9F;  // U+0080 to U+009F
    const bool valid = i != invalid;
    if (!valid && (invalid = find_invalid_utf8(text.substr(i + 1)))) *invalid += i + 1;
    if (valid && !second_set &&
        (byte >= 32 ? byte != 127 : !one_line && (byte == '\n' || byte == '\t'))) {
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
