// "Did you mean" suggestions: the valid names that a wrong name was probably meant to be. A name is
// near if it takes few edits (a letter added, left out, changed, or swapped with its neighbour;
// longer names allow more edits), if the wrong name of two letters or more is a prefix of it, or if
// the wrong name consists of its initials, as lr for learning_rate.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace pushdown {

// Returns the valid names that are equally near, in their order; empty if none is near.
std::vector<std::string> names_near(std::string_view wanted, const std::vector<std::string>& valid);

// Returns the nearest names for a message, such as "'states' or 'state'"; empty if none is near.
std::string nearest_names(std::string_view wanted, const std::vector<std::string>& valid);

}  // namespace pushdown
