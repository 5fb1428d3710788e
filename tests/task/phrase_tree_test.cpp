#include "task/phrase_tree.h"
#include "support/message.h"
#include "task/bracketed_text.h"

#include <gtest/gtest.h>

namespace pushdown::phrase_tree_test {
namespace {

using testing_support::message;

PhraseTree tree_of(const std::string& text, bool unlabelled = true) {
  BracketOptions options;
  options.unlabelled = unlabelled;
  return parse_brackets(text, "t", options).at(0);
}

TEST(PhraseTree, PhrasesAreInPreorder) {
  const PhraseTree tree({"a", "b", "c", "d"}, {},
                        {{2, 4, "Y"}, {0, 1, "X"}, {0, 4, "S"}, {0, 4, "T"}, {3, 4, "Z"}});
  std::string order;
  for (const auto& phrase : tree.phrases()) order += phrase.label;
  EXPECT_EQ(order, "STXYZ");
  EXPECT_EQ(bracketed(tree), "(S (T (X a) b (Y c (Z d))))");
  EXPECT_EQ(spans(tree), (std::vector<Span>{{0, 4}, {2, 4}}));
  const auto daughters = tree.daughters();
  ASSERT_EQ(daughters.size(), 5u);
  ASSERT_EQ(daughters[0].size(), 1u);
  EXPECT_EQ(daughters[0][0].phrase, 1);
  ASSERT_EQ(daughters[1].size(), 3u);
  EXPECT_EQ(daughters[1][0].phrase, 2);
  EXPECT_EQ(daughters[1][1].phrase, -1);
  EXPECT_EQ(daughters[1][1].begin, 1);
  EXPECT_EQ(daughters[1][2].phrase, 3);
  EXPECT_EQ(daughters[3][0].begin, 2);
  EXPECT_EQ(daughters[3][1].phrase, 4);
}

TEST(PhraseTree, InvalidTreesAreRefused) {
  const std::vector<std::string> words{"a", "b", "c"};
  EXPECT_EQ(message([] { PhraseTree({}, {}, {}); }), "[tree] a tree needs at least one word");
  EXPECT_EQ(message([&] { PhraseTree(words, {"N"}, {}); }),
            "[tree] the number of parts of speech must equal the number of words, 3, got 1");
  EXPECT_EQ(message([] {
              PhraseTree({"a", "b c"}, {}, {});
            }),
            "[tree] a word must be a text without white space, got 'b c'");
  EXPECT_EQ(message([] {
              PhraseTree({"a", ""}, {}, {});
            }),
            "[tree] a word must be a text without white space, got ''");
  EXPECT_EQ(message([] { PhraseTree({"a"}, {"N)"}, {}); }),
            "[tree] a part of speech must be a text without white space and round brackets, got "
            "'N)'");
  EXPECT_EQ(message([] {
              PhraseTree({"a"}, {}, {{0, 1, "N P"}});
            }),
            "[tree] a label must be a text without white space, got 'N P'");
  EXPECT_EQ(message([&] {
              PhraseTree(words, {}, {{1, 4}});
            }),
            "[tree] a phrase must lie in the words 1 to 3, got 2 to 4");
  EXPECT_EQ(message([&] {
              PhraseTree(words, {}, {{-1, 2}});
            }),
            "[tree] a phrase must lie in the words 1 to 3, got 0 to 2");
  EXPECT_EQ(message([&] {
              PhraseTree(words, {}, {{2, 2}});
            }),
            "[tree] a phrase must lie in the words 1 to 3, got 3 to 2");
  EXPECT_EQ(message([&] {
              PhraseTree(words, {}, {{0, 2}, {1, 3}});
            }),
            "[tree] phrases must not cross, got words 2 to 3 and one that ends at 2");
}

TEST(PhraseTree, BinarizedByHand) {
  const auto tree =
      tree_of("(S (NP (D a) (A b) (N c)) (VP (V d)) (X (Y (V e) (N f))) (. g))", false);
  EXPECT_EQ(bracketed(binarized(tree, Branching::right)),
            "(S (NP (D a) ((A b) (N c))) ((V d) ((X (V e) (N f)) (. g))))");
  EXPECT_EQ(bracketed(binarized(tree, Branching::left)),
            "(S (((NP ((D a) (A b)) (N c)) (V d)) (X (V e) (N f))) (. g))");
  // A chain over the whole sentence keeps its outermost label. One word needs no phrase.
  EXPECT_EQ(bracketed(binarized(tree_of("(S (VP (V a) (N b)))", false), Branching::left)),
            "(S (V a) (N b))");
  EXPECT_EQ(bracketed(binarized(tree_of("(S (NP (N a)))", false), Branching::right)), "(N a)");
}

TEST(PhraseTree, BinarizedTreesAreBinaryAndKeepTheSpans) {
  for (const char* text :
       {"(a b c d e f)", "((a b c) d (e f g h) i)", "(a (b (c d e) f) (g))", "(((a)) (b) c (d e))"})
    for (const auto branching : {Branching::right, Branching::left}) {
      const auto tree = tree_of(text), made = binarized(tree, branching);
      EXPECT_EQ(static_cast<int>(made.phrases().size()), made.size() - 1) << text;
      for (const auto& list : made.daughters()) EXPECT_EQ(list.size(), 2u) << text;
      const auto all = spans(made);
      for (const auto& span : spans(tree)) EXPECT_EQ(std::count(all.begin(), all.end(), span), 1);
      EXPECT_EQ(bracketed(binarized(made, Branching::right)), bracketed(made));
    }
}

TEST(PhraseTree, RestrictedDropsWordsFromEveryPhrase) {
  const auto tree = tree_of("(S (`` q) (NP (D a) (, c)) (X (, c)) (VP (V d)) (. p))", false);
  const auto keep = [&](int i) {
    const auto& tags = punctuation_tags();
    return std::find(tags.begin(), tags.end(), tree.tags()[i]) == tags.end();
  };
  EXPECT_EQ(bracketed(*restricted(tree, keep)), "(S (NP (D a)) (VP (V d)))");
  EXPECT_FALSE(restricted(tree, [](int) { return false; }));
  EXPECT_EQ(bracketed(*restricted(tree, [](int) { return true; })), bracketed(tree));
}

TEST(PhraseTree, DeepTreesCostNoRecursion) {
  const int n = 50'000;
  std::vector<std::string> words(n, "a");
  std::vector<Phrase> phrases;
  for (int i = 0; i + 1 < n; ++i) phrases.push_back({i, n});
  const PhraseTree tree(words, {}, phrases);
  EXPECT_EQ(spans(tree).size(), static_cast<std::size_t>(n - 1));
  EXPECT_EQ(spans(binarized(tree, Branching::left)), spans(tree));
  EXPECT_EQ(spans(tree_of(bracketed(tree))), spans(tree));
}

}  // namespace
}  // namespace pushdown::phrase_tree_test
