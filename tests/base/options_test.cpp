#include "base/options.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/registry.h"

namespace pushdown::options_test {
namespace {

std::string message_of(auto&& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

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
  const auto text = message_of([] { resolve_options("stack", kSpecs, Json{{"state", 3}}); });
  EXPECT_NE(text.find("[stack] unknown option 'state', did you mean 'states'?"), text.npos) << text;
  EXPECT_NE(text.find("'lengths'"), text.npos);
}

TEST(Options, SuggestsTheNearestOfTheLastNameInAPath) {
  const UnknownOption error("plot", "series[1].colou", {"colour", "y"});
  EXPECT_STREQ(error.what(),
               "[plot] unknown option 'series[1].colou', did you mean 'colour'?; the options are "
               "'colour' and 'y'");
}

TEST(Options, MessagesWithoutAPlaceHaveNoBrackets) {
  EXPECT_EQ(message_of([] { fail("", "option '--{}' is missing", "size"); }),
            "option '--size' is missing");
}

TEST(Options, NamesKeyExpectedAndGot) {
  EXPECT_EQ(message_of([] {
              resolve_options("s", kSpecs, Json{{"states", "two"}});
            }),
            "[s] option 'states' must be an integer, got \"two\"");
  EXPECT_EQ(message_of([] {
              resolve_options("s", kSpecs, Json{{"states", 0}});
            }),
            "[s] option 'states' must be at least 1, got 0");
  EXPECT_EQ(message_of([] {
              resolve_options("s", kSpecs, Json{{"states", 1.5}});
            }),
            "[s] option 'states' must be an integer, got 1.5");
  const auto text = message_of([] { resolve_options("s", kSpecs, Json{{"bottom", "orginal"}}); });
  EXPECT_NE(text.find("did you mean 'original'?"), text.npos) << text;
}

TEST(Registry, UnknownKindListsTheValidOnes) {
  using Row = RegistryRow<int (*)()>;
  const std::vector<Row> rows{{"lstm", "", {}, nullptr}, {"gru", "", {}, nullptr}};
  EXPECT_EQ(
      message_of([&] { find_row("controller", rows, "lstn"); }),
      "[controller] unknown kind 'lstn', did you mean 'lstm'?; the kinds are 'lstm' and 'gru'");
  EXPECT_NE(message_of([&] {
              resolve_kind("controller", rows, Json{{"kind", "gru"}, {"x", 1}});
            }).find("there are no options"),
            std::string::npos);
}

}  // namespace
}  // namespace pushdown::options_test
