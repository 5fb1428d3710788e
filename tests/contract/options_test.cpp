// Every option of every kind: the contract varies it, and a wrong value is an error that names it.
#include <gtest/gtest.h>

#include "cases.h"
#include "model/language_model.h"
#include "model/recognizer.h"
#include "support/message.h"
#include "train/learning/learning.h"
#include "train/optimizing/optimizer.h"

namespace pushdown::options_contract_test {
namespace {

using namespace testing_support;

// A kind, and what makes something of it.
struct Kind {
  std::string registry, name;
  std::vector<OptionSpec> options;
  std::function<void(const Json& options)> make;
};
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.registry << ' ' << kind.name; }

std::vector<Kind> kinds() {
  std::vector<Kind> all;
  const auto add = [&](const char* registry, const auto& rows, const auto& make) {
    for (const auto& row : rows) all.push_back({registry, row.name, row.options, make});
  };
  const auto model = [](const Json& options) { LanguageModel(Alphabet({"a", "b"}), options); };
  add("stack", stack_kinds(), [=](const Json& stack) { model({{"stack", stack}}); });
  add("controller", controller_kinds(), [=](const Json& controller) {
    model({{"controller", controller}});
  });
  add("layer", layer_kinds(), [=](const Json& layer) {
    model({{"architecture", "transformer"}, {"layers", Json::array({layer})}});
  });
  add("network", network_kinds(), [](Json options) {
    options["architecture"] = options["kind"];
    options.erase("kind");
    Recognizer(Alphabet({"a", "b"}), options);
  });
  add("optimizer", optimizer_kinds(), [](const Json& options) { make_optimizer({}, options); });
  add("objective", objective_kinds(), [](const Json& options) { make_objective(options); });
  add("learning", learning_kinds(), [](const Json& options) { make_learning(options); });
  return all;
}

class Options : public testing::TestWithParam<Kind> {};

TEST_P(Options, AreAllVaried) {
  for (const auto& spec : GetParam().options)
    EXPECT_FALSE(option_changes(spec).empty() && spec.inside == nullptr) << spec.name;
}

TEST_P(Options, OfWrongTypesOrOutsideTheirRangesAreRefusedByName) {
  for (const auto& spec : GetParam().options) {
    std::vector<Json> wrong{spec.type == OptionSpec::Type::text ? Json(3) : Json("none of these")};
    const bool integer = spec.type == OptionSpec::Type::integer;
    if (integer) wrong.push_back(1.5);
    if (std::isfinite(spec.minimum))
      wrong.push_back(spec.minimum > 0 && !integer ? Json(spec.minimum / 2)
                                                   : Json(spec.minimum - 1));
    if (std::isfinite(spec.maximum)) wrong.push_back(spec.maximum + 1);
    if (!spec.choices.empty()) wrong.push_back(spec.choices.front() + "x");
    // The name of a kind alone is a table.
    if (spec.type == OptionSpec::Type::table) wrong = {Json(3)};
    for (const Json& value : wrong) {
      Json options = small_options(GetParam().name, GetParam().options);
      options[spec.name] = value;
      EXPECT_CONTAINS(message([&] { GetParam().make(options); }), fmt::format("'{}'", spec.name))
          << value;
    }
  }
  Json options = small_options(GetParam().name, GetParam().options);
  options["sizze"] = 3;
  EXPECT_CONTAINS(message([&] { GetParam().make(options); }), "unknown option 'sizze'");
  options = {{"kind", GetParam().name + "x"}};
  EXPECT_CONTAINS(message([&] { GetParam().make(options); }), "did you mean");
}

INSTANTIATE_TEST_SUITE_P(Registry, Options, testing::ValuesIn(kinds()));

}  // namespace
}  // namespace pushdown::options_contract_test
