// How well a transducer writes (Grefenstette et al. 2015, section 4.3): with c_i the symbols of
// target i, the end included, that it writes before its first error,
//   coarse = share of pairs with c_i = |target_i|,   fine = mean of c_i / |target_i|,
// and with r_i the symbols at which it is right, given that what stands before them is the target
// (Delétang et al. 2023, whose models read nothing of the target): the share of right symbols, the
// ends not counted, and counted.
// What a transducer writes depends on what it has written, and up to the first error that is the
// target itself: one pass over the joint sequences, the most likely symbol at each place, gives the
// same as writing symbol by symbol.
#pragma once
#include <optional>

#include "model/transducer.h"
#include "task/transduction.h"
#include "train/evaluation_options.h"

namespace pushdown {

// Pairs whose source length lies in [shortest, longest].
struct TransductionAccuracy {
  std::int64_t shortest = 0, longest = 0;          // of the sources themselves, or the bin's edges
  std::int64_t pairs = 0, exact = 0, symbols = 0;  // symbols predicted, the ends included
  std::int64_t right = 0, ends = 0;                // right predictions, the ends included, and ends
  double leading = 0, loss = 0;                    // sums of c_i / |target_i| and of -log p
  double coarse() const { return static_cast<double>(exact) / static_cast<double>(pairs); }
  double fine() const { return leading / static_cast<double>(pairs); }
  double prediction_accuracy() const {
    return static_cast<double>(right) / static_cast<double>(symbols);
  }
  // Nothing where all targets are empty.
  std::optional<double> symbol_accuracy() const {
    if (symbols == pairs) return std::nullopt;
    return static_cast<double>(right - ends) / static_cast<double>(symbols - pairs);
  }
  double cross_entropy() const { return loss / static_cast<double>(symbols); }  // nats per symbol
};

struct TransductionEvaluation {
  TransductionAccuracy all;
  std::vector<TransductionAccuracy> bins;  // [k width, (k + 1) width) without the empty ones
  std::vector<std::int64_t> wrong;         // numbers of the pairs with an error, from 0
};

// Nothing when should_stop said so. std::invalid_argument: no pairs, other alphabets.
std::optional<TransductionEvaluation> evaluate(const Transducer& model,
                                               const std::vector<Pair>& pairs,
                                               const EvaluationOptions& options);

// coarse, fine, cross_entropy, perplexity, pairs, bins.
Json to_json(const TransductionEvaluation& evaluation);

// std::invalid_argument when the source's alphabets are not the model's.
void check_alphabets(std::string_view where, const Transducer& model, const PairSource& source);

}  // namespace pushdown
