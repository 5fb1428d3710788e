// "did you mean": the valid names that a wrong one was probably meant to be. Names are near by few
// edits (a letter added, left out, changed, or exchanged with its neighbour), the more of them the
// longer the name is; by being its beginning; or by its initials, as lr is of learning_rate.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace pushdown {

// The nearest names, "'states' or 'state'", for messages. Empty when none is near.
std::string nearest_names(std::string_view wanted, const std::vector<std::string>& valid);

}  // namespace pushdown
