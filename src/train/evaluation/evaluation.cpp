#include "train/evaluation/evaluation.h"

#include <cmath>
#include <map>

#include "base/check.h"
#include "train/evaluation/accuracy.h"
#include "train/evaluation/next_symbol_accuracy.h"

namespace pushdown {
namespace {

class Sum {
 public:
  void add(std::size_t length, double model, double source, bool predicted, bool ranked) {
    strings_.emplace_back(static_cast<double>(length), source - model);
    ++result_.strings;
    predicted_ += predicted;
    ranked_ += ranked;
    result_.symbols += static_cast<std::int64_t>(length);
    model_ += model;
    source_ += source;
  }

  CrossEntropy result(std::int64_t shortest, std::int64_t longest, bool has_source,
                      bool predicts) const {
    CrossEntropy result = result_;
    const auto symbols = static_cast<double>(result.symbols);
    result.shortest = shortest;
    result.longest = longest;
    result.cross_entropy = -model_ / symbols;
    if (has_source && std::isfinite(source_) && result.symbols > 0) {
      result.lower_bound = -source_ / symbols;
      result.difference = result.cross_entropy - *result.lower_bound;
      result.difference_error = error(*result.difference, symbols);
    }
    if (predicts) {
      const auto strings = static_cast<double>(result.strings);
      result.next_symbol_accuracy = static_cast<double>(predicted_) / strings;
      result.next_symbol_ranking = static_cast<double>(ranked_) / strings;
    }
    return result;
  }

 private:
  std::optional<double> error(double difference, double symbols) const {
    std::vector<double> residuals, of_groups;
    double last = -1;
    for (const auto& [length, more] : strings_) {
      residuals.push_back(more - difference * length);
      if (length != last) of_groups.push_back(0);
      of_groups.back() += residuals.back();
      last = length;
    }
    const auto& independent = of_groups.size() > 1 ? of_groups : residuals;
    const auto count = static_cast<double>(independent.size());
    if (count < 2) return std::nullopt;
    double squares = 0;
    for (const double residual : independent) squares += residual * residual;
    return std::sqrt(squares * count / (count - 1)) / symbols;
  }

  CrossEntropy result_;
  std::vector<std::pair<double, double>> strings_;  // length, log p_source - log p_model
  double model_ = 0, source_ = 0;
  std::int64_t predicted_ = 0, ranked_ = 0;
};

Json to_json(const CrossEntropy& value) {
  Json json{{"shortest", value.shortest},
            {"longest", value.longest},
            {"strings", value.strings},
            {"symbols", value.symbols}};
  if (value.symbols > 0) json["cross_entropy"] = value.cross_entropy;  // a bin may have only ""
  if (value.lower_bound) json["lower_bound"] = *value.lower_bound;
  if (value.difference) json["cross_entropy_difference"] = *value.difference;
  if (value.difference_error) json["difference_error"] = *value.difference_error;
  if (value.bound_includes_end) json["bound_includes_end"] = true;
  if (value.next_symbol_accuracy) json["next_symbol_accuracy"] = *value.next_symbol_accuracy;
  if (value.next_symbol_ranking) json["next_symbol_ranking"] = *value.next_symbol_ranking;
  return json;
}

}  // namespace

void check_alphabets(std::string_view where, const LanguageModel& model, const Dataset& dataset) {
  check_alphabets(where, model, dataset.alphabet());
}

std::optional<Evaluation> evaluate(const LanguageModel& model, const Dataset& dataset,
                                   const EvaluationOptions& options) {
  constexpr const char* kWhere = "train.evaluate";
  check_alphabets(kWhere, model, dataset);
  check(dataset.symbol_count() > 0, kWhere,
        "all {} strings are empty: a cross-entropy per symbol needs symbols", dataset.size());
  check(options.bin_width > 0, kWhere, "bin_width must be at least 1, got {}", options.bin_width);
  check(options.batch > 0, kWhere, "batch must be at least 1, got {}", options.batch);
  check(options.chunk >= 0, kWhere, "chunk must not be negative, got {}", options.chunk);
  at::NoGradGuard no_grad;
  const auto& words = dataset.words();
  const auto batches = equal_length_batches(dataset, options.batch);
  const bool with_trees = model.reads_trees() && dataset.has_attachments();
  check(!with_trees || options.chunk == 0, kWhere,
        "strings with trees are read as a whole; leave out chunk");
  const NextSymbols* sets = options.next_symbols.get();
  check(sets == nullptr || options.chunk == 0, kWhere,
        "the next symbols are measured on whole strings; leave out chunk");
  check(sets == nullptr || sets->size() == words.size(), kWhere,
        "the number of sets of next symbols must equal the number of strings, got {} and {}",
        sets ? sets->size() : 0, words.size());
  std::vector<double> log_probabilities(words.size());
  std::vector<char> predicted(words.size()), ranked(words.size());
  for (std::size_t i = 0; i < batches.size(); ++i) {
    if (options.should_stop && options.should_stop()) return std::nullopt;
    const Tensor batch = word_tensor(words, batches[i]);
    const auto add = [&](const Tensor& piece) {
      const Tensor values = piece.to(at::kCPU, at::kDouble).contiguous();
      for (std::size_t k = 0; k < batches[i].size(); ++k)
        log_probabilities[batches[i][k]] += values.data_ptr<double>()[k];
    };
    if (with_trees)
      add(model.tree_log_probabilities(batch, word_tensor(dataset.attachments(), batches[i]))
              .sum());
    else
      model.visit_log_probabilities(batch, options.chunk, nullptr, add);
    if (sets != nullptr) {
      const Tensor logits = model.logits(batch);
      const auto found = predicted_sets(logits, batches[i], *sets, 0);
      const double threshold = threshold_of(options.threshold, logits.size(2));
      for (std::size_t k = 0; k < batches[i].size(); ++k) {
        predicted[batches[i][k]] = found[k].contains(threshold);
        ranked[batches[i][k]] = found[k].ranked;
      }
    }
    if (options.progress)
      options.progress(static_cast<std::int64_t>(i + 1), static_cast<std::int64_t>(batches.size()));
  }

  const bool has_source = dataset.has_log_probabilities();
  const bool with_end = bound_includes_end(model, dataset, options.bound_of_strings);
  const auto* source =
      has_source ? &dataset.log_probabilities(with_end || model.end_symbol()) : nullptr;
  Sum all;
  std::map<std::int64_t, Sum> bins;
  std::size_t shortest = words.front().size(), longest = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto length = words[i].size();
    const double bound = source != nullptr ? (*source)[i] : 0;
    for (Sum* sum : {&all, &bins[static_cast<std::int64_t>(length) / options.bin_width]})
      sum->add(length, log_probabilities[i], bound, predicted[i] != 0, ranked[i] != 0);
    shortest = std::min(shortest, length);
    longest = std::max(longest, length);
  }
  Evaluation evaluation;
  evaluation.all = all.result(static_cast<std::int64_t>(shortest),
                              static_cast<std::int64_t>(longest), has_source, sets != nullptr);
  for (const auto& [bin, sum] : bins)
    evaluation.bins.push_back(sum.result(bin * options.bin_width, (bin + 1) * options.bin_width - 1,
                                         has_source, sets != nullptr));
  if (evaluation.all.lower_bound) evaluation.all.bound_includes_end = with_end;
  return evaluation;
}

bool bound_includes_end(const LanguageModel& model, const Dataset& dataset, bool of_strings) {
  return !model.end_symbol() && dataset.has_log_probabilities() &&
         (of_strings || !dataset.has_log_probabilities(false));
}

std::string bound_warning(double difference, double error, bool includes_end) {
  constexpr double kNoticeable = 0.005, kErrors = 3;
  if (difference >= -kNoticeable || difference >= -kErrors * error) return "";
  return fmt::format(
      "the cross-entropy is {:.4f} below the lower bound (standard error {:.4f}): {}", -difference,
      error,
      includes_end
          ? "the bound includes the ends of the strings, which a model with end_symbol = false "
            "does not predict, so the two are not comparable"
          : "the strings were probably not drawn from the distribution of the bound, or the model "
            "was trained on them");
}

Json to_json(const Evaluation& evaluation) {
  Json json = to_json(evaluation.all);
  json["bins"] = Json::array();
  for (const auto& bin : evaluation.bins) json["bins"].push_back(to_json(bin));
  return json;
}

}  // namespace pushdown
