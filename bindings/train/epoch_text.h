// What a person reads of an epoch and of a model, and epochs as Lua values that show themselves so.
#pragma once
#include <string>

#include "bindings/binder/bind.h"
#include "train/trainer.h"

namespace pushdown {

// Returns "0.1965  +0.0700": the cross-entropy and its difference to the lower bound, if known; or
// "98.20 %", or a perplexity.
std::string measured_text(const EpochMetrics& epoch);
// Returns "epoch 5  0.1965  +0.0700  1411/s *", with a star for the best epoch so far.
std::string epoch_text(const EpochMetrics& epoch);
// Returns "lstm + nondeterministic".
std::string model_name(const SequenceModel& model);

// The metrics of an epoch, a table whose text is that of epoch_text().
struct EpochTable {
  Json metrics;
};

template <>
struct Value<EpochTable> {
  static int push(lua_State* L, const EpochTable& epoch);
};

std::vector<EpochTable> history_of(const Trainer& trainer);

}  // namespace pushdown
