// The symbols and weights of grammars as text, in the notation of text.h.
#pragma once
#include <string>
#include <string_view>

namespace pushdown {

// The arrow U+2192, which may stand for ->.
inline constexpr std::string_view kArrow = "\xE2\x86\x92";

// Returns the shortest fixed-point notation that parses to the same number; NLTK has no exponents.
std::string weight_text(double weight);

// Returns 'a' or "a", whichever needs no escapes.
std::string quoted_terminal(std::string_view symbol);
// Returns why `name` cannot be a nonterminal ("must not be empty"), or an empty string if it can.
std::string nonterminal_name_error(std::string_view name);

}  // namespace pushdown
