#include "base/json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/stopping.h"
#include "support/message.h"

namespace pushdown::json_test {
namespace {

std::string nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(Json, DeepValuesAreRefused) {
  EXPECT_EQ(parse_json(nested(kDeepestJson)).dump(), nested(kDeepestJson));
  for (const int depth : {kDeepestJson + 1, 40000, 1000000}) {
    EXPECT_THROW(parse_json(nested(depth)), nlohmann::json::parse_error);
    EXPECT_THROW(parse_json(nested(depth), true), nlohmann::json::parse_error);
    EXPECT_TRUE(try_parse_json(nested(depth)).is_discarded());
  }
  std::string tables;
  for (int i = 0; i < 40000; ++i) tables += R"({"a":)";
  EXPECT_TRUE(try_parse_json(tables).is_discarded());
}

TEST(Json, BracketsInTextsAreNotLevels) {
  const std::string text = R"(["\"[[[[", ")" + std::string(1000, '[') + "\", \"\\\\\", []]";
  EXPECT_EQ(parse_json(text).size(), 4u);
}

TEST(Json, NamesThatOccurTwiceCanBeRefused) {
  const std::string inner = R"({"a": {"b": 1, "b": 2}})", outer = R"({"a": 1, "b": 2, "a": 3})";
  EXPECT_EQ(parse_json(inner, true)["a"]["b"], 2);
  EXPECT_EQ(parse_json(outer)["a"], 3);
  EXPECT_CONTAINS(testing_support::message([&] { parse_json(outer, true); }), "'a' occurs twice");
}

// The library's own reader takes quadratic time, but the same values and errors come from it.
TEST(Json, ValuesAndErrorsAreThoseOfTheLibrary) {
  std::vector<std::string> texts{
      "",
      "{",
      "[1, ",
      "[1] 2",
      R"({"a" 1})",
      R"({"a": 1, })",
      R"(["\ud800"])",
      "[1e999]",
      "nul",
      "{1: 2}",
      "\xff",
      "[01]",
      R"([null, true, false, -3, 18446744073709551615, 0.1, -2.5e-300, "\u00e9\n\"", {}, []])",
      R"({"a": {"b": [1, {"c": {"b": 2}}], "": 3}, "a": [4], "b": {"a": 5}})"};
  for (const int count : {15, 16, 17, 18, 40, 3000}) {
    std::string table = "{\"in\": {\"n0\": [";
    for (int i = 0; i < count; ++i)
      table += fmt::format("{}{{\"n{}\": {}}}", i == 0 ? "" : ", ", i % 7, i);
    table += "]}";
    // Some names occur twice.
    for (int i = 0; i < count; ++i)
      table += fmt::format(", \"n{}\": {{\"v\": {}}}", i * 2 % 23 + i, i);
    texts.push_back(table + "}");
    texts.push_back(table);
  }
  for (const std::string& text : texts) {
    const Json wanted = Json::parse(text, nullptr, false), found = try_parse_json(text);
    ASSERT_EQ(found.is_discarded(), wanted.is_discarded()) << text;
    EXPECT_EQ(testing_support::message([&] { parse_json(text); }),
              testing_support::message([&] { return Json::parse(text); }));
    if (!wanted.is_discarded()) EXPECT_EQ(found.dump(), wanted.dump());
  }
}

TEST(Json, ReadingStops) {
  const StopFlag flag{1};
  const StopScope scope(&flag);
  EXPECT_THROW(parse_json("[" + std::string(100000, ' ') + "]"), Stopped);
  EXPECT_THROW(try_parse_json("[]"), Stopped);
}

TEST(Json, ErrorsDoNotNameTheLibrary) {
  try {
    parse_json("[1, ");
    FAIL();
  } catch (const nlohmann::json::exception& error) {
    EXPECT_TRUE(json_error(error).starts_with("parse error at line 1, column 5:"))
        << json_error(error);
  }
}

}  // namespace
}  // namespace pushdown::json_test
