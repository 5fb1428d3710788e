#include "grammar/symbol_text.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/check.h"
#include "base/utf8.h"

namespace pushdown {

bool means_no_symbol(std::string_view name) {
  constexpr std::array<std::string_view, 5> kWords{"\xCE\xB5", "\xCF\xB5", "\xCE\xBB", "epsilon",
                                                   "lambda"};
  return std::find(kWords.begin(), kWords.end(), name) != kWords.end();
}

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

std::string nonterminal_text(std::string_view name) {
  std::string text;
  const auto primes = name.find_last_not_of('\'') + 1;  // npos + 1 is 0
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool prime = name[i] == '\'' && i >= primes && primes > 0;
    if (kEscapedInNames.find(name[i]) != kEscapedInNames.npos && !prime &&
        (name[i] != '%' || i == 0))
      text += '\\';
    text += name[i];
  }
  return text;
}

std::string nonterminal_from_text(std::string_view text) {
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() &&
        kEscapedInNames.find(text[i + 1]) != kEscapedInNames.npos)
      ++i;
    name += text[i];
  }
  return name;
}

std::string nonterminal_text_error(std::string_view text) {
  if (text.empty()) return "names must not be empty";
  if (find_invalid_utf8(text)) return "names must be UTF-8 text";
  const auto shown = fmt::format("name {} ", text);
  std::string plain;  // with a letter for each escaped character
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 1 < text.size() &&
                        kEscapedInNames.find(text[i + 1]) != kEscapedInNames.npos;
    plain += escape ? 'x' : text[i];
    i += escape;
  }
  if (plain.starts_with('%')) return shown + "must not begin with %; write \\%";
  if (std::any_of(plain.begin(), plain.end(), is_white_space) ||
      plain.find("->") != std::string::npos || plain.find(kArrow) != std::string::npos)
    return shown + "must not contain white space or an arrow";
  if (plain.find_first_of("|[]#\"") != std::string::npos)
    return shown + "must not contain any of | [ ] # \" without a backslash before it";
  const auto quote = plain.find('\'');
  if (quote == 0) return shown + "must not begin with a quote; write \\'";
  if (quote != std::string::npos && plain.find_first_not_of('\'', quote) != std::string::npos)
    return shown + "may end in primes but must not contain a quote; put a space before a terminal";
  return "";
}

std::string nonterminal_name_error(std::string_view name) {
  const auto text = nonterminal_text(name);
  if (const auto error = nonterminal_text_error(text); !error.empty()) return error;
  if (nonterminal_from_text(text) != name)
    return fmt::format("name {} must not contain a backslash before one of {}", name,
                       kEscapedInNames);
  return "";
}

}  // namespace pushdown
