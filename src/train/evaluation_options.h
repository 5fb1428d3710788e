// How a model is measured on a data set.
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
  std::int64_t chunk = 0;       // longer strings are read in pieces of so many symbols; 0: never
  std::optional<Decision> decision = std::nullopt;  // of a recognizer, in place of its own
  // For each string the symbols that may follow its prefixes, where whole sets of next symbols are
  // measured; a symbol is predicted if its probability is above the threshold (0: half of the
  // uniform one).
  NextSymbolsPtr next_symbols = nullptr;
  double threshold = 0;
  // Of a recognizer, measured beside these on the same answers: other decisions, and with the next
  // symbols known the share of its sets that each of other thresholds predicts.
  std::vector<Decision> decisions = {};
  std::vector<double> thresholds = {};
  // Of a running text: pieces after which the model gives up what grows; 0: never.
  std::int64_t stack_chunks = 4;
  // Asked before every batch; true ends the evaluation without a result.
  std::function<bool()> should_stop = nullptr;
  std::function<void(std::int64_t done, std::int64_t batches)> progress = nullptr;
};

}  // namespace pushdown
