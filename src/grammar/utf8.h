// UTF-8 validation (RFC 3629) of symbols and grammar texts.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

namespace pushdown {

// The position of the first byte that does not belong to well-formed UTF-8 (overlong forms and
// surrogates are malformed), or nothing.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);

// True for space, tab, line feed, vertical tab, form feed and carriage return.
bool is_white_space(char c);

// The pieces between white space, none of them empty; views of `text`.
std::vector<std::string_view> words_between_blanks(std::string_view text);

}  // namespace pushdown
