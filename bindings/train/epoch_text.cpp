#include "bindings/train/epoch_text.h"

#include <fmt/format.h>

#include "bindings/binder/options.h"

namespace pushdown {
namespace {

std::string speed_text(double per_second) {
  return fmt::format("{:.{}f}/s", per_second, per_second < 10 ? 1 : 0);
}

std::string epoch_tostring(const Json& epoch) {
  if (epoch.contains("error")) return "failed: " + epoch["error"].get<std::string>();
  try {
    return epoch_text(epoch_metrics_from_json(epoch));
  } catch (const nlohmann::json::exception&) {
    return "epoch";  // a script has changed the table
  }
}

}  // namespace

std::string measured_text(const EpochMetrics& epoch) {
  std::string text;
  if (epoch.train_perplexity) {
    text = fmt::format("{:.4f}", *epoch.train_perplexity);
    if (epoch.fine) text += fmt::format("  {:.2f} % fine", 100 * *epoch.fine);
  } else if (epoch.train_accuracy) {
    text = fmt::format("{:.2f} %", 100 * epoch.accuracy.value_or(*epoch.train_accuracy));
  } else if (epoch.perplexity) {
    text = fmt::format("{:.2f}", *epoch.perplexity);
  } else {
    text = fmt::format("{:.4f}", epoch.cross_entropy.value_or(epoch.train_cross_entropy));
  }
  if (epoch.cross_entropy_difference)
    text += fmt::format("  {:+.4f}", *epoch.cross_entropy_difference);
  return text;
}

std::string epoch_text(const EpochMetrics& epoch) {
  return fmt::format("epoch {}  {}  {}{}", epoch.epoch, measured_text(epoch),
                     speed_text(epoch.updates_per_second), epoch.improved ? " *" : "");
}

std::string model_name(const SequenceModel& model) {
  const Json& options = model.options();
  const auto kind_of = [&](const char* part) {
    const Json row = options.value(part, Json::object());
    return row.is_object() ? row.value("kind", std::string()) : std::string();
  };
  const std::string controller = kind_of("controller"), stack = kind_of("stack");
  if (controller.empty()) return options.value("architecture", std::string("model"));
  return stack.empty() || stack == "none" ? controller : controller + " + " + stack;
}

int Value<EpochTable>::push(lua_State* L, const EpochTable& epoch) {
  Value<Json>::push(L, epoch.metrics);
  if (luaL_newmetatable(L, "pushdown.epoch") != 0) {
    lua_pushliteral(L, "tostring");
    lua_pushliteral(L, "tostring(epoch) -> string  Returns one line about the epoch.");
    lua_pushcclosure(L, bound<&epoch_tostring>().call, 2);
    lua_setfield(L, -2, "__tostring");
  }
  lua_setmetatable(L, -2);
  return 1;
}

std::vector<EpochTable> history_of(const Trainer& trainer) {
  std::vector<EpochTable> list;
  for (const auto& epoch : trainer.history()) list.push_back({to_json(epoch)});
  return list;
}

}  // namespace pushdown
