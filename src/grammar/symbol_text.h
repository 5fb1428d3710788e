// The symbols and weights of grammars as text, in the notation of text.h.
#pragma once
#include <string>
#include <string_view>

namespace pushdown {

// The arrow U+2192, which may stand for ->.
inline constexpr std::string_view kArrow = "\xE2\x86\x92";

// A backslash before one of these makes it a part of the name of a nonterminal.
inline constexpr std::string_view kEscapedInNames = "|[]#%'\"";

// Returns whether the literature and other programs write this name for no symbol at all: ε, λ,
// epsilon, lambda.
bool means_no_symbol(std::string_view name);

// Returns the shortest fixed-point notation that parses to the same number; NLTK has no exponents.
std::string weight_text(double weight);

// Returns 'a' or "a", whichever needs no escapes.
std::string quoted_terminal(std::string_view symbol);
// The name of a nonterminal as it is written: a backslash stands before each of | [ ] # % ' " that
// would otherwise mean something else there. Primes at the end are written as they are.
std::string nonterminal_text(std::string_view name);
std::string nonterminal_from_text(std::string_view text);
// Returns why a written name is wrong ("must not be empty"), or an empty string.
std::string nonterminal_text_error(std::string_view text);
// Returns why `name` cannot be a nonterminal, or an empty string if it can.
std::string nonterminal_name_error(std::string_view name);

}  // namespace pushdown
