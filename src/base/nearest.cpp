#include "base/nearest.h"

#include <algorithm>

namespace pushdown {
namespace {

// Edit distance with swaps of neighbours (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t j = 0; j <= b.size(); ++j) table[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    table[i][0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t least = std::min(
          {table[i - 1][j - 1] + (a[i - 1] != b[j - 1]), table[i - 1][j] + 1, table[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        least = std::min(least, table[i - 2][j - 2] + 1);
      table[i][j] = least;
    }
  }
  return table[a.size()][b.size()];
}

std::string initials(std::string_view name) {
  std::string letters;
  for (std::size_t i = 0; i < name.size(); ++i)
    if (name[i] != '_' && (i == 0 || name[i - 1] == '_')) letters += name[i];
  return letters;
}

std::size_t distance_of(std::string_view wanted, std::string_view name) {
  const bool begins = wanted.size() > 1 && name.starts_with(wanted);
  if (begins || (wanted.size() > 1 && wanted == initials(name))) return 0;
  return edit_distance(wanted, name);
}

}  // namespace

std::vector<std::string> names_near(std::string_view wanted,
                                    const std::vector<std::string>& valid) {
  std::size_t best = wanted.size() < 6 ? 1 : wanted.size() < 9 ? 2 : 3;
  std::vector<std::string> nearest;
  for (const auto& name : valid) {
    // A name of another length is that many edits away, which a text of millions of letters would
    // take long to count.
    if (wanted.size() > name.size() + best) continue;
    const std::size_t distance = distance_of(wanted, name);
    // Names that share no letters are not near, however short they are.
    if (distance > best || distance >= std::max(wanted.size(), name.size())) continue;
    if (distance < best) nearest.clear();
    best = distance;
    if (std::find(nearest.begin(), nearest.end(), name) == nearest.end()) nearest.push_back(name);
  }
  return nearest;
}

std::string nearest_names(std::string_view wanted, const std::vector<std::string>& valid) {
  const auto nearest = names_near(wanted, valid);
  std::string text;
  for (std::size_t i = 0; i < nearest.size() && i < 3; ++i)
    text += (i == 0 ? "'" : " or '") + nearest[i] + "'";
  return text;
}

}  // namespace pushdown
