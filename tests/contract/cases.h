// The cases of the contract tests: options of models. Every kind of every registry, with each
// change of each of its options (OptionSpec::tried), and combinations that one option alone does
// not make.
#pragma once
#include "analysis/contract.h"
#include "model/network.h"
#include "model/stack_rnn.h"
#include "model/sublayer.h"

namespace pushdown::testing_support {

// The variants of all rows of a registry.
template <class Row>
std::vector<Json> registry_variants(const std::vector<Row>& rows) {
  std::vector<Json> all;
  for (const auto& row : rows)
    for (Json& options : option_variants(row.name, row.options)) all.push_back(std::move(options));
  return all;
}

template <class Row>
Json small_kind(const std::vector<Row>& rows, const std::string& name) {
  return small_options(name, find_row("contract", rows, name).options);
}

// A recurrent network of the small kinds of these names.
inline Json small_network(const std::string& controller, const std::string& stack,
                          const Json& more = Json::object()) {
  Json options{{"controller", small_kind(controller_kinds(), controller)},
               {"stack", small_kind(stack_kinds(), stack)}};
  options.update(more);
  return options;
}

// Options of a controller, a stack and the network that are checked together.
inline std::vector<Json> combinations() {
  std::vector<Json> cases;
  const Json kNone = Json::object();
  const auto add = [&](const std::string& controller, const std::string& stack, const Json& more,
                       const Json& controller_more = Json::object(),
                       const Json& stack_more = Json::object()) {
    Json options = small_network(controller, stack, more);
    options["controller"].update(controller_more);
    options["stack"].update(stack_more);
    cases.push_back(std::move(options));
  };
  const auto reads_hidden = [](const std::string& kind) {
    Random random(1);
    return make_controller({{"kind", kind}}, {3, at::TensorOptions(at::kDouble), &random})
        ->reads_hidden();
  };
  for (const auto& kind : controller_kinds())
    add(kind.name, "superposition",
        reads_hidden(kind.name) ? Json{{"coupling", "state"}, {"carry_forward", "soft"}}
                                : Json{{"carry_forward", "soft"}},
        {{"layers", kind.name == "gru" ? 2 : 1}});
  // With four hidden units the pops would empty the stratification stack.
  for (const auto& kind : stack_kinds()) {
    add("elman", kind.name, {{"coupling", "state"}}, {{"hidden", 5}});
    if (kind.name != "none")
      add("elman", kind.name, {{"output", "hidden_and_reading"}}, {{"hidden", 5}});
  }
  // Combinations of strengths of pushes, pops and readings as in Merrill et al. (2019): u fixed to
  // 1, d fixed to 1, all free, a sigmoid d.
  for (const auto& [push, pop] : {std::pair{"expectation", "fixed"},
                                  {"fixed", "expectation"},
                                  {"expectation", "expectation"},
                                  {"sigmoid", "expectation"}})
    for (const int memories : {1, 2})
      for (const int greatest : {3, 4})
        add("elman", "stratification", kNone, kNone,
            {{"push", push},
             {"pop", pop},
             {"read", "expectation"},
             {"memories", memories},
             {"max_strength", greatest}});
  for (const auto& [stack, options] :
       {std::pair<const char*, Json>{"parallel_superposition", {{"stacks", 2}, {"no_op", true}}},
        {"list", {{"lists", 2}, {"no_op", true}}},
        {"baby_ntm", Json::object()}})
    for (const char* carry : {"soft", "counter"})
      add("elman", stack,
          {{"carry_forward", carry}, {"noise", 0.2}, {"noise_mean", carry[0] == 's' ? 0.1 : 0}},
          {{"activation", "scaled_tanh"}}, options);
  add("lstm", "superposition",
      {{"coupling", "state"}, {"carry_forward", "counter"}, {"noise", 0.1}}, {{"layers", 2}});
  add("elman", "superposition", {{"coupling", "state"}}, kNone, {{"temperature", 2}});
  add("mrnn", "parallel_superposition", {{"coupling", "state"}}, kNone,
      {{"stacks", 2}, {"no_op", true}, {"no_op_keeps", "top"}});
  add("lstm", "none", {{"noise", 0.1}});
  add("lstm", "superposition", {{"initial_state", "learned"}}, {{"layers", 2}});
  add("second_order", "superposition", {{"initial_state", "learned"}});
  return cases;
}

// Options of a language model.
inline std::vector<Json> all_cases() {
  std::vector<Json> cases = combinations();
  for (Json& stack : registry_variants(stack_kinds())) {
    cases.push_back(small_network("elman", "none"));
    cases.back()["stack"] = std::move(stack);
  }
  for (Json& controller : registry_variants(controller_kinds())) {
    cases.push_back(small_network("elman", "superposition"));
    cases.back()["controller"] = std::move(controller);
  }
  for (const auto& kind : network_kinds()) {
    // The automaton with quantised neurons is a recognizer only.
    if (kind.name == "nspda") continue;
    for (Json& options : option_variants(kind.name, kind.options)) {
      if (kind.name != "recurrent") options["architecture"] = kind.name;
      options.erase("kind");
      // This is an approximation and not a derivative.
      if (options.value("stack_derivative", "") != "top_and_bottom")
        cases.push_back(std::move(options));
    }
  }
  for (Json& layer : registry_variants(layer_kinds())) {
    cases.push_back(small_kind(network_kinds(), "transformer"));
    cases.back()["layers"] = Json::array({std::move(layer)});
    cases.back()["architecture"] = "transformer";
    cases.back().erase("kind");
  }
  return cases;
}

// Options of a recognizer.
inline std::vector<Json> recognizer_cases() {
  std::vector<Json> cases = all_cases();
  for (auto& options : option_variants("nspda", find_row("", network_kinds(), "nspda").options)) {
    options["architecture"] = "nspda";
    options.erase("kind");
    cases.push_back(std::move(options));
  }
  // The network's own measure.
  cases.push_back({{"architecture", "nnpda"}, {"states", 3}, {"output", "own"}});
  return cases;
}

}  // namespace pushdown::testing_support
