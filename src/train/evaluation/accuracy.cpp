#include "train/evaluation/accuracy.h"

#include <array>
#include <map>
#include <numeric>

#include "base/check.h"
#include "task/dataset.h"
#include "tensor/numbers.h"
#include "train/evaluation/length_bins.h"
#include "train/evaluation/next_symbol_accuracy.h"

namespace pushdown {
namespace {

constexpr const char* kWhere = "train.evaluate";

Json to_json(const AccuracyEvaluation& evaluation, const Accuracy& value) {
  Json json{{"shortest", value.shortest},   {"longest", value.longest},
            {"strings", value.strings},     {"positives", value.positives},
            {"missed", value.missed},       {"false_positives", value.false_positives},
            {"accuracy", value.accuracy()}, {"error", 100.0 - 100.0 * value.accuracy()}};
  if (const auto share = evaluation.prefix_accuracy(value)) json["prefix_accuracy"] = *share;
  if (const auto share = evaluation.next_symbol_accuracy(value))
    json["next_symbol_accuracy"] = *share;
  if (const auto share = evaluation.next_symbol_ranking(value))
    json["next_symbol_ranking"] = *share;
  if (const auto mean = evaluation.label_cross_entropy(value)) json["label_cross_entropy"] = *mean;
  return json;
}

// Returns -log p(label) of the answer after the last symbol for each string of a batch.
std::vector<double> label_losses(const LabelledDataset& dataset,
                                 const std::vector<std::int64_t>& batch, const Recognition& said) {
  auto losses = numbers_of(said.scores.select(1, said.scores.size(1) - 1));
  for (std::size_t k = 0; k < batch.size(); ++k) {
    // log(1 + exp(-x)) without overflow.
    const double x = dataset.labels()[batch[k]] ? losses[k] : -losses[k];
    losses[k] = std::max(-x, 0.0) + std::log1p(std::exp(-std::abs(x)));
  }
  return losses;
}

// Compares a recognizer's answers for a batch after each symbol with the symbols that may follow.
struct StepByStep {
  std::vector<bool> followed;
  std::vector<PredictedSets> predicted;
};

StepByStep step_by_step(const Recognizer& model, const LabelledDataset& dataset,
                        const std::vector<std::int64_t>& batch, const NextSymbols& sets,
                        const Recognition& said) {
  const auto length = std::ssize(dataset.words()[batch.front()]);
  const auto read = length + (model.end_symbol() ? 1 : 0);
  const auto passes = read > 0 ? (said.scores.size(1) - 1) / read : 1;
  const double limit = model.affine() ? 0.0 : 0.5;
  const Tensor answers = said.scores.gt(limit).to(at::kCPU).contiguous();  // B x (P + 1)
  StepByStep result;
  for (std::int64_t k = 0; k < std::ssize(batch); ++k) {
    const auto string = batch[k];
    const bool* answer = answers[k].data_ptr<bool>();
    bool all = answer[read * passes] == dataset.labels()[string];
    for (std::int64_t t = 1; t < read; ++t)
      all = all && answer[t * passes] == (sets[string][t] != 0);
    result.followed.push_back(all);
  }
  if (!model.predicts_next_symbol()) return result;
  // The first symbol is not predicted, nor the one after the last symbol unless the end is an
  // outcome.
  const auto steps = std::max<std::int64_t>(model.outcome_after_last() >= 0 ? read : read - 1, 0);
  const Tensor after = said.hiddens.slice(1, passes, passes + steps * passes, passes);
  result.predicted = predicted_sets(model.next_scores(after), batch, sets, 1);
  return result;
}

// Counts the correct classifications of one decision.
class Count {
 public:
  explicit Count(Decision decision) : decision_(decision) {
    all_.shortest = std::numeric_limits<std::int64_t>::max();
  }

  void add(const Recognizer& model, const LabelledDataset& dataset,
           const std::vector<std::int64_t>& batch, const Recognition& said,
           std::int64_t bin_width) {
    const Tensor decided = model.decided(said, decision_);
    const auto length = std::ssize(dataset.words()[batch.front()]);
    all_.shortest = std::min(all_.shortest, length);
    all_.longest = std::max(all_.longest, length);
    for (std::size_t k = 0; k < batch.size(); ++k) {
      const bool label = dataset.labels()[batch[k]];
      const bool right = model.agrees(decided.data_ptr<double>()[k], label, decision_);
      if (!right) wrong_.push_back(batch[k]);
      for (Accuracy* sum : sums(length, bin_width)) {
        ++sum->strings;
        sum->positives += label;
        sum->missed += label && !right;
        sum->false_positives += !label && !right;
      }
    }
  }
  // Returns the sums that strings of this length belong to.
  std::array<Accuracy*, 2> sums(std::int64_t length, std::int64_t bin_width) {
    return {&all_, &bins_[length / bin_width]};
  }
  void put_into(AccuracyEvaluation& result, std::int64_t bin_width) {
    std::sort(wrong_.begin(), wrong_.end());
    result.all = all_;
    result.wrong = wrong_;
    result.bins = in_order(bins_, bin_width);
  }

 private:
  Decision decision_;
  Accuracy all_;
  std::map<std::int64_t, Accuracy> bins_;
  std::vector<std::int64_t> wrong_;
};

void check_next_symbols(const LabelledDataset& dataset, const NextSymbols& sets) {
  check(std::ssize(sets) == dataset.size(), kWhere,
        "the number of sets of next symbols must equal the number of strings, got {} and {}",
        sets.size(), dataset.size());
  const SymbolSet end = SymbolSet{1} << dataset.alphabet().size();
  for (std::int64_t i = 0; i < dataset.size(); ++i)
    check(((sets[i].back() & end) != 0) == dataset.labels()[i], kWhere,
          "'{}' is labelled {}, which contradicts the grammar",
          dataset.alphabet().text(dataset.words()[i]), dataset.labels()[i] ? "valid" : "invalid");
}

}  // namespace

void check_alphabets(std::string_view where, const SequenceModel& model, const Alphabet& alphabet) {
  check_same_alphabet(where, "the data and the model", alphabet, model.alphabet());
}

std::optional<AccuracyEvaluation> evaluate(const Recognizer& model, const LabelledDataset& dataset,
                                           const EvaluationOptions& options,
                                           const std::vector<std::int64_t>* strings) {
  check_alphabets(kWhere, model, dataset.alphabet());
  check(options.bin_width > 0, kWhere, "bin_width must be at least 1, got {}", options.bin_width);
  check(options.batch > 0, kWhere, "batch must be at least 1, got {}", options.batch);
  std::vector<std::int64_t> all;
  if (strings == nullptr) {
    all.resize(dataset.size());
    std::iota(all.begin(), all.end(), std::int64_t{0});
    strings = &all;
  }
  check(!strings->empty(), kWhere, "there are no strings");
  at::NoGradGuard no_grad;
  const auto batches = equal_length_batches(dataset.words(), *strings, options.batch);
  AccuracyEvaluation result;
  result.follows = options.next_symbols != nullptr;
  result.predicts = result.follows && model.predicts_next_symbol();
  result.probable = model.affine();
  if (result.follows) check_next_symbols(dataset, *options.next_symbols);
  std::vector<Count> counts;
  counts.emplace_back(options.decision.value_or(model.decision()));
  for (const Decision decision : options.decisions) counts.emplace_back(decision);
  result.predicted.resize(result.predicts ? options.thresholds.size() : 0);
  const auto outcomes = result.predicts ? model.next_bias().size(0) : 0;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    if (options.should_stop && options.should_stop()) return std::nullopt;
    const Recognition said = model.run(word_tensor(dataset.words(), batches[i]));
    const auto length = std::ssize(dataset.words()[batches[i].front()]);
    for (Count& count : counts) count.add(model, dataset, batches[i], said, options.bin_width);
    if (result.probable)
      for (const double loss : label_losses(dataset, batches[i], said))
        for (Accuracy* sum : counts.front().sums(length, options.bin_width))
          sum->label_loss += loss;
    if (result.follows) {
      const auto steps = step_by_step(model, dataset, batches[i], *options.next_symbols, said);
      const double threshold = result.predicts ? threshold_of(options.threshold, outcomes) : 0;
      for (std::size_t k = 0; k < batches[i].size(); ++k) {
        const bool counts_as_set = result.predicts && dataset.labels()[batches[i][k]];
        for (Accuracy* sum : counts.front().sums(length, options.bin_width)) {
          sum->followed += steps.followed[k];
          sum->predicted += counts_as_set && steps.predicted[k].contains(threshold);
          sum->ranked += counts_as_set && steps.predicted[k].ranked;
        }
        for (std::size_t j = 0; j < result.predicted.size(); ++j)
          result.predicted[j] += counts_as_set && steps.predicted[k].contains(threshold_of(
                                                      options.thresholds[j], outcomes));
      }
    }
    if (options.progress)
      options.progress(static_cast<std::int64_t>(i + 1), static_cast<std::int64_t>(batches.size()));
  }
  counts.front().put_into(result, options.bin_width);
  for (std::size_t d = 1; d < counts.size(); ++d)
    counts[d].put_into(result.decided.emplace_back(), options.bin_width);
  return result;
}

Json to_json(const AccuracyEvaluation& evaluation) {
  Json json = to_json(evaluation, evaluation.all);
  json["bins"] = Json::array();
  for (const auto& bin : evaluation.bins) json["bins"].push_back(to_json(evaluation, bin));
  if (evaluation.all.positives > 0)
    for (const auto predicted : evaluation.predicted)
      json["next_symbol_accuracies"].push_back(static_cast<double>(predicted) /
                                               static_cast<double>(evaluation.all.positives));
  return json;
}

std::optional<double> AccuracyEvaluation::prefix_accuracy(const Accuracy& of) const {
  if (!follows) return std::nullopt;
  return static_cast<double>(of.followed) / static_cast<double>(of.strings);
}

std::optional<double> AccuracyEvaluation::next_symbol_accuracy(const Accuracy& of) const {
  if (!predicts || of.positives == 0) return std::nullopt;
  return static_cast<double>(of.predicted) / static_cast<double>(of.positives);
}

std::optional<double> AccuracyEvaluation::next_symbol_ranking(const Accuracy& of) const {
  if (!predicts || of.positives == 0) return std::nullopt;
  return static_cast<double>(of.ranked) / static_cast<double>(of.positives);
}

std::optional<double> AccuracyEvaluation::label_cross_entropy(const Accuracy& of) const {
  if (!probable) return std::nullopt;
  return of.label_loss / static_cast<double>(of.strings);
}

}  // namespace pushdown
