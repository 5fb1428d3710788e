#include "grammar/symbol_text.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "grammar/utf8.h"

namespace pushdown {

std::string weight_text(double weight) {
  std::string text = fmt::format("{}", weight);
  for (int digits = 17; text.find('e') != std::string::npos && digits < 1080; digits += 8) {
    const auto fixed = fmt::format("{:.{}f}", weight, digits);
    double back = 0;
    std::from_chars(fixed.data(), fixed.data() + fixed.size(), back);
    if (back == weight) text = fixed;
  }
  return text;
}

std::string quoted_terminal(std::string_view symbol) {
  const char quote = symbol.find('\'') == std::string_view::npos ? '\'' : '"';
  std::string text(1, quote);
  for (const char c : symbol) {
    if (c == quote || c == '\\') text += '\\';
    text += c;
  }
  return text + quote;
}

std::string nonterminal_name_error(std::string_view name) {
  if (name.empty()) return "names must not be empty";
  if (find_invalid_utf8(name)) return "names must be UTF-8 text";
  const auto shown = fmt::format("name {} ", name);
  if (name.starts_with('%')) return shown + "must not begin with %";
  if (std::any_of(name.begin(), name.end(), is_white_space) ||
      name.find_first_of("|[]#\"") != std::string_view::npos ||
      name.find("->") != std::string_view::npos || name.find(kArrow) != std::string_view::npos)
    return shown + "must not contain white space, an arrow or any of | [ ] # \"";
  const auto quote = name.find('\'');
  if (quote == 0) return shown + "must not begin with a quote";
  if (quote != std::string_view::npos &&
      name.find_first_not_of('\'', quote) != std::string_view::npos)
    return shown + "may end in primes but must not contain a quote; put a space before a terminal";
  return "";
}

}  // namespace pushdown
