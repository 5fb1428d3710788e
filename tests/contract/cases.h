// The cases of the contract tests: options of models, one case for every row of the registries and
// for every choice of its options.
#pragma once
#include "analysis/contract.h"
#include "model/analog_pushdown.h"
#include "model/stack_rnn.h"
#include "model/sublayer.h"

namespace pushdown::testing_support {

// Every kind with its defaults, and with each other choice of each option.
inline std::vector<Json> variants(const std::string& kind, const std::vector<OptionSpec>& specs) {
  const Json base = small_options(kind, specs);
  std::vector<Json> all{base};
  for (const auto& spec : specs) {
    const auto add = [&](Json value) {
      Json other = base;
      other[spec.name] = std::move(value);
      if (spec.name == "pop") other.erase("pop_bias");
      // A reading that sees only the last push would hide all pops.
      if (spec.name == "push" && other[spec.name] == "fixed")
        other.update(Json{{"read", "expectation"}, {"max_strength", 4}});
      all.push_back(other);
    };
    for (const auto& choice : spec.choices)
      if (Json(choice) != spec.default_value) add(choice);
    if (spec.type == OptionSpec::Type::boolean) add(spec.default_value == false);
    if (spec.name == "layers") add(2);
    if (spec.name == "states" || spec.name == "symbols") add(3);
    if (spec.name == "window") add(3);
    if (spec.name == "memories" || spec.name == "stacks" || spec.name == "tapes") add(2);
    if (spec.name == "jump") add(3);
  }
  return all;
}

// Combinations of strengths of pushes, pops and readings as in Merrill et al. (2019): u fixed to 1,
// d fixed to 1, all free, a sigmoid d.
inline std::vector<Json> strength_variants() {
  std::vector<Json> all;
  for (const auto& [push, pop] : {std::pair{"expectation", "fixed"},
                                  {"fixed", "expectation"},
                                  {"expectation", "expectation"},
                                  {"sigmoid", "expectation"}})
    for (const int memories : {1, 2})
      for (const int greatest : {3, 4})
        all.push_back({{"kind", "stratification"},
                       {"size", 3},
                       {"push", push},
                       {"pop", pop},
                       {"read", "expectation"},
                       {"memories", memories},
                       {"max_strength", greatest}});
  return all;
}

inline std::vector<Json> stack_variants() {
  std::vector<Json> all = strength_variants();
  for (const auto& kind : stack_kinds())
    for (auto& options : variants(kind.name, kind.options)) all.push_back(options);
  return all;
}

inline std::vector<Json> controller_variants() {
  std::vector<Json> all;
  for (const auto& kind : controller_kinds())
    for (auto& options : variants(kind.name, kind.options)) all.push_back(options);
  return all;
}

// Options between a controller and a stack: coupling, noise, and states carried forward.
inline std::vector<Json> recurrence_cases() {
  const Json stack{{"kind", "superposition"}, {"size", 3}};
  const auto with = [](Json controller, Json stack, Json more) {
    if (!controller.contains("hidden")) controller["hidden"] = 4;
    more["controller"] = std::move(controller);
    more["stack"] = std::move(stack);
    return more;
  };
  std::vector<Json> cases;
  const auto reads_hidden = [](const std::string& kind) {
    Random random(1);
    return make_controller({{"kind", kind}}, {3, at::TensorOptions(at::kDouble), &random})
        ->reads_hidden();
  };
  for (const auto& controller : controller_kinds())
    if (reads_hidden(controller.name))
      cases.push_back(
          with({{"kind", controller.name}, {"layers", controller.name == "gru" ? 2 : 1}}, stack,
               {{"coupling", "state"}, {"carry_forward", "soft"}}));
    else
      cases.push_back(with({{"kind", controller.name}}, stack, {{"carry_forward", "soft"}}));
  // With four hidden units the pops would empty the stratification stack.
  for (const auto& kind : stack_kinds())
    cases.push_back(with({{"kind", "elman"}, {"hidden", 5}}, small_options(kind.name, kind.options),
                         {{"coupling", "state"}}));
  for (const auto& kind : stack_kinds())
    if (kind.name != "none")
      cases.push_back(with({{"kind", "elman"}, {"hidden", 5}},
                           small_options(kind.name, kind.options),
                           {{"output", "hidden_and_reading"}}));
  const Json scalars{{"kind", "parallel_superposition"}, {"stacks", 2}, {"no_op", true}};
  const std::vector<Json> with_no_op{
      scalars, {{"kind", "list"}, {"lists", 2}, {"no_op", true}}, {{"kind", "baby_ntm"}}};
  for (const auto& memory : with_no_op)
    for (const char* carry : {"soft", "counter"})
      cases.push_back(with(
          {{"kind", "elman"}, {"activation", "scaled_tanh"}}, memory,
          {{"carry_forward", carry}, {"noise", 0.2}, {"noise_mean", carry[0] == 's' ? 0.1 : 0}}));
  cases.push_back(with({{"kind", "lstm"}, {"layers", 2}}, stack,
                       {{"coupling", "state"}, {"carry_forward", "counter"}, {"noise", 0.1}}));
  Json warm = stack;
  warm["temperature"] = 2;
  cases.push_back(with({{"kind", "elman"}}, warm, {{"coupling", "state"}}));
  cases.push_back(with({{"kind", "elman"}}, {{"kind", "baby_ntm"}, {"temperature", 0.5}}, {}));
  Json worn = scalars;
  worn["no_op_keeps"] = "top";
  cases.push_back(with({{"kind", "mrnn"}}, worn, {{"coupling", "state"}}));
  cases.push_back(with({{"kind", "lstm"}}, {{"kind", "none"}}, {{"noise", 0.1}}));
  for (const auto& start : {Json{{"kind", "lstm"}, {"layers", 2}}, {{"kind", "second_order"}}})
    cases.push_back(with(start, stack, {{"initial_state", "learned"}}));
  return cases;
}

// Options of a language model.
inline std::vector<Json> all_cases() {
  std::vector<Json> cases = recurrence_cases();
  const Json elman{{"kind", "elman"}, {"hidden", 4}};
  for (const auto& stack : stack_variants())
    cases.push_back({{"controller", elman}, {"stack", stack}});
  for (const auto& controller : controller_variants())
    cases.push_back(
        {{"controller", controller}, {"stack", Json{{"kind", "superposition"}, {"size", 3}}}});
  const auto transformer = [](Json layers) {
    return Json{{"architecture", "transformer"},
                {"layers", std::move(layers)},
                {"hidden", 8},
                {"heads", 2},
                {"feedforward", 5}};
  };
  for (const auto& kind : layer_kinds())
    for (auto& layer : variants(kind.name, kind.options))
      cases.push_back(transformer(Json::array({layer})));
  cases.push_back(transformer(Json::array({"attention", "superposition", "nondeterministic"})));
  for (auto& automaton : variants("nnpda", analog_pushdown_network().options)) {
    automaton["architecture"] = automaton["kind"];
    automaton.erase("kind");
    // A string that stops teaches its states nothing, and one that never pushes teaches the actions
    // nothing. With this number of states all kinds push somewhere.
    automaton["underflow"] = "continue";
    automaton["states"] = automaton.value("order", "third") == "second" ? 4 : 3;
    // This is an approximation and not a derivative.
    if (automaton.value("stack_derivative", "") != "top_and_bottom") cases.push_back(automaton);
  }
  return cases;
}

}  // namespace pushdown::testing_support
