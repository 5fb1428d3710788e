// Word problems of groups: products are computed again from the names of the elements.
#include <gtest/gtest.h>

#include <set>

#include "task/transduction.h"

namespace pushdown::word_problem_test {
namespace {

PairSourcePtr problem(Json options) {
  options["kind"] = "word_problem";
  return make_pairs(options);
}
std::vector<Pair> drawn(const PairSource& source, std::int64_t count) {
  Random random(7, "word problems");
  return source.draw(count, random);
}

// "231" takes 1 to 2, and then `after` takes it further.
std::string applied(const std::string& one, const std::string& after) {
  std::string product;
  for (const char place : one) product += after[place - '1'];
  return product;
}

TEST(WordProblem, GroupsHaveTheirElements) {
  const std::map<std::string, int> sizes{{"s2", 2},   {"s3", 6},  {"s5", 120}, {"a3", 3},
                                         {"a4", 12},  {"a5", 60}, {"a6", 360}, {"z2", 2},
                                         {"z60", 60}, {"z7", 7},  {"s6", 720}};
  for (const auto& [group, size] : sizes) {
    const auto source = problem({{"group", group}});
    EXPECT_EQ(source->target_alphabet().size(), size) << group;
    EXPECT_EQ(source->source_alphabet().size(), size) << group;
  }
}

TEST(WordProblem, TargetsAreProductsOfPrefixes) {
  for (const char* group : {"s3", "s5", "a4", "a5"})
    for (const char* letters : {"all", "generators"}) {
      const auto source =
          problem({{"group", group}, {"letters", letters}, {"lengths", Json::array({1, 40})}});
      std::set<int> seen;
      for (const Pair& pair : drawn(*source, 2000)) {
        ASSERT_EQ(pair.target.size(), pair.source.size());
        std::string product = source->target_alphabet().symbol(0);
        for (std::size_t t = 0; t < pair.source.size(); ++t) {
          product = applied(product, source->source_alphabet().symbol(pair.source[t]));
          ASSERT_EQ(source->target_alphabet().symbol(pair.target[t]), product) << group;
        }
        seen.insert(pair.target.begin(), pair.target.end());
      }
      // The generators generate the group.
      EXPECT_EQ(static_cast<std::int64_t>(seen.size()), source->target_alphabet().size())
          << group << ' ' << letters;
    }
  const auto cyclic = problem({{"group", "z60"}, {"lengths", Json::array({30, 30})}});
  for (const Pair& pair : drawn(*cyclic, 50)) {
    int sum = 0;
    for (std::size_t t = 0; t < 30; ++t) {
      sum = (sum + pair.source[t]) % 60;
      EXPECT_EQ(pair.target[t], sum);
    }
  }
}

TEST(WordProblem, LettersAndAnswers) {
  const auto names = [](const PairSource& source) {
    return source.source_alphabet().text({0, 1, 2});
  };
  EXPECT_EQ(names(*problem({{"group", "s5"}, {"letters", "generators"}})), "12345 21345 23451");
  EXPECT_EQ(names(*problem({{"group", "a4"}, {"letters", "generators"}})), "1234 2314 1342");
  EXPECT_EQ(problem({{"group", "a3"}, {"letters", "generators"}})->source_alphabet().size(), 2);
  EXPECT_EQ(problem({{"group", "z5"}, {"letters", "generators"}})->source_alphabet().size(), 2);
  EXPECT_EQ(problem({{"group", "s5"}, {"letters", "swaps"}})->source_alphabet().size(), 11);
  const Json options{{"group", "s3"}, {"one_length", true}, {"lengths", Json::array({1, 40})}};
  Json last = options;
  last["answers"] = "last";
  const auto each = drawn(*problem(options), 20), ends = drawn(*problem(last), 20);
  for (std::size_t i = 0; i < each.size(); ++i) {
    EXPECT_EQ(each[i].source.size(), each[0].source.size());
    EXPECT_EQ(ends[i].source, each[i].source);
    EXPECT_EQ(ends[i].target, Word{each[i].target.back()});
  }
}

TEST(WordProblem, RefusesWhatIsNoGroup) {
  for (const char* group : {"", "s", "s1", "s7", "a2", "z1", "z1001", "d4", "s05", "z-3", "s5x"})
    EXPECT_THROW(problem({{"group", group}}), std::invalid_argument) << group;
  try {
    problem({{"group", "a5"}, {"letters", "swaps"}});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("transpositions of a symmetric group"),
              std::string::npos)
        << error.what();
  }
  EXPECT_THROW(problem({{"lengths", Json::array({0, 3})}}), std::invalid_argument);
}

}  // namespace
}  // namespace pushdown::word_problem_test
