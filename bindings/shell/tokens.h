// The tokens of Lua, also of text that is incomplete or wrong.
#pragma once
#include <string_view>

namespace pushdown {

struct Token {
  enum class Kind { space, comment, name, keyword, number, text, sign };
  Kind kind;
  std::size_t begin, end;
};

// Returns the token that begins at this place of the code.
Token token_at(std::string_view code, std::size_t place);

}  // namespace pushdown
