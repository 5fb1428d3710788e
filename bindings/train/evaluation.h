// pd.train.evaluate: the measurements of models as Lua values.
#pragma once
#include <variant>

#include "bindings/binder/options.h"
#include "bindings/grammar/classes.h"
#include "bindings/model/classes.h"
#include "bindings/task/classes.h"
#include "train/problems/problem_kinds.h"

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
// `given`: the options of this kind of model. Throws if the user interrupts it.
Json evaluate_model(lua_State* L, const SequenceModelPtr& model, const AnyData& data,
                    const EvaluateOptions& given);

// pd.train.evaluate.
void bind_evaluation(Module& module);

}  // namespace pushdown
