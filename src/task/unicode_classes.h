// The properties of code points that the borders of words and sentences depend on (UAX #29). The
// library utf8proc knows the category of a code point and whether it extends the one before;
// most classes follow from these, and a table of this file has the rest. Its code points are those
// of Unicode 15, the categories those of the installed utf8proc.
#pragma once
#include <cstdint>
#include <string_view>

namespace pushdown {

// Word_Break, with the names of the standard. `letter` is its ALetter.
enum class WordClass : std::uint8_t {
  none,  // no code point: before the text and after it
  other,
  cr,
  lf,
  newline,
  extend,
  zwj,
  format,
  regional,
  katakana,
  hebrew,
  letter,
  single_quote,
  double_quote,
  mid_letter,
  mid_num_let,
  mid_num,
  numeric,
  extend_num_let,
  space,
};
WordClass word_class(char32_t c);

// Sentence_Break, with the names of the standard. `letter` is its OLetter, a letter without case.
enum class SentenceClass : std::uint8_t {
  none,
  other,
  cr,
  lf,
  sep,
  extend,
  format,
  space,
  lower,
  upper,
  letter,
  numeric,
  a_term,
  s_term,
  s_continue,
  close,
};
SentenceClass sentence_class(char32_t c);

bool is_pictographic(char32_t c);    // Extended_Pictographic: emoji and the like
bool is_cased(char32_t c);           // has a lower or upper case (Cased)
bool is_case_ignorable(char32_t c);  // does not separate letters of a word (Case_Ignorable)
bool is_invisible(char32_t c);       // white space, control and format characters

// Returns the code point of the UTF-8 text at `at` and moves `at` behind it. A byte that is not
// part of well-formed UTF-8 is U+FFFD.
char32_t next_code_point(std::string_view text, std::size_t& at);

}  // namespace pushdown
