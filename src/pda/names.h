// The names of states and symbols in the notation of notation.h.
#pragma once
#include <set>
#include <string>
#include <string_view>

namespace pushdown {

// Returns the name as written in the notation: bare if possible, otherwise in quotes.
std::string pda_name_text(std::string_view name);
// Returns why `name` cannot be a state or symbol ("must not be empty"), or an empty string if it
// can.
std::string pda_name_error(std::string_view name);

// Returns whether a pushed name looks like several symbols, as other notations push: the top with
// others before or behind it, or a sequence of `known` symbols.
bool looks_like_several(const std::string& pushed, const std::string& top,
                        const std::set<std::string>& known);

}  // namespace pushdown
