#include "base/json.h"

#include <fmt/format.h>

#include <set>

template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace pushdown {
namespace {

// Returns the position of the bracket that opens level kDeepestJson + 1, or npos. In invalid JSON
// the count may be wrong after the position where the parser stops.
std::size_t too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepestJson) return i;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return text.npos;
}

[[noreturn]] void fail_to_parse(std::size_t place, const std::string& what) {
  throw nlohmann::json::parse_error::create(101, place, what, nullptr);
}

}  // namespace

Json try_parse_json(std::string_view text) {
  if (too_deep(text) != text.npos) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, false);
}

Json parse_json(std::string_view text, bool distinct_names) {
  if (const auto place = too_deep(text); place != text.npos)
    fail_to_parse(place + 1,
                  fmt::format("lists and tables are nested more than {} deep", kDeepestJson));
  if (!distinct_names) return Json::parse(text);
  std::set<std::string> names;
  return Json::parse(text, [&](int depth, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::key && depth == 1 &&
        !names.insert(value.get<std::string>()).second)
      fail_to_parse(0, fmt::format("the name '{}' occurs twice", value.get<std::string>()));
    return true;
  });
}

std::string json_error(const nlohmann::json::exception& error) {
  const std::string_view text = error.what();
  const auto end = text.starts_with("[json.exception.") ? text.find("] ") : text.npos;
  return std::string(end == text.npos ? text : text.substr(end + 2));
}

}  // namespace pushdown
