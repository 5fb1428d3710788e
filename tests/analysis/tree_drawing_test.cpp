#include "analysis/tree_drawing.h"

#include <gtest/gtest.h>

#include "analysis/parse_induction.h"
#include "support/message.h"
#include "task/bracketed_text.h"

namespace pushdown::tree_drawing_test {
namespace {

PhraseTree labelled(const std::string& text) { return parse_brackets(text, "t").at(0); }

TEST(TreeDrawing, LabelsAndPartsOfSpeech) {
  const auto tree =
      labelled("(S (NP (DT the) (JJ bad) (NN cat)) (VP (VBD sat) (ADVP (RB down))) (. .))");
  EXPECT_EQ(drawing(tree),
            "S┬─NP┬─DT the\n"
            " │   ├─JJ bad\n"
            " │   └─NN cat\n"
            " ├─VP┬─VBD sat\n"
            " │   └─ADVP──RB down\n"
            " └─. .\n");
  EXPECT_EQ(drawing(tree, true),
            "S+-NP+-DT the\n"
            " |   +-JJ bad\n"
            " |   +-NN cat\n"
            " +-VP+-VBD sat\n"
            " |   +-ADVP--RB down\n"
            " +-. .\n");
}

TEST(TreeDrawing, WithoutLabelsWordsAreInOneColumn) {
  EXPECT_EQ(drawing(right_branching({"a", "b", "c"})),
            "┬─── a\n"
            "└─┬─ b\n"
            "  └─ c\n");
  EXPECT_EQ(drawing(left_branching({"a", "b", "c"})),
            "┬─┬─ a\n"
            "│ └─ b\n"
            "└─── c\n");
  EXPECT_EQ(drawing(right_branching({"a"})), "a\n");
}

TEST(TreeDrawing, BesideGold) {
  const std::vector<std::string> words{"the", "é", "c"};
  EXPECT_EQ(drawing_beside(left_branching(words), right_branching(words)),
            "●┬─○┬─ the ────┬●\n"
            " │  └─  é  ─┬○─┘\n"
            " └────  c  ─┘\n");
  EXPECT_EQ(drawing_beside(left_branching(words), left_branching(words), true),
            "#+-#+- the -+#-+#\n"
            " |  +-  é  -+  |\n"
            " +----  c  ----+\n");
}

TEST(TreeDrawing, Limits) {
  using testing_support::message;
  EXPECT_EQ(message([] { drawing(right_branching(std::vector<std::string>(2001, "a"))); }),
            "[tree.text] a tree of at most 2000 words can be drawn, got 2001");
  EXPECT_EQ(message([] {
              drawing_beside(right_branching({"a"}), right_branching({"a", "b"}));
            }),
            "[tree.text] both trees must have the same words, got 1 and 2");
}

}  // namespace
}  // namespace pushdown::tree_drawing_test
