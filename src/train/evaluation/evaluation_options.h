// Options for evaluating a model on a dataset.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "model/recognizer.h"
#include "task/next_symbols.h"

namespace pushdown {

struct EvaluationOptions {
  std::int64_t batch = 10;
  std::int64_t bin_width = 10;  // symbols
  // Whether the lower bound of a language model without an end symbol is that of whole strings, as
  // in DuSell and Chiang (2020), although the model does not predict their ends.
  bool bound_of_strings = false;
  std::int64_t chunk = 0;  // longer strings are read in pieces of this many symbols; 0: never
  std::optional<Decision> decision = std::nullopt;  // for a recognizer, instead of its own
  // For each string, the symbols that may follow its prefixes, to evaluate predicted sets of next
  // symbols. A symbol is predicted if its probability is above the threshold (0: half of the
  // uniform probability).
  NextSymbolsPtr next_symbols = nullptr;
  double threshold = 0;
  // For a recognizer, additional evaluations of the same answers: other decisions and, if the next
  // symbols are known, the fraction of sets that other thresholds predict.
  std::vector<Decision> decisions = {};
  std::vector<double> thresholds = {};
  // For a running text, the number of pieces after which the model discards the part of its state
  // that grows; 0: never.
  std::int64_t stack_chunks = 4;
  // Called before every batch; if it returns true, the evaluation ends without a result.
  std::function<bool()> should_stop = nullptr;
  std::function<void(std::int64_t done, std::int64_t batches)> progress = nullptr;
};

}  // namespace pushdown
