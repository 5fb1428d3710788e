#include "base/options.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/registry.h"
#include "support/message.h"

namespace pushdown::options_test {
namespace {

using testing_support::message;

const std::vector<OptionSpec> kSpecs{
    integer_option("states", 2, "number of states", 1),
    number_option("rate", 0.1, "learning rate"),
    text_option("bottom", "original", "bottom rule", {"original", "reexposed"}),
    boolean_option("normalized", true, "softmax or exp"),
    list_option("lengths", Json::array({40, 80}), "interval"),
};

TEST(Options, FillsDefaultsInOrder) {
  const Json resolved = resolve_options("test", kSpecs, Json{{"states", 3.0}});
  EXPECT_EQ(resolved.dump(),
            R"({"states":3,"rate":0.1,"bottom":"original","normalized":true,"lengths":[40,80]})");
}

TEST(Options, RefusesUnknownKeysWithTheNearest) {
  const auto text = message([] { resolve_options("stack", kSpecs, Json{{"state", 3}}); });
  EXPECT_CONTAINS(text, "[stack] unknown option 'state', did you mean 'states'?");
  EXPECT_CONTAINS(text, "'lengths'");
}

TEST(Options, SuggestsTheNearestOfTheLastNameInAPath) {
  const UnknownOption error("plot", "series[1].colou", {"colour", "y"});
  EXPECT_STREQ(error.what(),
               "[plot] unknown option 'series[1].colou', did you mean 'colour'?; the options are "
               "'colour' and 'y'");
}

TEST(Options, MessagesWithoutAPlaceHaveNoBrackets) {
  EXPECT_EQ(message([] { fail("", "option '--{}' is missing", "size"); }),
            "option '--size' is missing");
}

TEST(Options, NamesKeyExpectedAndGot) {
  EXPECT_EQ(message([] {
              resolve_options("s", kSpecs, Json{{"states", "two"}});
            }),
            "[s] option 'states' must be an integer, got \"two\"");
  EXPECT_EQ(message([] {
              resolve_options("s", kSpecs, Json{{"states", 0}});
            }),
            "[s] option 'states' must be at least 1, got 0");
  EXPECT_EQ(message([] {
              resolve_options("s", kSpecs, Json{{"states", 1.5}});
            }),
            "[s] option 'states' must be an integer, got 1.5");
  const auto text = message([] { resolve_options("s", kSpecs, Json{{"bottom", "orginal"}}); });
  EXPECT_CONTAINS(text, "did you mean 'original'?");
}

TEST(Registry, UnknownKindListsTheValidOnes) {
  using Row = RegistryRow<int (*)()>;
  const std::vector<Row> rows{{"lstm", "", {}, nullptr}, {"gru", "", {}, nullptr}};
  EXPECT_EQ(
      message([&] { find_row("controller", rows, "lstn"); }),
      "[controller] unknown kind 'lstn', did you mean 'lstm'?; the kinds are 'lstm' and 'gru'");
  EXPECT_CONTAINS(message([&] {
                    resolve_kind("controller", rows, Json{{"kind", "gru"}, {"x", 1}});
                  }),
                  "there are no options");
}

}  // namespace
}  // namespace pushdown::options_test
