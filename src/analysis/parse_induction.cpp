#include "analysis/parse_induction.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace pushdown {
namespace {

// Builds phrases of two parts: split(begin, end) is the start of the second part of the words begin
// .. end-1.
template <class Split>
PhraseTree by_splits(const std::vector<std::string>& words, Split split) {
  std::vector<Phrase> phrases;
  std::vector<Span> open{{0, static_cast<int>(words.size())}};
  while (!open.empty()) {
    const auto [begin, end] = open.back();
    open.pop_back();
    if (end - begin < 2) continue;
    phrases.push_back({begin, end});
    const int middle = split(begin, end);
    open.push_back({middle, end});
    open.push_back({begin, middle});
  }
  return PhraseTree(words, {}, std::move(phrases));
}

}  // namespace

PhraseTree tree_from_distances(const std::vector<std::string>& words,
                               const std::vector<double>& distances, DistanceTo to) {
  constexpr auto kWhere = "tree.from_distances";
  check(words.size() == distances.size(), kWhere,
        "the number of distances must equal the number of words, {}, got {}", words.size(),
        distances.size());
  for (std::size_t i = 0; i < distances.size(); ++i)
    check(!std::isnan(distances[i]), kWhere, "the distance of word {}, '{}', is not a number",
          i + 1, words[i]);
  auto d = distances;
  if (to == DistanceTo::next && !d.empty()) {
    std::rotate(d.begin(), d.end() - 1, d.end());
    d.front() = -std::numeric_limits<double>::infinity();
  }
  std::vector<Phrase> phrases;
  std::vector<Span> open{{0, static_cast<int>(words.size())}};
  while (!open.empty()) {
    const auto [begin, end] = open.back();
    open.pop_back();
    if (end - begin < 2) continue;
    const int i =
        static_cast<int>(std::max_element(d.begin() + begin, d.begin() + end) - d.begin());
    phrases.push_back({begin, end});
    if (i > begin && i + 1 < end) phrases.push_back({i, end});  // Tree[X[i], r]
    open.push_back({i + 1, end});
    open.push_back({begin, i});
  }
  return PhraseTree(words, {}, std::move(phrases));
}

PhraseTree right_branching(const std::vector<std::string>& words) {
  return by_splits(words, [](int begin, int) { return begin + 1; });
}

PhraseTree left_branching(const std::vector<std::string>& words) {
  return by_splits(words, [](int, int end) { return end - 1; });
}

PhraseTree balanced(const std::vector<std::string>& words, Balance balance) {
  return by_splits(words, [balance](int begin, int end) {
    const int size = end - begin;
    if (balance == Balance::halves) return begin + (size + 1) / 2;
    int right = 1;
    while (2 * right < size) right *= 2;
    return end - right;
  });
}

PhraseTree random_tree(const std::vector<std::string>& words, Random& random) {
  return by_splits(words, [&random](int begin, int end) {
    return begin + 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(end - begin - 1)));
  });
}

}  // namespace pushdown
