// The text form shared by all datasets: a title line, a line with the alphabet, then one string per
// line after a field:
//
//   # pushdown data set 1
//   # alphabet ( ) [ ]
//   FIELD<TAB>( [ ] ( ) )
//
// Symbols are separated by blanks; if nothing follows the tab, the string is empty. Lines end in \n
// or \r\n.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "grammar/alphabet.h"

namespace pushdown {

struct RowFormat {
  std::string_view where;  // start of messages
  std::string_view title;  // the first line
  std::string_view kind;   // "a dataset"
  std::string_view field;  // "a logarithm"
};

// `place` is file:line for messages; called once per line, before the string of the line is read.
using ReadField = std::function<void(const std::string& place, std::string_view field)>;

// Errors (std::invalid_argument) read "[where] file:line: ...". There is at least one string.
std::pair<Alphabet, std::vector<Word>> parse_rows(const RowFormat& format, std::string_view text,
                                                  std::string_view file, const ReadField& read);

// Returns the two header lines.
std::string rows_head(const RowFormat& format, const Alphabet& alphabet);

}  // namespace pushdown
