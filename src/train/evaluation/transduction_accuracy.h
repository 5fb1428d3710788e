// The accuracy of a transducer (Grefenstette et al. 2015, section 4.3): with c_i the number of
// symbols of target i, including the end, that it writes before its first error,
//   coarse = share of pairs with c_i = |target_i|,   fine = mean of c_i / |target_i|.
// With r_i the number of symbols that it predicts correctly given the correct preceding symbols of
// the target (Delétang et al. 2023, whose models read nothing of the target), it also gives the
// fraction of correct symbols, with and without the ends. What a transducer writes depends on what
// it has written before, which up to the first error is the target itself. One pass over the joint
// sequences, taking the most likely symbol at each position, therefore gives the same result as
// writing symbol by symbol.
#pragma once
#include <optional>

#include "model/transducer.h"
#include "task/transduction.h"
#include "train/evaluation/evaluation_options.h"

namespace pushdown {

// Counts over the pairs whose source length is in [shortest, longest].
struct TransductionAccuracy {
  std::int64_t shortest = 0, longest = 0;          // of the sources themselves, or the bin's edges
  std::int64_t pairs = 0, exact = 0, symbols = 0;  // symbols predicted, including the ends
  std::int64_t right = 0, ends = 0;                // correct predictions, including ends; ends
  std::int64_t ended = 0;                          // targets whose end has to be predicted
  double leading = 0, loss = 0;                    // sums of c_i / |target_i| and of -log p
  double coarse() const { return static_cast<double>(exact) / static_cast<double>(pairs); }
  double fine() const { return leading / static_cast<double>(pairs); }
  double prediction_accuracy() const {
    return static_cast<double>(right) / static_cast<double>(symbols);
  }
  // Nothing if all targets are empty.
  std::optional<double> symbol_accuracy() const {
    if (symbols == ended) return std::nullopt;
    return static_cast<double>(right - ends) / static_cast<double>(symbols - ended);
  }
  double cross_entropy() const { return loss / static_cast<double>(symbols); }  // nats per symbol
};

struct TransductionEvaluation {
  TransductionAccuracy all;
  std::vector<TransductionAccuracy> bins;  // [k width, (k + 1) width), without empty bins
  std::vector<std::int64_t> wrong;         // indices of the pairs with an error, from 0
};

// Returns nothing if should_stop returned true. Throws std::invalid_argument for no pairs or other
// alphabets.
std::optional<TransductionEvaluation> evaluate(const Transducer& model,
                                               const std::vector<Pair>& pairs,
                                               const EvaluationOptions& options);

// Returns coarse, fine, cross_entropy, perplexity, pairs, bins.
Json to_json(const TransductionEvaluation& evaluation);

// Throws std::invalid_argument if the source's alphabets are not the model's.
void check_alphabets(std::string_view where, const Transducer& model, const PairSource& source);

}  // namespace pushdown
