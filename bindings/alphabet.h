// Alphabets and strings over them as Lua values.
#pragma once
#include "bindings/value.h"
#include "grammar/alphabet.h"

namespace pushdown {

template <>
struct ClassName<Alphabet> {
  static constexpr const char* value = "Alphabet";
};

// A string of symbols: a text with spaces between them, or a list of symbols.
using Tokens = std::variant<std::string, std::vector<std::string>>;

inline Word to_word(const Alphabet& alphabet, const Tokens& tokens) {
  if (const auto* text = std::get_if<std::string>(&tokens)) return alphabet.parse(*text);
  return alphabet.encode(std::get<std::vector<std::string>>(tokens));
}

}  // namespace pushdown
