// Cutting lines of text into pieces.
#pragma once
#include <string_view>
#include <vector>

namespace pushdown::gpu_simulator {

inline std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

// Divides at a separator outside of brackets.
inline std::vector<std::string_view> divided(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' || text[i] == '(') ++depth;
    if (text[i] == ']' || text[i] == ')') --depth;
    if (text[i] != separator || depth > 0) continue;
    parts.push_back(text.substr(from, i - from));
    from = i + 1;
  }
  parts.push_back(text.substr(from));
  return parts;
}

// Removes a prefix and returns whether it was there.
inline bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace pushdown::gpu_simulator
