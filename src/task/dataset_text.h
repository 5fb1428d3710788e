// Datasets as text, one string per line:
//
//   # pushdown data set 1
//   # alphabet ( ) [ ]
//   -12.25<TAB>( [ ] ( ) )
//
// The first field is the natural logarithm of the string's probability, or `-` if it is not known
// (then for every string). A second number after a blank is that of the symbols without the end of
// the string (dataset.h), if it was computed. A string with a tree has @ and the attachments of its
// symbols at the end of the field, counted from 0: `-12.25@0,0,2,1`. Symbols are separated by
// blanks; if nothing follows the tab, the string is empty. Lines end in \n or \r\n.
#pragma once
#include <string>
#include <string_view>

#include "task/dataset.h"

namespace pushdown {

// Computes the log-probabilities of the strings if they are known but not computed yet. The text
// parses to the same dataset, to the last bit of the log-probabilities.
std::string to_text(const Dataset& dataset);
// Errors (std::invalid_argument) read "[dataset.load] file:line: ...".
Dataset parse_dataset(std::string_view text, std::string_view file);

}  // namespace pushdown
