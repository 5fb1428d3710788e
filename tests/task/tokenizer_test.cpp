#include "task/tokenizer.h"

#include <gtest/gtest.h>

namespace pushdown::tokenizer_test {
namespace {

using Sentences = std::vector<SentenceWords>;

Sentences split(const std::string& line, const TokenizerOptions& options) {
  Sentences found;
  Tokenizer(options).split(line, [&](SentenceWords& words) { found.push_back(words); });
  return found;
}

TEST(Tokenizer, BlanksSeparateWords) {
  EXPECT_EQ(split(" The  cat's\tgone. ", {}), (Sentences{{"The", "cat's", "gone."}}));
  EXPECT_EQ(split("  ", {}), (Sentences{{}}));
  EXPECT_EQ(split("", {}), (Sentences{{}}));
}

TEST(Tokenizer, TheUnicodeStandardSeparatesWords) {
  TokenizerOptions options;
  options.words = WordBorders::unicode;
  EXPECT_EQ(split("The cat's gone (3.14 km), d\u00e9j\u00e0-vu!", options),
            (Sentences{{"The", "cat's", "gone", "(", "3.14", "km", ")", ",", "d\u00e9j\u00e0", "-",
                        "vu", "!"}}));
}

TEST(Tokenizer, CharactersAreWhatAReaderSees) {
  TokenizerOptions options;
  options.words = WordBorders::characters;
  // An e with a combining accent is one character.
  EXPECT_EQ(split("ae\u0301 b", options), (Sentences{{"a", "e\u0301", "b"}}));
}

TEST(Tokenizer, LowerCaseIsThatOfUnicode) {
  TokenizerOptions options;
  options.lower = true;
  // U+0130 becomes two code points and one byte longer.
  EXPECT_EQ(split("\u00c4RGER OF \u0130 \u03a3", options),
            (Sentences{{"\u00e4rger", "of", "i\u0307", "\u03c3"}}));
  EXPECT_EQ(Tokenizer(options).folded("ABC"), "abc");
  // A sigma at the end of a word has another form, also before a mark or an apostrophe.
  EXPECT_EQ(
      split("\u039f\u03a3 \u03a3\u03a3. \u03a3'\u039f \u039f\u03a3\u0301\u03a3'", options),
      (Sentences{{"\u03bf\u03c2", "\u03c3\u03c2.", "\u03c3'\u03bf", "\u03bf\u03c3\u0301\u03c2'"}}));
  EXPECT_EQ(Tokenizer({}).folded("ABC"), "ABC");
}

TEST(Tokenizer, SentencesAreFoundWithinALine) {
  TokenizerOptions options;
  options.words = WordBorders::unicode;
  options.sentences = SentenceBorders::unicode;
  EXPECT_EQ(split("It rains. Does it?  Yes!", options),
            (Sentences{{"It", "rains", "."}, {"Does", "it", "?"}, {"Yes", "!"}}));
  EXPECT_EQ(split("   ", options), (Sentences{{}}));
}

}  // namespace
}  // namespace pushdown::tokenizer_test
