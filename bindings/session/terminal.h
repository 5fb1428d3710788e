// The terminal of a standard stream, and text that is laid out for its width. The module and the
// shell share this file.
#pragma once
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace pushdown {

// Returns the number of columns of a terminal, 80 if the terminal does not report it, or 0 if the
// file is not a terminal.
inline int terminal_columns(int file) {
  if (::isatty(file) == 0) return 0;
  winsize size{};
  return ::ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// Returns the number of rows of a terminal, or 0 if the file is not a terminal or does not report
// it.
inline int terminal_rows(int file) {
  winsize size{};
  return ::isatty(file) != 0 && ::ioctl(file, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

inline std::size_t count_columns(std::string_view text) {
  std::size_t columns = 0;
  for (const char c : text)
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ++columns;
  return columns;
}

// Returns the text with lines of more than `width` columns broken at blanks. A continuation line
// has the indentation of its line plus `indent`. Longer words stay whole, and with a width of 0 no
// line is broken. Each character counts as one column.
inline std::string wrapped(std::string_view text, int width, std::size_t indent = 2) {
  if (width <= 0) return std::string(text);
  const auto room = static_cast<std::size_t>(width);
  std::string result;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const auto margin = std::min(line.find_first_not_of(' '), line.size());
    const std::string start(std::min(margin + indent, room / 2), ' ');
    std::size_t column = 0;
    for (std::size_t i = 0; i < line.size();) {
      const auto word = std::min(line.find_first_not_of(' ', i), line.size());
      const auto word_end = std::min(line.find(' ', word), line.size());
      const auto length = count_columns(line.substr(word, word_end - word));
      if (i > 0 && column + (word - i) + length > room) {
        if (word < line.size()) result += '\n' + start;
        column = start.size();
      } else {
        result.append(word - i, ' ');
        column += word - i;
      }
      result += line.substr(word, word_end - word);
      column += length;
      i = word_end;
    }
    if (end < text.size()) result += '\n';
    begin = end + 1;
  }
  return result;
}

}  // namespace pushdown
