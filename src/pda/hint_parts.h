// The parts of an automaton that are hints of their own. A file of hints that says `parts()`
// describes a whole automaton with its dead states; the hint NAME/PART is a part of it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "pda/pda.h"

namespace pushdown {

struct HintPart {
  const char* name;
  const char* doc;  // "only the transitions that push"
};
const std::vector<HintPart>& hint_parts();
// Returns the part that a name ends in, as 'an_bn/whole' does; null for other names.
const HintPart* hint_part(std::string_view name);

// Returns the transitions of the part. Only the whole specifies acceptance, and only dead_states
// has the dead states.
PdaSource part_of(PdaSource source, const HintPart& part);

}  // namespace pushdown
