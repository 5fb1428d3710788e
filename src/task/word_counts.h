// How often words occur, and the vocabulary that follows from it: the most frequent words, those of
// one frequency in the order of their first occurrence.
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
  // The words of `first`, then the most frequent other ones that occur `minimum` times at least, up
  // to `limit` words in all; 0: without limit. std::invalid_argument "[where] vocabulary ..." for a
  // limit that leaves no room for another word.
  Alphabet vocabulary(std::string_view where, std::vector<std::string> first, std::int64_t limit,
                      std::int64_t minimum = 1) const;

 private:
  struct Count {
    std::int64_t times = 0, first = 0;
  };
  std::unordered_map<std::string, Count> counts_;
};

}  // namespace pushdown
