#include "base/json.h"

#include <gtest/gtest.h>

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
  EXPECT_NE(testing_support::message([&] { parse_json(outer, true); }).find("'a' occurs twice"),
            std::string::npos);
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
