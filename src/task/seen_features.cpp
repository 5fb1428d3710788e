#include "task/seen_features.h"

#include <algorithm>
#include <unordered_set>

namespace pushdown {
namespace {

// Calls visit(feature) for each feature until it returns false; returns whether it never did.
// Features are numbers in mixed radix, modulo 2^64: with large alphabets, two features may collide.
template <class Visit>
bool each_ngram(const Word& word, int symbols, int n, Visit visit) {
  const auto radix = static_cast<std::uint64_t>(symbols) + 2;
  const auto length = static_cast<int>(word.size());
  const int around = n > 1 ? 1 : 0;  // for begin and end
  const auto at = [&](int i) {
    if (i < 0) return radix - 2;
    return i >= length ? radix - 1 : static_cast<std::uint64_t>(word[i]);
  };
  for (int i = -around; i + n <= length + around; ++i) {
    std::uint64_t feature = 0;
    for (int k = 0; k < n; ++k) feature = feature * radix + at(i + k);
    if (!visit(feature)) return false;
  }
  return true;
}

template <class Visit>
bool each_comparison(const Word& word, int symbols, Visit visit) {
  const auto counts = symbol_counts(word, symbols);
  const auto length = static_cast<int>(word.size());
  const auto n = static_cast<std::uint64_t>(symbols);
  for (int s = 0; s < symbols; ++s)
    for (int t = 0; t <= s; ++t) {  // t = s: all others
      const int other = t == s ? length - counts[s] : counts[t];
      const std::uint64_t order = counts[s] < other ? 0 : counts[s] == other ? 1 : 2;
      if (!visit((static_cast<std::uint64_t>(s) * n + static_cast<std::uint64_t>(t)) * 3 + order))
        return false;
    }
  return true;
}

std::uint64_t counts_modulo(const Word& word, std::size_t from, std::size_t to, int symbols,
                            std::uint64_t modulus) {
  std::vector<std::uint64_t> counts(symbols);
  for (auto i = from; i < to; ++i) ++counts[word[i]];
  std::uint64_t feature = 0;
  for (const auto count : counts) feature = feature * modulus + count % modulus;
  return feature;
}

template <class Visit>
bool each_place(const Word& word, int symbols, std::uint64_t modulus, Visit visit) {
  std::uint64_t strides = 1;
  for (int s = 0; s < symbols; ++s) strides *= modulus;
  for (int s = 0; s < symbols; ++s) {
    const auto at = static_cast<std::size_t>(std::find(word.begin(), word.end(), s) - word.begin());
    if (at == word.size()) continue;
    const auto before = counts_modulo(word, 0, at, symbols, modulus);
    const auto after = counts_modulo(word, at + 1, word.size(), symbols, modulus);
    const auto n = static_cast<std::uint64_t>(symbols);
    if (!visit((before * strides + after) * n + static_cast<std::uint64_t>(s))) return false;
  }
  return true;
}

template <class Visit>
bool each_feature(FeatureKind kind, const Word& word, int symbols, Visit visit) {
  switch (kind) {
    case FeatureKind::length_modulo_2: return visit(word.size() % 2);
    case FeatureKind::length_modulo_3: return visit(word.size() % 3);
    case FeatureKind::counts_modulo_2:
      return visit(counts_modulo(word, 0, word.size(), symbols, 2));
    case FeatureKind::counts_modulo_3:
      return visit(counts_modulo(word, 0, word.size(), symbols, 3));
    case FeatureKind::counts_around_2: return each_place(word, symbols, 2, visit);
    case FeatureKind::counts_around_3: return each_place(word, symbols, 3, visit);
    case FeatureKind::unigrams: return each_ngram(word, symbols, 1, visit);
    case FeatureKind::bigrams: return each_ngram(word, symbols, 2, visit);
    case FeatureKind::trigrams: return each_ngram(word, symbols, 3, visit);
    case FeatureKind::counts_compared: return each_comparison(word, symbols, visit);
  }
  return true;
}

}  // namespace

const std::vector<FeatureKind>& feature_kinds() {
  using enum FeatureKind;
  static const std::vector<FeatureKind> kinds{
      length_modulo_2, length_modulo_3, counts_modulo_2, counts_modulo_3, counts_around_2,
      counts_around_3, unigrams,        bigrams,         trigrams,        counts_compared};
  return kinds;
}

std::string_view name_of(FeatureKind kind) {
  static constexpr std::string_view kNames[] = {
      "length_modulo_2", "length_modulo_3", "counts_modulo_2", "counts_modulo_3",
      "counts_around_2", "counts_around_3", "unigrams",        "bigrams",
      "trigrams",        "counts_compared"};
  return kNames[static_cast<int>(kind)];
}

void SeenFeatures::add(const Word& valid) {
  std::unordered_set<std::uint64_t> features;
  each_feature(kind_, valid, symbols_, [&](std::uint64_t feature) {
    features.insert(feature);
    return true;
  });
  for (const auto feature : features) ++seen_[feature];
}

bool SeenFeatures::accepts(const Word& word, int strings) const {
  return each_feature(kind_, word, symbols_, [&](std::uint64_t feature) {
    const auto found = seen_.find(feature);
    return found != seen_.end() && found->second >= strings;
  });
}

std::vector<int> symbol_counts(const Word& word, int symbols) {
  std::vector<int> counts(symbols);
  for (const int s : word) ++counts[s];
  return counts;
}

}  // namespace pushdown
