// The text form of a source of pairs in a run folder. It starts with the line
//   # pairs {"kind": ..., and its options}
// followed by the data that the options do not contain: the pairs of a list, one per line
// (pair_list.h).
#pragma once
#include "task/transduction.h"

namespace pushdown {

std::string to_text(const PairSource& source);
// Parses that text. Errors read "[task.pairs] file:line: ...".
PairSourcePtr parse_pair_source(std::string_view text, const std::string& file);

}  // namespace pushdown
