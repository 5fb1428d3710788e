// Dynamic values: null, boolean, integer, number, text, list or table (keys in insertion order).
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace pushdown {

using Json = nlohmann::ordered_json;

// Maximum nesting depth. Values are copied, compared and written by recursive functions, so deeper
// lists and tables are rejected.
constexpr int kDeepestJson = 256;

// Returns the value of a JSON text, or a discarded value (see Json::is_discarded) if it is not
// JSON.
Json try_parse_json(std::string_view text);
// Returns the value of a JSON text. Throws nlohmann's parse_error, which names the place, if it is
// not JSON. If `distinct_names`, a duplicate name in the outermost table is an error, too.
Json parse_json(std::string_view text, bool distinct_names = false);

// Returns the text of an nlohmann error without its number: "parse error at line 1, column 2: ...".
std::string json_error(const nlohmann::json::exception& error);

}  // namespace pushdown

// Only one file instantiates the class and its parser; otherwise each file would take half a second
// longer to compile.
extern template class nlohmann::basic_json<nlohmann::ordered_map>;
