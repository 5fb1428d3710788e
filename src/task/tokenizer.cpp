#include "task/tokenizer.h"

#include <utf8proc.h>

#include <array>

#include "base/utf8.h"
#include "task/text_borders.h"
#include "task/unicode_classes.h"

namespace pushdown {
namespace {

bool is_blank(std::string_view text) {
  for (std::size_t at = 0; at < text.size();)
    if (!is_invisible(next_code_point(text, at))) return false;
  return true;
}

void append(std::string& text, char32_t c) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes.data());
  text.append(bytes.begin(), bytes.begin() + size);
}

// The two letters whose lower case is not one code point or depends on the word (SpecialCasing).
constexpr char32_t kDottedI = U'\u0130', kSigma = U'\u03a3';

// Returns whether a sigma that ends at `at` is the last letter of its word; `in_word` states
// whether a letter is before it.
bool is_final(std::string_view text, std::size_t at, bool in_word) {
  while (in_word && at < text.size()) {
    const char32_t c = next_code_point(text, at);
    if (!is_case_ignorable(c)) return !is_cased(c);
  }
  return in_word;
}

std::string lower_case(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  const bool has_sigma = text.find("\u03a3") != text.npos;
  bool in_word = false;  // the last code point that is not ignored has a case
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (c == kSigma && is_final(text, at, in_word))
      result += "\u03c2";
    else if (c == kDottedI)
      result += "i\u0307";
    else
      append(result, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
    if (has_sigma && !is_case_ignorable(c)) in_word = is_cased(c);
  }
  return result;
}

}  // namespace

std::string Tokenizer::folded(std::string_view word) const {
  return options_.lower ? lower_case(word) : std::string(word);
}

void Tokenizer::split(std::string_view line,
                      const std::function<void(SentenceWords&)>& visit) const {
  SentenceWords words;
  const auto add = [&](std::string_view word) { words.push_back(folded(word)); };
  const auto add_visible = [&](std::string_view piece) {
    if (!is_blank(piece)) add(piece);
  };
  const auto take = [&](std::string_view sentence) {
    words.clear();
    switch (options_.words) {
      case WordBorders::blanks:
        for (const auto word : words_between_blanks(sentence)) add(word);
        break;
      case WordBorders::unicode: return split_words(sentence, add_visible);
      case WordBorders::characters: return split_characters(sentence, add_visible);
    }
  };
  if (options_.sentences == SentenceBorders::lines || is_blank(line)) {
    take(line);
    return visit(words);
  }
  split_sentences(line, [&](std::string_view sentence) {
    take(sentence);
    if (!words.empty()) visit(words);
  });
}

}  // namespace pushdown
