// The characters of a text as a terminal shows them.
#pragma once
#include <string>
#include <string_view>

namespace pushdown {

// What fills one or more columns of a terminal.
struct Glyph {
  std::size_t end;    // of its bytes in the text
  int width;          // in columns
  std::string shown;  // ASCII to write instead of text that moves the cursor or is invisible
};

// Returns the glyph that begins at this place, which is `column` columns behind the beginning of
// the line: a code point and those that combine with it.
Glyph glyph_at(std::string_view text, std::size_t place, int column);
// Returns the columns of a part of a line, which begins at this column.
int width_between(std::string_view text, std::size_t begin, std::size_t end, int column = 0);
// Returns the end of the character as a person sees it, which may have several glyphs.
std::size_t character_end(std::string_view text, std::size_t place);

}  // namespace pushdown
