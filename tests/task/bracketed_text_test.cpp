#include "task/bracketed_text.h"
#include "support/message.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace pushdown::bracketed_text_test {
namespace {

using testing_support::message;

std::vector<std::string> read(const std::string& text, const BracketOptions& options = {}) {
  std::vector<std::string> trees;
  for (const auto& tree : parse_brackets(text, "f.mrg", options)) trees.push_back(bracketed(tree));
  return trees;
}

std::string refusal(const std::string& text, const BracketOptions& options = {}) {
  return message([&] { parse_brackets(text, "f.mrg", options); });
}

using Texts = std::vector<std::string>;

TEST(BracketedText, TreesOfThePennTreebank) {
  const std::string text =
      "\n( (S \n    (NP-SBJ (DT The) (NN cat) )\n    (VP (VBD sat) \n      (NP (-NONE- *) ))\n"
      "    (. .) ))\n( (NP=2 (NN dog)) )((S-TPC-1 (NN x)(VBZ y)))\n";
  const Texts expected{"(S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .))", "(NP (NN dog))",
                       "(S (NN x) (VBZ y))"};
  EXPECT_EQ(read(text), expected);
  // The same text from Windows, with a byte order mark.
  std::string windows = "\xEF\xBB\xBF";
  for (const char c : text) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(read(windows), expected);
}

TEST(BracketedText, EmptyElementsAreRemovedWithPhrasesThatOnlyContainThem) {
  const std::string text =
      "(S (SBAR (-NONE- 0) (S (NP-SBJ (-NONE- *T*-1)) (VP (-NONE- *?*)))) (VP (VB go)))";
  EXPECT_EQ(read(text), Texts{"(S (VP (VB go)))"});
  BracketOptions options;
  options.keep_empty_elements = true;
  options.keep_functions = true;
  EXPECT_EQ(
      read(text, options),
      Texts{"(S (SBAR (-NONE- 0) (S (NP-SBJ (-NONE- *T*-1)) (VP (-NONE- *?*)))) (VP (VB go)))"});
}

TEST(BracketedText, FunctionsOfLabelsAndNotOfPartsOfSpeech) {
  const std::string text = "(S-TPC-2 (NP-SBJ=3 (PRP$ my) (-LRB- -LRB-)) (NN-X a-b))";
  EXPECT_EQ(read(text), Texts{"(S (NP (PRP$ my) (-LRB- -LRB-)) (NN-X a-b))"});
  BracketOptions options;
  options.keep_functions = true;
  EXPECT_EQ(read(text, options), Texts{text});
  // A label is kept if nothing would be left of it.
  EXPECT_EQ(read("(= (A a) (-X- (B b) (C c)))"), Texts{"(= (A a) (-X- (B b) (C c)))"});
}

TEST(BracketedText, Escapes) {
  const std::string text = "(X (A -LRB-) (B 1\\/2) (C \\*) (D -RRB-) (E a\\b) (F -LCB-))";
  EXPECT_EQ(parse_brackets(text, "f")[0].words(), (Texts{"(", "1/2", "*", ")", "a\\b", "{"}));
  BracketOptions options;
  options.keep_escapes = true;
  EXPECT_EQ(parse_brackets(text, "f", options)[0].words(),
            (Texts{"-LRB-", "1\\/2", "\\*", "-RRB-", "a\\b", "-LCB-"}));
  EXPECT_EQ(read("(X (A -LRB-) (B a\\/b))"), Texts{"(X (A -LRB-) (B a/b))"});
  // Kept escapes are written as they are, also by trees that are made of the tree.
  EXPECT_EQ(read(text, options), Texts{text});
  const auto tree = parse_brackets(text, "f", options)[0];
  EXPECT_NE(bracketed(binarized(tree, Branching::right)).find("(B 1\\/2)"), std::string::npos);
  EXPECT_EQ(bracketed(*restricted(tree, [](int i) { return i == 1; })), "(X (B 1\\/2))");
}

TEST(BracketedText, WordsAreReadAsTheyWereWritten) {
  Random random(1);
  const std::vector<std::string> parts{"\\", "/", "*", "(", ")", "{", "]", "-", "LRB", "a"};
  for (int round = 0; round < 2000; ++round) {
    Texts words;
    for (int i = 0; i < 3; ++i) {
      std::string word;
      for (std::uint64_t k = 0; k <= random.below(5); ++k) word += parts[random.below(10)];
      // The result of reading has no escapes.
      words.push_back(parse_brackets("(X " + bracketed(PhraseTree({word}, {"Y"}, {})) + ")", "f")[0]
                          .words()[0]);
    }
    const PhraseTree tagged(words, {"A", "B", "C"}, {{0, 3, "S"}});
    EXPECT_EQ(parse_brackets(bracketed(tagged), "f")[0].words(), words) << bracketed(tagged);
  }
  const PhraseTree tree({"a\\/b", "\\*", "\\\\/", "(", "a(b)"}, {"A", "A", "A", "A", "A"},
                        {{0, 5, "S"}});
  EXPECT_EQ(parse_brackets(bracketed(tree), "f")[0].words(), tree.words());
}

TEST(BracketedText, NestedRoots) {
  EXPECT_EQ(read("( ( ( (S (A a) (B b)) ) ) )"), Texts{"(S (A a) (B b))"});
  EXPECT_EQ(read("( ( (A a)) )"), Texts{"(A a)"});
  EXPECT_EQ(read("(TOP (S (A a) (B b)))"), Texts{"(TOP (S (A a) (B b)))"});
  // Two trees in one bracket stay together.
  EXPECT_EQ(read("( (S (A a) (B b)) (. .) )"), Texts{"((S (A a) (B b)) (. .))"});
  EXPECT_EQ(read("( (-NONE- *) (S (A a) (B b)))"), Texts{"(S (A a) (B b))"});
}

TEST(BracketedText, WrittenTreesAreReadBack) {
  for (const char* text :
       {"(S (A a) (NP (B b) (C c)) (D d))", "(A a)", "((A a) ((B b) (C c)))", "(S (X (Y (A a))))"})
    EXPECT_EQ(read(text), Texts{text});
  BracketOptions options;
  options.unlabelled = true;
  for (const char* text : {"((The cat) (sat (on (the mat))))", "(a b c)", "(a (b c) d (e))"})
    EXPECT_EQ(read(text, options), Texts{text});
  EXPECT_EQ(read("( ( The cat ) sat )\n( It rains )", options),
            (Texts{"((The cat) sat)", "(It rains)"}));
}

TEST(BracketedText, UnmatchedBracketsAreReportedWithTheirLine) {
  EXPECT_EQ(refusal("(A a)\n\n(S (A a)\n (B b)\n"),
            "[tree.read] f.mrg:3: the bracket opened here is never closed");
  EXPECT_EQ(refusal("(A a)\r\n(S\r\n (A a)))\r\n(B b)\r\n"),
            "[tree.read] f.mrg:3: the bracket closed here was never opened");
  EXPECT_EQ(refusal("\n)"), "[tree.read] f.mrg:2: the bracket closed here was never opened");
  EXPECT_EQ(refusal("("), "[tree.read] f.mrg:1: the bracket opened here is never closed");
}

TEST(BracketedText, InvalidTreesAreReportedWithTheirLine) {
  EXPECT_EQ(refusal("(S\n (A a)\n cat)"),
            "[tree.read] f.mrg:3: the word 'cat' occurs beside brackets in (S ...)");
  EXPECT_EQ(refusal("(S cat\n (A a))"),
            "[tree.read] f.mrg:2: the word 'cat' occurs beside brackets in (S ...)");
  EXPECT_EQ(refusal("(S (A the cat))"),
            "[tree.read] f.mrg:1: (A ...) contains two words, 'the' and 'cat'");
  EXPECT_EQ(refusal("(S (A a)\n ())"), "[tree.read] f.mrg:2: the bracket is empty");
  EXPECT_EQ(refusal("()"), "[tree.read] f.mrg:1: the bracket is empty");
  EXPECT_EQ(refusal("(S (A a)\n\n (NP))"),
            "[tree.read] f.mrg:3: (NP) contains neither a word nor brackets");
  EXPECT_EQ(refusal("(S (X x)\n ((A a) (B b)))"), "[tree.read] f.mrg:2: the bracket has no label");
  EXPECT_EQ(refusal("(A a)\nhello (B b)"), "[tree.read] f.mrg:2: expected '(', got 'hello'");
  EXPECT_EQ(refusal("(A a)\n( (S (-NONE- *)) )"),
            "[tree.read] f.mrg:2: the tree that begins here has no words");
  EXPECT_EQ(refusal(" \n"), "[tree.read] f.mrg: the text contains no trees");
  EXPECT_EQ(refusal("(A a)\n(A b\xC3)"), "[tree.read] f.mrg:2: byte 0xc3 is not UTF-8");
  EXPECT_EQ(refusal(std::string("(A a)\n(A \0b)", 12)),
            "[tree.read] f.mrg:2: the text contains a NUL byte; it must be UTF-8");
  BracketOptions options;
  options.unlabelled = true;
  EXPECT_EQ(refusal("(a (b c)\n", options),
            "[tree.read] f.mrg:1: the bracket opened here is never closed");
  EXPECT_EQ(refusal("(a ())", options), "[tree.read] f.mrg:1: the bracket is empty");
}

TEST(BracketedText, EmptySentencesCanBeLeftOut) {
  BracketOptions options;
  options.skip_empty_sentences = true;
  EXPECT_EQ(read("(S (-NONE- *))(A a)", options), Texts{"(A a)"});
  EXPECT_EQ(read("(S (-NONE- *))", options), Texts{});
}

TEST(BracketedText, ManyBracketsAreReadAndRefused) {
  const int n = 100'000;
  EXPECT_EQ(refusal(std::string(n, '(')),
            "[tree.read] f.mrg:1: the bracket opened here is never closed");
  std::string text;
  for (int i = 0; i < n; ++i) text += "(X ";
  text += "(A a)" + std::string(n, ')');
  EXPECT_EQ(parse_brackets(text, "f")[0].phrases().size(), static_cast<std::size_t>(n));
}

}  // namespace
}  // namespace pushdown::bracketed_text_test
