#include "base/nearest.h"

#include <gtest/gtest.h>

namespace pushdown::nearest_test {
namespace {

const std::vector<std::string> kNames{"learning_rate", "threads", "list", "io", "size", "hidden"};

TEST(Nearest, SuggestsTheNearestName) {
  for (const auto& [wanted, expected] : {std::pair{"lr", "'learning_rate'"},
                                         {"treads", "'threads'"},
                                         {"lsit", "'list'"},
                                         {"learnign_rtae", "'learning_rate'"},
                                         {"thr", "'threads'"}})
    EXPECT_EQ(nearest_names(wanted, kNames), expected) << wanted;
  EXPECT_EQ(nearest_names("bat", {"bar", "baz", "cat"}), "'bar' or 'baz' or 'cat'");
}

TEST(Nearest, SuggestsNoDistantNames) {
  for (const char* wanted : {"", "x", "h", "foo", "zz", "quux", "data", "sized_up"})
    EXPECT_EQ(nearest_names(wanted, kNames), "") << wanted;
}

}  // namespace
}  // namespace pushdown::nearest_test
