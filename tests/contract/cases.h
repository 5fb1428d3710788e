// The cases of the contract tests: options of models, one for every row of the registries and every
// choice of its options.
#pragma once
#include "model/analog_pushdown.h"
#include "model/stack_rnn.h"
#include "model/sublayer.h"

namespace pushdown::testing_support {

// Small sizes for every option that is a size.
inline Json small_options(const std::string& kind, const std::vector<OptionSpec>& specs) {
  Json options{{"kind", kind}};
  for (const auto& spec : specs) {
    if (spec.name == "hidden") options["hidden"] = 4;
    if (spec.name == "size") options["size"] = 3;
  }
  return options;
}

// Every kind with its defaults, and once with each other choice of each option.
inline std::vector<Json> variants(const std::string& kind, const std::vector<OptionSpec>& specs) {
  const Json base = small_options(kind, specs);
  std::vector<Json> all{base};
  for (const auto& spec : specs) {
    const auto add = [&](Json value) {
      Json other = base;
      other[spec.name] = std::move(value);
      all.push_back(other);
    };
    for (const auto& choice : spec.choices)
      if (choice != spec.default_value) add(choice);
    if (spec.type == OptionSpec::Type::boolean) add(spec.default_value == false);
    if (spec.name == "layers") add(2);
    if (spec.name == "states" || spec.name == "symbols") add(3);
    if (spec.name == "window") add(3);
  }
  return all;
}

inline std::vector<Json> stack_variants() {
  std::vector<Json> all;
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

// Options of a language model.
inline std::vector<Json> all_cases() {
  std::vector<Json> cases;
  const Json elman{{"kind", "elman"}, {"hidden", 4}};
  for (const auto& stack : stack_variants())
    cases.push_back({{"controller", elman}, {"stack", stack}});
  for (const auto& controller : controller_variants())
    cases.push_back(
        {{"controller", controller}, {"stack", Json{{"kind", "superposition"}, {"size", 3}}}});
  const auto transformer = [](Json layers) {
    return Json{{"architecture", "transformer"},
                {"layers", std::move(layers)},
                {"hidden", 6},
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
    // A string that stops teaches its states nothing, and one that never pushes the actions
    // nothing; with these many states all kinds push somewhere.
    automaton["underflow"] = "continue";
    automaton["states"] = automaton.value("order", "third") == "second" ? 4 : 3;
    // An approximation, and no derivative.
    if (automaton.value("stack_derivative", "") != "top_and_bottom") cases.push_back(automaton);
  }
  return cases;
}

}  // namespace pushdown::testing_support
