#include "train/records/metrics.h"

#include "fuzz/fuzz.h"

namespace pushdown {

FUZZ_TARGET(metrics) {
  const Json json = try_parse_json(bytes);
  if (json.is_discarded()) return;
  try {
    const EpochMetrics metrics = epoch_metrics_from_json(json);
    fuzz::require(to_json(epoch_metrics_from_json(to_json(metrics))) == to_json(metrics),
                  "read back differently");
  } catch (const nlohmann::json::exception&) {
  }
}

}  // namespace pushdown
