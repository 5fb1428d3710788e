// Splits lines into sentences and words, and strings into symbols.
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "grammar/alphabet.h"
#include "task/tokenizer.h"

namespace pushdown {

FUZZ_TARGET(words) {
  if (!find_invalid_utf8(bytes)) {
    for (const auto borders : {WordBorders::blanks, WordBorders::unicode, WordBorders::characters})
      for (const auto sentences : {SentenceBorders::lines, SentenceBorders::unicode}) {
        Tokenizer tokenizer({borders, sentences, bytes.size() % 2 == 0});
        tokenizer.split(bytes, [](SentenceWords& words) {
          for (const auto& word : words)
            fuzz::require(!word.empty() && !find_invalid_utf8(word), "a word that is none");
        });
      }
  }
  const Alphabet alphabet({"a", "b", "(", ")", "ab", "\xc3\xa9"});
  fuzz::refused([&] {
    const Word word = alphabet.parse(bytes);
    fuzz::require(alphabet.parse(alphabet.text(word)) == word, "read back differently");
  });
  fuzz::refused([&] { Alphabet({std::string(bytes), "b"}); });
}

}  // namespace pushdown
