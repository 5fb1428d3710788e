// Trees from distances, compared with Algorithm 1 of Merrill et al. (2019) as it is printed.
#include "analysis/parse_induction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "support/message.h"
#include "task/bracketed_text.h"

namespace pushdown::parse_induction_test {
namespace {

using testing_support::message;
using Texts = std::vector<std::string>;

// MAKETREE, with trees as texts. X[:i-1] and X[i+1:] are the words before and after the i-th.
std::string make_tree(const Texts& x, const std::vector<double>& d) {
  if (x.empty()) return "";
  if (x.size() == 1) return x[0];
  std::size_t i = 0;
  for (std::size_t k = 1; k < d.size(); ++k)
    if (d[k] > d[i]) i = k;
  const auto l = make_tree({x.begin(), x.begin() + i}, {d.begin(), d.begin() + i});
  const auto r = make_tree({x.begin() + i + 1, x.end()}, {d.begin() + i + 1, d.end()});
  if (!l.empty() && !r.empty()) return "(" + l + " (" + x[i] + " " + r + "))";
  if (l.empty()) return "(" + x[i] + " " + r + ")";
  return "(" + l + " " + x[i] + ")";
}

Texts letters(int n) {
  Texts words;
  for (int i = 0; i < n; ++i) words.push_back(std::string(1, static_cast<char>('a' + i)));
  return words;
}

TEST(ParseInduction, DistancesByHand) {
  const auto made = [](const std::vector<double>& d) {
    return bracketed(
        tree_from_distances(letters(static_cast<int>(d.size())), d, DistanceTo::previous));
  };
  EXPECT_EQ(made({1}), "a");
  EXPECT_EQ(made({1, 2}), "(a b)");
  EXPECT_EQ(made({2, 1}), "(a b)");
  EXPECT_EQ(made({0, 1, 2}), "((a b) c)");
  EXPECT_EQ(made({0, 2, 1}), "(a (b c))");
  EXPECT_EQ(made({0, 1, 3, 2, 1}), "((a b) (c (d e)))");
  EXPECT_EQ(made({0, 2, 1, 3, 1, 2}), "((a (b c)) (d (e f)))");
  // Equal distances branch to the right.
  EXPECT_EQ(made({5, 5, 5, 5}), "(a (b (c d)))");
  EXPECT_EQ(made({0, 5, 5, 0}), "(a (b (c d)))");
}

TEST(ParseInduction, RandomDistancesWithTies) {
  Random random(1, "test");
  for (int round = 0; round < 2000; ++round) {
    const int n = 1 + static_cast<int>(random.below(12));
    std::vector<double> d(n);
    for (double& value : d) value = static_cast<double>(random.below(1 + round % 9));
    const auto tree = tree_from_distances(letters(n), d, DistanceTo::previous);
    EXPECT_EQ(bracketed(tree), make_tree(letters(n), d));
    EXPECT_EQ(static_cast<int>(tree.phrases().size()), n - 1);
  }
}

TEST(ParseInduction, DistancesToTheNextWordMoveOnByOne) {
  // The distances are 1 between a and b, and 3 between b and c; the last number has no boundary.
  EXPECT_EQ(bracketed(tree_from_distances(letters(4), {1, 3, 2, 9}, DistanceTo::next)),
            "((a b) (c d))");
  EXPECT_EQ(bracketed(tree_from_distances(letters(4), {2, 2, 2, 2}, DistanceTo::next)),
            bracketed(right_branching(letters(4))));
  Random random(2, "test");
  for (int round = 0; round < 500; ++round) {
    const int n = 1 + static_cast<int>(random.below(9));
    std::vector<double> u(n);
    for (double& value : u) value = static_cast<double>(random.below(4));
    std::vector<double> d{-INFINITY};
    d.insert(d.end(), u.begin(), u.end() - 1);
    EXPECT_EQ(bracketed(tree_from_distances(letters(n), u, DistanceTo::next)),
              make_tree(letters(n), d));
  }
}

TEST(ParseInduction, WrongDistancesAreRefused) {
  EXPECT_EQ(
      message([] {
        tree_from_distances({"a", "b"}, {1}, DistanceTo::previous);
      }),
      "[tree.from_distances] the number of distances must equal the number of words, 2, got 1");
  EXPECT_EQ(message([] {
              tree_from_distances({"a", "b"}, {1, NAN}, DistanceTo::previous);
            }),
            "[tree.from_distances] the distance of word 2, 'b', is not a number");
  EXPECT_EQ(message([] { tree_from_distances({}, {}, DistanceTo::next); }),
            "[tree] a tree needs at least one word");
}

TEST(ParseInduction, Baselines) {
  EXPECT_EQ(bracketed(right_branching(letters(4))), "(a (b (c d)))");
  EXPECT_EQ(bracketed(left_branching(letters(4))), "(((a b) c) d)");
  EXPECT_EQ(bracketed(balanced(letters(5))), "(((a b) c) (d e))");
  EXPECT_EQ(bracketed(balanced(letters(6), Balance::full_right)), "((a b) ((c d) (e f)))");
  EXPECT_EQ(bracketed(balanced(letters(5), Balance::full_right)), "(a ((b c) (d e)))");
  EXPECT_EQ(bracketed(balanced(letters(8))), bracketed(balanced(letters(8), Balance::full_right)));
  for (const auto& tree : {right_branching({"a"}), left_branching({"a"}), balanced({"a"})})
    EXPECT_EQ(bracketed(tree), "a");
  EXPECT_EQ(bracketed(balanced({"a", "b"}, Balance::full_right)), "(a b)");
}

TEST(ParseInduction, RandomTreesSplitUniformly) {
  // For four words, a split in the middle has probability 1/3, and each of the other four trees
  // 1/6.
  Random random(3, "test");
  std::map<std::string, int> counts;
  const int rounds = 30'000;
  for (int i = 0; i < rounds; ++i) ++counts[bracketed(random_tree(letters(4), random))];
  ASSERT_EQ(counts.size(), 5u);
  for (const auto& [text, count] : counts) {
    const double p = text == "((a b) (c d))" ? 1.0 / 3 : 1.0 / 6;
    EXPECT_NEAR(count, rounds * p, 5 * std::sqrt(rounds * p * (1 - p))) << text;
  }
  Random one(7, "x"), two(7, "x");
  EXPECT_EQ(bracketed(random_tree(letters(20), one)), bracketed(random_tree(letters(20), two)));
}

}  // namespace
}  // namespace pushdown::parse_induction_test
