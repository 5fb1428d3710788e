#include "bindings/train/evaluation.h"

#include "analysis/agreement.h"
#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/interrupt.h"
#include "bindings/grammar/classes.h"
#include "bindings/session/log.h"
#include "bindings/task/classes.h"
#include "train/evaluation/evaluation.h"

namespace pushdown {
namespace {

// A measurement that has not been interrupted.
Json finished(lua_State* L, std::optional<Json> result) {
  if (!result) {
    stop_if_interrupted(L);
    throw std::runtime_error("interrupted");
  }
  return *std::move(result);
}

}  // namespace

SequenceModelPtr model_of(const AnyModel& model) {
  return std::visit([](const auto& one) -> SequenceModelPtr { return one; }, model);
}

ProblemData data_of(const AnyData& data) {
  return std::visit([](const auto& one) -> ProblemData { return one; }, data);
}

OptionRows EvaluateOptions::rows() {
  return declare<EvaluateOptions>(
             {{"grammar", &EvaluateOptions::grammar,
               "grammar of the language; with it, also measures whether all possible next symbols "
               "are predicted, and whether every prefix is judged correctly"}})
      .open(&EvaluateOptions::rest, "", [](lua_State*) {
        std::vector<OptionGroup> groups;
        for (const auto& kind : problem_kinds())
          groups.push_back({kind.doc, declared(kind.evaluation_options())});
        return groups;
      });
}

Json evaluate_model(lua_State* L, const SequenceModelPtr& model, const AnyData& data,
                    const EvaluateOptions& given) {
  Json result = finished(L, measure("train.evaluate", {model, data_of(data), given.grammar,
                                                       given.rest, interrupt_check(L)}));
  if (result.contains("difference_error")) {
    const auto warning =
        bound_warning(result["cross_entropy_difference"], result["difference_error"],
                      result.contains("bound_includes_end"));
    if (!warning.empty()) log_message("warn", warning);
  }
  // Lua counts strings from 1.
  if (result.contains("wrong"))
    for (Json& place : result["wrong"])
      if (place.is_number()) place = place.get<std::int64_t>() + 1;
  return result;
}

struct AgreementOptions {
  std::int64_t batch = 100;
  static OptionRows rows() {
    return declare<AgreementOptions>(
        {{"batch", &AgreementOptions::batch,
          "number of prefixes of one length that are judged at once", at_least(1)}});
  }
};

// {accuracy =, judged =, attractors = {{attractors =, judged =, accuracy =}}, wrong = {...}}
Json agreement(lua_State* L, const LanguageModel& model, const NumberData& data,
               const AgreementOptions& options) {
  const auto found = agreement_cases(data.examples, model.alphabet());
  const auto right = judge_agreement(model, found.cases, options.batch, interrupt_check(L));
  if (!right) finished(L, std::nullopt);
  const auto result = agreement_result(data.examples, found, *right);
  Json rows = Json::array(), wrong = Json::array();
  const auto accuracy = [](const AgreementShare& share) {
    return share.judged > 0 ? Json(share.percent()) : Json();
  };
  for (const auto& [attractors, share] : result.by_attractors)
    rows.push_back(
        {{"attractors", attractors}, {"judged", share.judged}, {"accuracy", accuracy(share)}});
  for (const auto number : result.wrong) wrong.push_back(number + 1);
  return {{"accuracy", accuracy(result.all)},
          {"judged", result.all.judged},
          {"attractors", std::move(rows)},
          {"wrong", std::move(wrong)}};
}

void bind_evaluation(Module& module) {
  module.def<&agreement>(
      "agreement(model, examples, {options}) -> table  Returns the accuracy of a LanguageModel in "
      "percent: how often it gives the verb's own form a greater probability than the other form. "
      "It judges only examples with both forms in its vocabulary. The table has accuracy, judged, "
      "the same by attractors, and the numbers of the `wrong` examples.");
  module.def<[](lua_State* L, const AnyModel& model, const AnyData& data,
                const EvaluateOptions& given) {
    return evaluate_model(L, model_of(model), data, given);
  }>("evaluate(model, data, {options}) -> table  Measures a model, overall and in `bins` by "
     "length. For a LanguageModel, returns cross-entropy in nats per symbol, perplexity of a "
     "RunningText or of Sentences, and, if the source is known, lower_bound, "
     "cross_entropy_difference and its standard error difference_error. `bound_includes_end` is "
     "true if the bound counts ends that the model does not predict. For a Recognizer, returns "
     "accuracy, error (percent), missed, false_positives, the positions of the misclassified "
     "strings as `wrong`, and the tables `decisions` and `next_symbol_accuracies`. For a "
     "Transducer, returns coarse and fine accuracy, perplexity and the `wrong` pairs.");
}

}  // namespace pushdown
