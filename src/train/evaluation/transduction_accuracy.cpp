#include "train/evaluation/transduction_accuracy.h"

#include <cmath>
#include <numeric>

#include "base/check.h"
#include "train/evaluation/length_bins.h"

namespace pushdown {
namespace {

Json to_json(const TransductionAccuracy& value) {
  Json json{{"shortest", value.shortest},
            {"longest", value.longest},
            {"pairs", value.pairs},
            {"coarse", value.coarse()},
            {"fine", value.fine()},
            {"prediction_accuracy", value.prediction_accuracy()},
            {"cross_entropy", value.cross_entropy()},
            {"perplexity", std::exp(value.cross_entropy())}};
  if (const auto accuracy = value.symbol_accuracy()) json["symbol_accuracy"] = *accuracy;
  return json;
}

}  // namespace

void check_alphabets(std::string_view where, const Transducer& model, const PairSource& source) {
  check_same_alphabet(where, "the sources of the data and of the model", source.source_alphabet(),
                      model.alphabet());
  check_same_alphabet(where, "the targets of the data and of the model", source.target_alphabet(),
                      model.target_alphabet());
}

std::optional<TransductionEvaluation> evaluate(const Transducer& model,
                                               const std::vector<Pair>& pairs,
                                               const EvaluationOptions& options) {
  constexpr const char* kWhere = "train.evaluate";
  check(!pairs.empty(), kWhere, "there are no pairs");
  check(options.bin_width > 0, kWhere, "bin_width must be at least 1, got {}", options.bin_width);
  check(options.batch > 0, kWhere, "batch must be at least 1, got {}", options.batch);
  at::NoGradGuard no_grad;
  // Batches of similar lengths need little padding.
  std::vector<std::size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto length = [&](std::size_t i) {
    return pairs[i].source.size() + pairs[i].target.size();
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return length(a) < length(b); });
  TransductionEvaluation result;
  result.all.shortest = std::numeric_limits<std::int64_t>::max();
  std::map<std::int64_t, TransductionAccuracy> bins;
  const auto step = static_cast<std::size_t>(options.batch);
  const auto batches = static_cast<std::int64_t>((pairs.size() + step - 1) / step);
  for (std::size_t first = 0; first < order.size(); first += step) {
    if (options.should_stop && options.should_stop()) return std::nullopt;
    const auto end = std::min(first + step, order.size());
    std::vector<Word> sources, targets;
    for (auto i = first; i < end; ++i) {
      sources.push_back(pairs[order[i]].source);
      targets.push_back(pairs[order[i]].target);
    }
    const JointBatch batch = model.joint(sources, targets);
    const Tensor logits = model.logits(batch).to(at::kCPU, at::kDouble);
    const Tensor right = (logits.argmax(1) == batch.targets).contiguous();
    const Tensor losses =
        -logits.log_softmax(1).gather(1, batch.targets.unsqueeze(1)).squeeze(1).contiguous();
    const bool* said = right.data_ptr<bool>();
    const double* loss = losses.data_ptr<double>();
    for (auto i = first; i < end; ++i) {
      const auto count = batch.predictions[i - first];
      const auto leading = std::find(said, said + count, false) - said;
      const auto source = static_cast<std::int64_t>(pairs[order[i]].source.size());
      result.all.shortest = std::min(result.all.shortest, source);
      result.all.longest = std::max(result.all.longest, source);
      if (leading < count) result.wrong.push_back(static_cast<std::int64_t>(order[i]));
      for (TransductionAccuracy* sum : {&result.all, &bins[source / options.bin_width]}) {
        ++sum->pairs;
        sum->exact += leading == count;
        sum->symbols += count;
        sum->right += std::count(said, said + count, true);
        if (!model.along()) {
          ++sum->ended;
          sum->ends += said[count - 1];
        }
        sum->leading += count == 0 ? 1 : static_cast<double>(leading) / static_cast<double>(count);
        sum->loss += std::accumulate(loss, loss + count, 0.0);
      }
      said += count;
      loss += count;
    }
    if (options.progress)
      options.progress(static_cast<std::int64_t>((end + step - 1) / step), batches);
  }
  std::sort(result.wrong.begin(), result.wrong.end());
  result.bins = in_order(bins, options.bin_width);
  return result;
}

Json to_json(const TransductionEvaluation& evaluation) {
  Json json = to_json(evaluation.all);
  json["bins"] = Json::array();
  for (const auto& bin : evaluation.bins) json["bins"].push_back(to_json(bin));
  return json;
}

}  // namespace pushdown
