#include "task/word_counts.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"
#include "base/options.h"

namespace pushdown {

void WordCounts::add(std::string_view word) {
  auto& count = counts_[std::string(word)];
  if (count.times++ == 0) count.first = static_cast<std::int64_t>(counts_.size());
}

Alphabet WordCounts::vocabulary(std::string_view where, std::vector<std::string> first,
                                std::int64_t limit, std::int64_t minimum) const {
  const auto least = std::ssize(first) + 1;
  check(limit == 0 || limit >= least, where,
        "vocabulary must be 0 (all words) or at least {}, because it includes {}, got {}", least,
        fmt::join(first, " and "), limit);
  std::vector<const std::pair<const std::string, Count>*> order;
  for (const auto& entry : counts_)
    if (entry.second.times >= minimum &&
        std::find(first.begin(), first.end(), entry.first) == first.end())
      order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->second.times != b->second.times ? a->second.times > b->second.times
                                              : a->second.first < b->second.first;
  });
  for (const auto* entry : order) {
    if (limit > 0 && std::ssize(first) == limit) break;
    first.push_back(entry->first);
  }
  return Alphabet(std::move(first));
}

}  // namespace pushdown
