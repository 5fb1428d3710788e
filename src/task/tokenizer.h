// Splits a line of plain text into sentences of words. Word and sentence borders follow the Unicode
// standard (UAX #29), and lower case is Unicode's.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/reading.h"

namespace pushdown {

using SentenceWords = std::vector<std::string>;

enum class SentenceBorders {
  lines,    // one sentence per line
  unicode,  // UAX #29 sentences within each line
};

struct TokenizerOptions {
  WordBorders words = WordBorders::blanks;
  SentenceBorders sentences = SentenceBorders::lines;
  bool lower = false;  // converts all words to lower case
};

class Tokenizer {
 public:
  explicit Tokenizer(const TokenizerOptions& options) : options_(options) {}

  // Calls visit(words) for every sentence of `line`, which must be UTF-8. A sentence without words
  // is skipped unless it is a whole line; then `words` is empty.
  void split(std::string_view line, const std::function<void(SentenceWords&)>& visit) const;
  // Returns `word` in the case that the options choose.
  std::string folded(std::string_view word) const;

 private:
  TokenizerOptions options_;
};

}  // namespace pushdown
