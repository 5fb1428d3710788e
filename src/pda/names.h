// The names of states and symbols in the notation of notation.h.
#pragma once
#include <string>
#include <string_view>

namespace pushdown {

// Returns the name as written in the notation: bare if possible, otherwise in quotes.
std::string pda_name_text(std::string_view name);
// Returns why `name` cannot be a state or symbol ("must not be empty"), or an empty string if it
// can.
std::string pda_name_error(std::string_view name);

}  // namespace pushdown
