// Trees as attachments, in datasets and their texts, and those of drawn derivations.
#include "task/tree_attachments.h"

#include <gtest/gtest.h>

#include <map>

#include "grammar/best_parses.h"
#include "grammar/text.h"
#include "support/message.h"
#include "task/bracketed_text.h"
#include "task/dataset_text.h"
#include "task/sampled_dataset.h"

namespace pushdown::tree_attachments_test {
namespace {

using testing_support::message;

PhraseTree tree_of_text(const std::string& text, bool unlabelled = true) {
  BracketOptions options;
  options.unlabelled = unlabelled;
  return parse_brackets(text, "t", options).at(0);
}

// Adds the phrases of a derivation, and returns the word after them.
int collect(const ParseTree& tree, int begin, std::vector<Phrase>& phrases) {
  int end = begin;
  for (const auto& child : tree.children)
    end = child.symbol.terminal ? end + 1 : collect(child, end, phrases);
  if (end > begin) phrases.push_back({begin, end});
  return end;
}

TEST(TreeAttachments, TreesAreBinarizedFirst) {
  const PhraseTree tree =
      tree_of_text("(S (NP (D the) (N cat)) (VP (V eats) (NP fish) (ADV now)))", false);
  EXPECT_EQ(attachments_of(tree, Branching::right), (Attachments{0, 0, 2, 3, 1}));
  EXPECT_EQ(attachments_of(tree, Branching::left), (Attachments{0, 0, 2, 2, 1}));
  EXPECT_EQ(bracketed(tree_of(tree.words(), {0, 0, 2, 3, 1})),
            bracketed(tree_of_text("((the cat) (eats (fish now)))")));
}

// An unambiguous grammar with empty and unary rules: the drawn tree is the only one of the string.
TEST(TreeAttachments, DrawnDerivationsAreTheTreesOfTheirStrings) {
  const Grammar grammar(parse_grammar(
      "S -> A Z\nA -> '(' L ')' | '[' L ']'\nL -> L A [0.6] | [0.4]\nZ -> U | 'x'\nU -> 'u' 'v' "
      "'w'",
      "t"));
  const Sampler sampler(grammar, 3, 16);
  for (const auto branching : {Branching::right, Branching::left}) {
    const Dataset dataset = sample_tree_dataset(sampler, 200, 10, 5, branching);
    ASSERT_TRUE(dataset.has_attachments());
    for (std::size_t i = 0; i < dataset.words().size(); ++i) {
      const Word& word = dataset.words()[i];
      const auto parse = best_parse(grammar, word);
      ASSERT_TRUE(parse.has_value());
      std::vector<Phrase> phrases;
      ASSERT_EQ(collect(parse->tree, 0, phrases), static_cast<int>(word.size()));
      const std::vector<std::string> names(word.size(), "w");
      EXPECT_EQ(dataset.attachments()[i],
                attachments_of(PhraseTree(names, {}, phrases), branching));
      EXPECT_EQ(spans(tree_of(names, dataset.attachments()[i])),
                spans(binarized(PhraseTree(names, {}, phrases), branching)));
    }
  }
}

TEST(TreeAttachments, DrawnTreesHaveTheProbabilitiesOfTheirDerivations) {
  const Grammar ambiguous(parse_grammar("S -> S S [0.3] | 'a' [0.7]", "t"));
  const Sampler sampler(ambiguous, 4, 4);
  std::map<Attachments, int> counts;
  const Dataset dataset = sample_tree_dataset(sampler, 20000, 10, 1, Branching::right);
  for (const auto& attachments : dataset.attachments()) ++counts[attachments];
  ASSERT_EQ(counts.size(), 5u);  // all have the same weight
  for (const auto& [attachments, count] : counts) EXPECT_NEAR(count, 4000, 4 * 57);
}

TEST(TreeAttachments, TextsKeepThem) {
  const Dataset plain(Alphabet({"a", "b"}), {{0, 1, 1}, {}, {1}}, std::vector<double>{-1, -2, -3});
  const Dataset dataset = plain.with_attachments({{0, 0, 1}, {}, {0}});
  const std::string text = to_text(dataset);
  EXPECT_EQ(text, "# pushdown data set 1\n# alphabet a b\n-1@0,0,1\ta b b\n-2@\t\n-3@0\tb\n");
  const Dataset again = parse_dataset(text, "d.txt");
  EXPECT_EQ(again.attachments(), dataset.attachments());
  EXPECT_EQ(again.log_probabilities(), dataset.log_probabilities());
  EXPECT_EQ(to_text(dataset.without_attachments()), to_text(plain));
}

TEST(TreeAttachments, WrongTreesAreRefused) {
  const Dataset plain(Alphabet({"a", "b"}), {{0, 1, 1}, {1}});
  EXPECT_EQ(message([&] {
              (void)plain.with_attachments({{0, 0, 1}});
            }),
            "[dataset] the number of trees must equal the number of strings, 2, got 1");
  EXPECT_EQ(message([&] {
              (void)plain.with_attachments({{0, 0}, {0}});
            }),
            "[dataset] the tree of string 1 must have its 3 symbols, got 2");
  EXPECT_EQ(message([&] {
              (void)plain.with_attachments({{0, 0, 0}, {0}});
            }),
            "[dataset] string 1: [attachments] word 3 cannot attach to word 1: expected 2, 3, the "
            "last words of constituents");
  const std::string head = "# pushdown data set 1\n# alphabet a b\n";
  EXPECT_EQ(message([&] { parse_dataset(head + "-@0,x\ta b\n", "d.txt"); }),
            "[dataset.load] d.txt:3: expected attachments such as 0,0,2 after @, got '0,x'");
  EXPECT_EQ(message([&] { parse_dataset(head + "-@0\ta\n-\tb\n", "d.txt"); }),
            "[dataset.load] d.txt:4: some strings have a tree and others do not");
  EXPECT_EQ(message([&] { parse_dataset(head + "-@0\ta b\n", "d.txt"); }),
            "[dataset.load] d.txt: [dataset] the tree of string 1 must have its 2 symbols, got 1");
}

}  // namespace
}  // namespace pushdown::tree_attachments_test
