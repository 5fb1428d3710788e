#include "train/evaluation.h"

#include <cmath>
#include <map>

#include "base/check.h"
#include "train/accuracy.h"

namespace pushdown {
namespace {

class Sum {
 public:
  void add(std::size_t length, double model, double source) {
    ++result_.strings;
    result_.symbols += static_cast<std::int64_t>(length);
    model_ += model;
    source_ += source;
  }

  CrossEntropy result(std::int64_t shortest, std::int64_t longest, bool has_source) const {
    CrossEntropy result = result_;
    const auto symbols = static_cast<double>(result.symbols);
    result.shortest = shortest;
    result.longest = longest;
    result.cross_entropy = -model_ / symbols;
    if (has_source && std::isfinite(source_) && result.symbols > 0) {
      result.lower_bound = -source_ / symbols;
      result.difference = result.cross_entropy - *result.lower_bound;
    }
    return result;
  }

 private:
  CrossEntropy result_;
  double model_ = 0, source_ = 0;
};

Json to_json(const CrossEntropy& value) {
  Json json{{"shortest", value.shortest},
            {"longest", value.longest},
            {"strings", value.strings},
            {"symbols", value.symbols},
            {"cross_entropy", value.cross_entropy}};
  if (value.lower_bound) json["lower_bound"] = *value.lower_bound;
  if (value.difference) json["cross_entropy_difference"] = *value.difference;
  return json;
}

}  // namespace

void check_alphabets(std::string_view where, const LanguageModel& model, const Dataset& dataset) {
  check_alphabets(where, model, dataset.alphabet());
}

std::optional<Evaluation> evaluate(const LanguageModel& model, const Dataset& dataset,
                                   const EvaluationOptions& options) {
  constexpr const char* kEvaluationPlace = "train.evaluate";
  check_alphabets(kEvaluationPlace, model, dataset);
  check(options.bin_width > 0, kEvaluationPlace, "bin_width must be at least 1, got {}",
        options.bin_width);
  check(options.batch > 0, kEvaluationPlace, "batch must be at least 1, got {}", options.batch);
  check(options.chunk >= 0, kEvaluationPlace, "chunk must not be negative, got {}", options.chunk);
  at::NoGradGuard no_grad;
  const auto& words = dataset.words();
  const auto batches = equal_length_batches(dataset, options.batch);
  std::vector<double> log_probabilities(words.size());
  for (std::size_t i = 0; i < batches.size(); ++i) {
    if (options.should_stop && options.should_stop()) return std::nullopt;
    model.visit_log_probabilities(
        word_tensor(dataset.words(), batches[i]), options.chunk, nullptr, [&](const Tensor& piece) {
          const Tensor values = piece.to(at::kCPU, at::kDouble).contiguous();
          for (std::size_t k = 0; k < batches[i].size(); ++k)
            log_probabilities[batches[i][k]] += values.data_ptr<double>()[k];
        });
    if (options.progress)
      options.progress(static_cast<std::int64_t>(i + 1), static_cast<std::int64_t>(batches.size()));
  }

  const bool has_source = dataset.has_log_probabilities();
  const auto* source = has_source ? &dataset.log_probabilities() : nullptr;
  Sum all;
  std::map<std::int64_t, Sum> bins;
  std::size_t shortest = words.front().size(), longest = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto length = words[i].size();
    const double bound = source != nullptr ? (*source)[i] : 0;
    all.add(length, log_probabilities[i], bound);
    bins[static_cast<std::int64_t>(length) / options.bin_width].add(length, log_probabilities[i],
                                                                    bound);
    shortest = std::min(shortest, length);
    longest = std::max(longest, length);
  }
  Evaluation evaluation;
  evaluation.all = all.result(static_cast<std::int64_t>(shortest),
                              static_cast<std::int64_t>(longest), has_source);
  for (const auto& [bin, sum] : bins)
    evaluation.bins.push_back(
        sum.result(bin * options.bin_width, (bin + 1) * options.bin_width - 1, has_source));
  return evaluation;
}

Json to_json(const Evaluation& evaluation) {
  Json json = to_json(evaluation.all);
  json["bins"] = Json::array();
  for (const auto& bin : evaluation.bins) json["bins"].push_back(to_json(bin));
  return json;
}

}  // namespace pushdown
