// Attachments of all binary trees, and of all sequences of them, over few words.
#include "grammar/incremental_parse.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "support/message.h"

namespace pushdown {
namespace {

using testing_support::message;
using Constituents = std::vector<std::pair<int, int>>;

// Returns the constituents of more than one word of all binary trees over begin .. end-1.
std::vector<Constituents> trees(int begin, int end) {
  if (end - begin == 1) return {{}};
  std::vector<Constituents> all;
  for (int middle = begin + 1; middle < end; ++middle)
    for (const auto& left : trees(begin, middle))
      for (const auto& right : trees(middle, end)) {
        Constituents tree = left;
        tree.insert(tree.end(), right.begin(), right.end());
        tree.emplace_back(begin, end);
        all.push_back(tree);
      }
  return all;
}

// Returns the same of all sequences of binary trees.
std::vector<Constituents> forests(int begin, int end) {
  std::vector<Constituents> all = trees(begin, end);
  for (int middle = begin + 1; middle < end; ++middle)
    for (const auto& first : trees(begin, middle))
      for (const auto& others : forests(middle, end)) {
        Constituents forest = first;
        forest.insert(forest.end(), others.begin(), others.end());
        all.push_back(forest);
      }
  return all;
}

std::set<std::pair<int, int>> set_of(const Constituents& list) {
  return {list.begin(), list.end()};
}

TEST(IncrementalParse, AllTreesOfFewWordsComeBack) {
  const std::vector<std::size_t> catalan{1, 1, 2, 5, 14, 42};
  for (int words = 1; words <= 6; ++words) {
    const auto all = trees(0, words);
    ASSERT_EQ(all.size(), catalan[words - 1]);
    std::set<Attachments> distinct;
    for (const auto& tree : all) {
      const auto attachments = attachments_of(words, tree);
      distinct.insert(attachments);
      const auto parse = parse_of(attachments);
      EXPECT_EQ(set_of(parse.constituents()), set_of(tree));
      for (int word = 0; word < words; ++word) {
        int depth = 0;
        for (const auto& [begin, end] : tree) depth += begin <= word && word < end;
        EXPECT_EQ(parse.depths()[word], depth);
      }
    }
    EXPECT_EQ(distinct.size(), all.size());
  }
}

// Every list of choices is the attachments of exactly one sequence of trees.
TEST(IncrementalParse, AllChoicesAreAllSequencesOfTrees) {
  for (int words = 1; words <= 6; ++words) {
    std::set<std::set<std::pair<int, int>>> expected, found;
    for (const auto& forest : forests(0, words)) expected.insert(set_of(forest));
    int lists = 0;
    const std::function<void(const IncrementalParse&)> extend = [&](const IncrementalParse& parse) {
      if (parse.size() == words) {
        ++lists;
        found.insert(set_of(parse.constituents()));
        return;
      }
      for (const int choice : parse.choices()) {
        IncrementalParse longer = parse;
        longer.add(choice);
        extend(longer);
      }
    };
    extend({});
    EXPECT_EQ(lists, static_cast<int>(expected.size()));
    EXPECT_EQ(found, expected);
  }
}

// Depths after every word, counted anew from the constituents that are complete by then.
TEST(IncrementalParse, DepthsCountTheConstituentsSoFar) {
  for (const auto& tree : trees(0, 6)) {
    IncrementalParse parse;
    for (const int attachment : attachments_of(6, tree)) {
      parse.add(attachment);
      for (int word = 0; word < parse.size(); ++word) {
        int depth = 0;
        for (const auto& [begin, end] : tree)
          depth += end <= parse.size() && begin <= word && word < end;
        EXPECT_EQ(parse.depths()[word], depth);
      }
    }
  }
}

TEST(IncrementalParse, TheExampleOfThePaper) {
  EXPECT_EQ(attachments_of(4, {{0, 4}, {0, 2}, {2, 4}}), (Attachments{0, 0, 2, 1}));
  EXPECT_EQ(attachments_of(4, {{0, 4}, {1, 4}, {2, 4}}), (Attachments{0, 1, 2, 0}));
  EXPECT_EQ(attachments_of(4, {{0, 4}, {0, 3}, {0, 2}}), (Attachments{0, 0, 1, 2}));
}

TEST(IncrementalParse, ErrorsNameTheWord) {
  EXPECT_EQ(message([] {
              parse_of({0, 0, 0});
            }),
            "[attachments] word 3 cannot attach to word 1: expected 2, 3, the last words of "
            "constituents");
  EXPECT_EQ(message([] { parse_of({1}); }),
            "[attachments] word 1 cannot attach to word 2: expected 1, the last words of "
            "constituents");
  EXPECT_EQ(message([] {
              attachments_of(3, {{0, 3}});
            }),
            "[attachments] the constituents over 3 words are not those of binary trees: binarize "
            "the tree");
  EXPECT_EQ(message([] {
              attachments_of(3, {{1, 2}});
            }),
            "[attachments] a constituent has more than one of the words 1 to 3, got 2 to 2");
  EXPECT_EQ(message([] { IncrementalParse().attachment_of(1); }),
            "[attachments] word 1 can become part of 0 to 0 constituents, got 1");
}

}  // namespace
}  // namespace pushdown
