// Dynamic values: null, boolean, integer, number, text, list or table (keys in order of insertion).
#pragma once
#include <nlohmann/json.hpp>
#include <string_view>

namespace pushdown {

using Json = nlohmann::ordered_json;

// Returns the value of a JSON text; discarded (see Json::is_discarded) if it is not JSON.
Json try_parse_json(std::string_view text);
// The same, but throws nlohmann's parse_error, which names the place.
Json parse_json(std::string_view text);

}  // namespace pushdown

// One file instantiates the class and its parser: each costs every file half a second otherwise.
extern template class nlohmann::basic_json<nlohmann::ordered_map>;
