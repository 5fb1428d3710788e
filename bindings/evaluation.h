// Measuring models as Lua sees it: pd.train.evaluate.
#pragma once
#include <variant>

#include "bindings/dataset.h"
#include "bindings/grammar.h"
#include "bindings/labelled.h"
#include "bindings/model.h"
#include "bindings/options.h"
#include "bindings/pairs.h"
#include "bindings/running_text.h"
#include "bindings/sentences.h"
#include "train/problem_kinds.h"

namespace pushdown {

// A model of any kind, and data of its kind.
using AnyModel =
    std::variant<std::shared_ptr<LanguageModel>, std::shared_ptr<Recognizer>, TransducerPtr>;
using AnyData = std::variant<std::shared_ptr<Dataset>, std::shared_ptr<LabelledDataset>,
                             std::shared_ptr<RunningText>, std::shared_ptr<TokenFile>,
                             std::shared_ptr<PairSource>>;

SequenceModelPtr model_of(const AnyModel& model);
ProblemData data_of(const AnyData& data);

struct EvaluateOptions {
  std::shared_ptr<Grammar> grammar;
  Json rest;
  static OptionRows rows();
};
// `given`: the options that this kind of model has. Throws when it was interrupted.
Json evaluate_model(lua_State* L, const SequenceModelPtr& model, const AnyData& data,
                    const EvaluateOptions& given);

// pd.train.evaluate.
void bind_evaluation(Module& module);

}  // namespace pushdown
