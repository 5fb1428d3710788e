#include "train/records/metrics.h"

#include <cmath>

namespace pushdown {
namespace {

// Visits every member once, for both directions of the conversion.
template <class Metrics, class Visit>
void for_each_member(Metrics& m, Visit visit) {
  visit("epoch", m.epoch);
  visit("updates", m.updates);
  visit("train_cross_entropy", m.train_cross_entropy);
  visit("train_loss", m.train_loss);
  visit("train_accuracy", m.train_accuracy);
  visit("accuracy", m.accuracy);
  visit("label_cross_entropy", m.label_cross_entropy);
  visit("prefix_accuracy", m.prefix_accuracy);
  visit("next_symbol_accuracy", m.next_symbol_accuracy);
  visit("next_symbol_ranking", m.next_symbol_ranking);
  visit("train_perplexity", m.train_perplexity);
  visit("train_coarse", m.train_coarse);
  visit("train_fine", m.train_fine);
  visit("coarse", m.coarse);
  visit("fine", m.fine);
  visit("cross_entropy", m.cross_entropy);
  visit("perplexity", m.perplexity);
  visit("lower_bound", m.lower_bound);
  visit("cross_entropy_difference", m.cross_entropy_difference);
  visit("gradient_norm", m.gradient_norm);
  visit("learning_rate", m.learning_rate);
  visit("used_learning_rate", m.used_learning_rate);
  visit("seconds", m.seconds);
  visit("updates_per_second", m.updates_per_second);
  visit("improved", m.improved);
  visit("best_epoch", m.best_epoch);
  visit("best_cross_entropy", m.best_cross_entropy);
  visit("best_accuracy", m.best_accuracy);
  visit("epochs_since_improvement", m.epochs_since_improvement);
}

struct Writer {
  Json& json;
  void operator()(const char* key, const std::optional<double>& value) const {
    if (value) (*this)(key, *value);
  }
  void operator()(const char* key, double value) const {
    if (std::isfinite(value)) json[key] = value;
  }
  void operator()(const char* key, std::int64_t value) const { json[key] = value; }
  void operator()(const char* key, bool value) const { json[key] = value; }
};

struct Reader {
  const Json& json;
  void operator()(const char* key, std::optional<double>& value) const {
    if (json.contains(key)) value = json.at(key).get<double>();
  }
  void operator()(const char* key, double& value) const {
    if (json.contains(key)) value = json.at(key).get<double>();
  }
  template <class T>
  void operator()(const char* key, T& value) const {
    value = json.at(key).get<T>();
  }
};

}  // namespace

std::optional<double> diverged_loss(const EpochMetrics& epoch) {
  constexpr double kDiverged = 1e6;
  double greatest = 0;
  for (const double loss :
       {epoch.train_cross_entropy, epoch.train_loss, epoch.cross_entropy.value_or(0)})
    if (loss > greatest) greatest = loss;  // not for NaN
  return greatest > kDiverged ? std::optional(greatest) : std::nullopt;
}

Json to_json(const UpdateMetrics& metrics) {
  Json json{{"event", "update"},
            {"epoch", metrics.epoch},
            {"update", metrics.update},
            {"loss", metrics.loss},
            {"gradient_norm", metrics.gradient_norm},
            {"learning_rate", metrics.learning_rate}};
  if (metrics.used_learning_rate) json["used_learning_rate"] = *metrics.used_learning_rate;
  return json;
}

Json to_json(const EpochMetrics& metrics) {
  Json json{{"event", "epoch"}};
  for_each_member(metrics, Writer{json});
  if (metrics.stage) json["stage"] = *metrics.stage;
  if (metrics.train_accuracy) json["symbols"] = metrics.symbols;
  if (metrics.bound_includes_end) json["bound_includes_end"] = true;
  return json;
}

EpochMetrics epoch_metrics_from_json(const Json& json) {
  EpochMetrics metrics;
  for_each_member(metrics, Reader{json});
  if (json.contains("stage")) metrics.stage = json.at("stage").get<std::int64_t>();
  metrics.bound_includes_end = json.value("bound_includes_end", false);
  metrics.symbols = json.value("symbols", metrics.symbols);
  return metrics;
}

std::string epoch_line(const EpochMetrics& epoch) {
  std::string text = fmt::format("epoch {}: ", epoch.epoch);
  if (epoch.train_perplexity) {
    text += fmt::format("training perplexity {:.4f}", *epoch.train_perplexity);
    const auto accuracies = [&](const char* of, const auto& coarse, const auto& fine) {
      if (coarse) text += fmt::format(", {} {:.3f} coarse {:.3f} fine", of, *coarse, *fine);
    };
    accuracies("training", epoch.train_coarse, epoch.train_fine);
    accuracies("test", epoch.coarse, epoch.fine);
  } else if (epoch.train_accuracy) {
    if (epoch.accuracy)
      text += fmt::format("{:.2f} % correctly classified, ", 100 * *epoch.accuracy);
    text += fmt::format("{:.2f} % of the training strings, loss {:.4f}",
                        100 * *epoch.train_accuracy, epoch.train_loss);
  } else if (epoch.cross_entropy)
    text += epoch.perplexity ? fmt::format("perplexity {:.2f}", *epoch.perplexity)
                             : fmt::format("cross-entropy {:.4f}", *epoch.cross_entropy);
  else
    text += fmt::format("training cross-entropy {:.4f}", epoch.train_cross_entropy);
  if (epoch.next_symbol_accuracy)
    text += fmt::format(", all next symbols {:.2f} % ({:.2f} % ranked)",
                        100 * *epoch.next_symbol_accuracy, 100 * *epoch.next_symbol_ranking);
  if (epoch.prefix_accuracy)
    text += fmt::format(", all prefixes {:.2f} %", 100 * *epoch.prefix_accuracy);
  if (epoch.cross_entropy_difference)
    text += fmt::format(", {:.4f} {} the lower bound{}", std::abs(*epoch.cross_entropy_difference),
                        *epoch.cross_entropy_difference < 0 ? "below" : "above",
                        epoch.bound_includes_end ? " with ends" : "");
  text += fmt::format(", {:.0f} updates/s, learning rate {:.3g}", epoch.updates_per_second,
                      epoch.used_learning_rate.value_or(epoch.learning_rate));
  if (epoch.improved) text += ", best so far";
  return text;
}

}  // namespace pushdown
