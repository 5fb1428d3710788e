// How a text is read as a string of symbols. A dataset that was read from a text knows it, and so
// does a model with its alphabet, which can then read other texts in the same way.
#pragma once
#include <array>
#include <string>
#include <string_view>

namespace pushdown {

enum class WordBorders {
  blanks,      // words are separated by white space, as in tokenized text
  unicode,     // UAX #29 words; every other visible character is a word
  characters,  // every visible character (grapheme cluster) is one word
};
// Their names in options and files.
inline constexpr std::array<std::string_view, 3> kWordBorders{"blanks", "unicode", "characters"};

struct Reading {
  WordBorders words = WordBorders::blanks;
  bool lower = false;   // all words are converted to lower case
  std::string unknown;  // the symbol for every word outside the alphabet; empty: there is none

  friend bool operator==(const Reading&, const Reading&) = default;
};

inline std::string name_of(WordBorders words) {
  return std::string(kWordBorders[static_cast<std::size_t>(words)]);
}
// Throws std::invalid_argument on an unknown name.
WordBorders word_borders(std::string_view name);

}  // namespace pushdown
