// A source of pairs as the text that a run folder keeps: a first line
//   # pairs {"kind": ..., and its options}
// and behind it what the options do not hold: the pairs of a list, one a line (pair_list.h).
#pragma once
#include "task/transduction.h"

namespace pushdown {

std::string to_text(const PairSource& source);
// Back. Errors read "[task.pairs] file:line: ...".
PairSourcePtr parse_pair_source(std::string_view text, const std::string& file);

}  // namespace pushdown
