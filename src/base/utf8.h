// UTF-8 (RFC 3629), and words between white space.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pushdown {

// Returns the position of the first byte that is not part of well-formed UTF-8, or nothing.
// Overlong forms and surrogates are malformed.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);

// Returns the text with `replacement` for every byte that is not part of well-formed UTF-8.
std::string valid_utf8(std::string_view text, std::string_view replacement = "?");

// Returns true for space, tab, line feed, vertical tab, form feed and carriage return.
bool is_white_space(char c);

// Returns the non-empty pieces between white space, as views of `text`.
std::vector<std::string_view> words_between_blanks(std::string_view text);

}  // namespace pushdown
