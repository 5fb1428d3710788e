#include "bindings/shell/tokens.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace pushdown {
namespace {

constexpr std::string_view kKeywords[] = {"and",   "break", "do",       "else", "elseif", "end",
                                          "false", "for",   "function", "goto", "if",     "in",
                                          "local", "nil",   "not",      "or",   "repeat", "return",
                                          "then",  "true",  "until",    "while"};

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 128;
}
bool in_name(char c) { return starts_name(c) || is_digit(c); }
bool in_number(char c) { return in_name(c) || c == '.'; }

std::size_t end_of(std::string_view code, std::size_t place, bool (*inside)(char)) {
  while (place < code.size() && inside(code[place])) ++place;
  return place;
}

// Returns the position after the long bracket `[==[ ... ]==]` that begins at `place`, or npos if
// none begins there.
std::size_t long_bracket_end(std::string_view code, std::size_t place) {
  if (place >= code.size() || code[place] != '[') return code.npos;
  const auto open = std::min(code.find_first_not_of('=', place + 1), code.size());
  if (open == code.size() || code[open] != '[') return code.npos;
  const std::string close = "]" + std::string(open - place - 1, '=') + "]";
  const auto end = code.find(close, open + 1);
  return end == code.npos ? code.size() : end + close.size();
}

std::size_t quoted_end(std::string_view code, std::size_t place) {
  const char quote = code[place];
  for (std::size_t i = place + 1; i < code.size(); ++i) {
    if (code[i] == '\\')
      ++i;
    else if (code[i] == quote || code[i] == '\n')
      return i + 1;
  }
  return code.size();
}

}  // namespace

Token token_at(std::string_view code, std::size_t place) {
  using Kind = Token::Kind;
  const char c = code[place];
  if (is_space(c)) return {Kind::space, place, end_of(code, place, is_space)};
  if (starts_name(c)) {
    const auto end = end_of(code, place, in_name);
    const auto word = code.substr(place, end - place);
    const bool keyword =
        std::find(std::begin(kKeywords), std::end(kKeywords), word) != std::end(kKeywords);
    return {keyword ? Kind::keyword : Kind::name, place, end};
  }
  if (is_digit(c)) return {Kind::number, place, end_of(code, place, in_number)};
  if (c == '"' || c == '\'') return {Kind::text, place, quoted_end(code, place)};
  if (const auto end = long_bracket_end(code, place); end != code.npos)
    return {Kind::text, place, end};
  if (!code.substr(place).starts_with("--")) return {Kind::sign, place, place + 1};
  auto end = long_bracket_end(code, place + 2);
  if (end == code.npos) end = std::min(code.find('\n', place), code.size());
  return {Kind::comment, place, end};
}

}  // namespace pushdown
