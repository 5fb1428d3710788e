// The candidates for a word that TAB completes.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

namespace pushdown {

struct Completion {
  std::size_t start = 0;                // start of the word in the text
  std::vector<std::string> candidates;  // whole words, sorted
  std::string ending;                   // follows a complete word
};

// Returns the common beginning of all words, in whole characters of UTF-8.
inline std::string common_start(const std::vector<std::string>& words) {
  if (words.empty()) return "";
  const auto& first = words.front();
  auto size = first.size();
  for (const auto& word : words) {
    const auto differs = std::mismatch(first.begin(), first.end(), word.begin(), word.end());
    size = std::min(size, static_cast<std::size_t>(differs.first - first.begin()));
  }
  while (size > 0 && size < first.size() && (first[size] & 0xC0) == 0x80) --size;
  return first.substr(0, size);
}

}  // namespace pushdown
