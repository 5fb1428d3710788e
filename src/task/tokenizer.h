// How a line of plain text becomes sentences of words. Word and sentence borders are those of the
// Unicode standard (UAX #29), lower case is Unicode's, both by the ICU library.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pushdown {

using SentenceWords = std::vector<std::string>;

enum class WordBorders {
  blanks,      // words stand between white space, as in a text that is tokenized already
  unicode,     // UAX #29 words, and every other visible character by itself
  characters,  // every visible character (grapheme cluster) is a word
};
enum class SentenceBorders {
  lines,    // one sentence a line
  unicode,  // UAX #29 sentences within every line
};

struct TokenizerOptions {
  WordBorders words = WordBorders::blanks;
  SentenceBorders sentences = SentenceBorders::lines;
  bool lower = false;  // all words in lower case
};

class Tokenizer {
 public:
  explicit Tokenizer(const TokenizerOptions& options);
  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // visit(words) for every sentence of `line`, which must be UTF-8; a sentence without words is
  // visited where it is a whole line (words is empty then), and otherwise left out.
  void split(std::string_view line, const std::function<void(SentenceWords&)>& visit);
  // The case that `word` gets.
  std::string folded(std::string_view word) const;

 private:
  struct Breaks;
  TokenizerOptions options_;
  std::unique_ptr<Breaks> breaks_;
};

}  // namespace pushdown
