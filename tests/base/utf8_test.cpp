#include "base/utf8.h"

#include <gtest/gtest.h>

namespace pushdown::utf8_test {
namespace {

TEST(Utf8, FindsTheFirstBadByte) {
  EXPECT_EQ(find_invalid_utf8("aé\xE2\x86\x92\xF0\x9F\x98\x80"), std::nullopt);
  EXPECT_EQ(find_invalid_utf8("ab\xff"), 2u);
  EXPECT_EQ(find_invalid_utf8("a\xE2\x86"), 1u);         // truncated
  EXPECT_EQ(find_invalid_utf8("\xE0\x80\x80"), 0u);      // overlong
  EXPECT_EQ(find_invalid_utf8("x\xED\xA0\x80"), 1u);     // surrogate
  EXPECT_EQ(find_invalid_utf8("\xF4\x90\x80\x80"), 0u);  // beyond U+10FFFF
  EXPECT_EQ(find_invalid_utf8("\xC3("), 0u);             // no continuation
}

TEST(Utf8, EveryBadByteBecomesAQuestionMark) {
  EXPECT_EQ(valid_utf8(""), "");
  EXPECT_EQ(valid_utf8("\x9F\x98\x80|\xC3"), "???|?");
  EXPECT_EQ(valid_utf8(std::string_view("\xC0\x80\xED\xA0\x80\0", 6)),
            std::string_view("?????\0", 6));
  EXPECT_EQ(valid_utf8("aé\xE2\x86\x92"), "aé\xE2\x86\x92");
  EXPECT_EQ(valid_utf8("\xff"
                       "a\xE2\x86"
                       "b\xED\xA0\x80"),
            "?a??b???");
}

}  // namespace
}  // namespace pushdown::utf8_test
