#include "base/json.h"

template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace pushdown {

Json try_parse_json(std::string_view text) { return Json::parse(text, nullptr, false); }

Json parse_json(std::string_view text) { return Json::parse(text); }

}  // namespace pushdown
