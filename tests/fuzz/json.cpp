#include "base/json.h"

#include "fuzz/fuzz.h"

namespace pushdown {

FUZZ_TARGET(json) {
  const Json value = try_parse_json(bytes);
  try {
    const Json strict = parse_json(bytes);
    fuzz::require(!value.is_discarded() && strict == value, "two readers, two values");
    fuzz::require(parse_json(strict.dump()) == strict, "read back differently");
  } catch (const nlohmann::json::exception&) {
    fuzz::require(value.is_discarded(), "one reader takes what the other refuses");
  }
  try {
    parse_json(bytes, true);
  } catch (const nlohmann::json::exception&) {
  }
}

}  // namespace pushdown
