// Alphabets and strings over them as Lua values.
#pragma once
#include "bindings/binder/value.h"
#include "grammar/alphabet.h"

namespace pushdown {

template <>
inline constexpr auto kClassName<Alphabet> = "Alphabet";

// A string of symbols: a text with spaces between them, or a list of symbols.
using Tokens = std::variant<std::string, std::vector<std::string>>;

inline Word to_word(const Alphabet& alphabet, const Tokens& tokens) {
  if (const auto* text = std::get_if<std::string>(&tokens)) return alphabet.parse(*text);
  return alphabet.encode(std::get<std::vector<std::string>>(tokens));
}

inline std::vector<Word> to_words(const Alphabet& alphabet, const std::vector<Tokens>& strings) {
  std::vector<Word> words;
  for (const auto& tokens : strings) words.push_back(to_word(alphabet, tokens));
  return words;
}

// An alphabet, or a list of its symbols.
using GivenAlphabet = std::variant<std::shared_ptr<Alphabet>, std::vector<std::string>>;

inline Alphabet alphabet_of(const GivenAlphabet& given) {
  const auto* shared = std::get_if<std::shared_ptr<Alphabet>>(&given);
  return shared ? **shared : Alphabet(std::get<std::vector<std::string>>(given));
}

}  // namespace pushdown
