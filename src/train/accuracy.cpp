#include "train/accuracy.h"

#include <numeric>

#include "base/check.h"
#include "task/dataset.h"
#include "train/length_bins.h"

namespace pushdown {
namespace {

Json to_json(const Accuracy& value) {
  return {{"shortest", value.shortest},   {"longest", value.longest},
          {"strings", value.strings},     {"positives", value.positives},
          {"missed", value.missed},       {"false_positives", value.false_positives},
          {"accuracy", value.accuracy()}, {"error", 100.0 - 100.0 * value.accuracy()}};
}

}  // namespace

void check_alphabets(std::string_view where, const SequenceModel& model, const Alphabet& alphabet) {
  if (model.alphabet() == alphabet) return;
  fail(where, "the data's alphabet {} is not the model's, {}", quoted_list(alphabet.symbols()),
       quoted_list(model.alphabet().symbols()));
}

std::optional<AccuracyEvaluation> evaluate(const Recognizer& model, const LabelledDataset& dataset,
                                           const EvaluationOptions& options,
                                           const std::vector<std::int64_t>* strings) {
  constexpr const char* kAccuracyPlace = "train.evaluate";
  check_alphabets(kAccuracyPlace, model, dataset.alphabet());
  check(options.bin_width > 0, kAccuracyPlace, "bin_width must be at least 1, got {}",
        options.bin_width);
  check(options.batch > 0, kAccuracyPlace, "batch must be at least 1, got {}", options.batch);
  std::vector<std::int64_t> all;
  if (strings == nullptr) {
    all.resize(static_cast<std::size_t>(dataset.size()));
    std::iota(all.begin(), all.end(), std::int64_t{0});
    strings = &all;
  }
  check(!strings->empty(), kAccuracyPlace, "there are no strings");
  at::NoGradGuard no_grad;
  const Decision decision = options.decision.value_or(model.decision());
  const auto batches = equal_length_batches(dataset.words(), *strings, options.batch);
  AccuracyEvaluation result;
  std::map<std::int64_t, Accuracy> bins;
  result.all.shortest = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < batches.size(); ++i) {
    if (options.should_stop && options.should_stop()) return std::nullopt;
    const Tensor scores = model.decisions(word_tensor(dataset.words(), batches[i]), decision)
                              .to(at::kCPU, at::kDouble)
                              .contiguous();
    const auto length = static_cast<std::int64_t>(dataset.words()[batches[i].front()].size());
    result.all.shortest = std::min(result.all.shortest, length);
    result.all.longest = std::max(result.all.longest, length);
    for (std::size_t k = 0; k < batches[i].size(); ++k) {
      const auto index = batches[i][k];
      const bool label = dataset.labels()[static_cast<std::size_t>(index)];
      const bool said = scores.data_ptr<double>()[k] > model.threshold(decision);
      if (said != label) result.wrong.push_back(index);
      for (Accuracy* sum : {&result.all, &bins[length / options.bin_width]}) {
        ++sum->strings;
        sum->positives += label;
        sum->missed += label && !said;
        sum->false_positives += said && !label;
      }
    }
    if (options.progress)
      options.progress(static_cast<std::int64_t>(i + 1), static_cast<std::int64_t>(batches.size()));
  }
  std::sort(result.wrong.begin(), result.wrong.end());
  result.bins = in_order(bins, options.bin_width);
  return result;
}

Json to_json(const AccuracyEvaluation& evaluation) {
  Json json = to_json(evaluation.all);
  json["bins"] = Json::array();
  for (const auto& bin : evaluation.bins) json["bins"].push_back(to_json(bin));
  return json;
}

}  // namespace pushdown
