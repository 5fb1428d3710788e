// Dynamic values: null, boolean, integer, number, text, list or table (keys in order of insertion).
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace pushdown {

using Json = nlohmann::ordered_json;

// Deeper lists and tables are refused: values are copied, compared and written by functions that
// call themselves for each level.
constexpr int kDeepestJson = 256;

// Returns the value of a JSON text; discarded (see Json::is_discarded) if it is not JSON.
Json try_parse_json(std::string_view text);
// The same, but throws nlohmann's parse_error, which names the place. A name that occurs twice in
// the outermost table is an error, too, if `distinct_names`.
Json parse_json(std::string_view text, bool distinct_names = false);

// The text of an error of nlohmann's without its number: "parse error at line 1, column 2: ...".
std::string json_error(const nlohmann::json::exception& error);

}  // namespace pushdown

// One file instantiates the class and its parser: each costs every file half a second otherwise.
extern template class nlohmann::basic_json<nlohmann::ordered_map>;
