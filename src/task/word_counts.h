// Word frequencies and the vocabulary derived from them: the most frequent words; words of equal
// frequency are in the order of first occurrence.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "grammar/alphabet.h"

namespace pushdown {

class WordCounts {
 public:
  void add(std::string_view word);
  // Returns the words of `first`, then the most frequent other words that occur at least `minimum`
  // times, up to `limit` words in total; 0: no limit. Throws std::invalid_argument "[where]
  // vocabulary ..." if the limit leaves no room for another word.
  Alphabet vocabulary(std::string_view where, std::vector<std::string> first, std::int64_t limit,
                      std::int64_t minimum = 1) const;

 private:
  struct Count {
    std::int64_t times = 0, first = 0;
  };
  std::unordered_map<std::string, Count> counts_;
};

}  // namespace pushdown
