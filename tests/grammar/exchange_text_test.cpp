#include "grammar/exchange_text.h"

#include <gtest/gtest.h>

#include "grammar/inside.h"
#include "grammar/text.h"
#include "support/message.h"

namespace pushdown::exchange_text_test {
namespace {

using testing_support::message;

Grammar parsed(const std::string& text) { return Grammar(parse_grammar(text)); }

void expect_same_strings(const Grammar& a, const Grammar& b) {
  for (int length = 0; length <= 5; ++length) {
    Word word(length, 0);
    const int symbols = a.alphabet().size();
    for (bool more = true; more;) {
      Word other;
      for (const int id : word) other.push_back(b.alphabet().id(a.alphabet().symbols()[id]));
      EXPECT_NEAR(std::exp(log_probability(a, word)), std::exp(log_probability(b, other)), 1e-12);
      more = false;
      for (int& id : word) {
        if (++id < symbols) {
          more = true;
          break;
        }
        id = 0;
      }
    }
  }
}

constexpr const char* kGrammar =
    "%start S'\nX:1 -> 'x' S' [0.5] | [0.5]\nS' -> 'it\\'s' X:1 [1/3] | \"y\" [2/3]\nX -> 'x'\n"
    "S' -> X [0.25]\n";

TEST(ExchangeText, NltkTextHasNamesThatNltkReads) {
  const Grammar grammar = parsed(kGrammar);
  const std::string text = nltk_text(grammar);
  EXPECT_TRUE(text.starts_with("# X_1 stands for X:1\n# S_prime stands for S'\nS_prime -> "))
      << text;
  EXPECT_EQ(text.find("S'"), text.rfind("S'"));  // only in the comment
  expect_same_strings(grammar, parsed(text));
  EXPECT_NE(message([] { nltk_text(parsed("S -> 'a\"\\'b'")); }).find("both kinds of quotes"),
            std::string::npos);
}

TEST(ExchangeText, NltkNamesStayDistinct) {
  const std::string text =
      nltk_text(parsed("S -> X_1 X:1 X.1\nX_1 -> 'a'\nX:1 -> 'b'\nX.1 -> 'c'"));
  EXPECT_NE(text.find("S -> X_1 X_1_2 X_1_3 [1]"), std::string::npos) << text;
}

TEST(ExchangeText, RuleLists) {
  const Grammar grammar = Grammar(parse_rule_list(
      "# counts\n3 S --> NP VP\n1 S -->\nNP -> the N\nVP 2\nN dog\n  \r\n2 N --> cat\n"));
  EXPECT_EQ(to_text(grammar),
            "S -> NP VP [0.75] | [0.25]\nNP -> 'the' N [1]\nVP -> '2' [1]\n"
            "N -> 'dog' [0.3333333333333333] | 'cat' [0.6666666666666666]\n");
  expect_same_strings(grammar, Grammar(parse_rule_list(rule_list_text(grammar))));
  const Grammar other(parse_rule_list("N --> dog\nS --> N", "text", "S"));
  EXPECT_EQ(other.nonterminals()[other.start()], "S");
}

double probability(const Grammar& grammar, const char* text) {
  return std::exp(log_probability(grammar, grammar.alphabet().parse(text)));
}

TEST(ExchangeText, WordsThatAreSpeltLikeTags) {
  const Grammar penn(parse_rule_list("10 S --> NP .\n3 NP --> dog\n5 . --> .\n1 . --> ?\n"));
  EXPECT_NEAR(probability(penn, "dog ?"), 1.0 / 6, 1e-15);
  EXPECT_NEAR(probability(penn, "dog ."), 5.0 / 6, 1e-15);
  expect_same_strings(penn, Grammar(parse_rule_list(rule_list_text(penn))));
  expect_same_strings(penn, parsed(to_text(penn)));
  expect_same_strings(penn, parsed(nltk_text(penn)));
  for (const char* tag : {",", "#", "''", "``", "[", "|", "%", "\"", "\\"}) {
    SCOPED_TRACE(tag);
    const Grammar grammar(
        parse_rule_list(fmt::format("10 S --> NP {0}\n3 NP --> dog\n5 {0} --> {0}\n", tag)));
    EXPECT_EQ(grammar.nonterminals()[2], tag);
    EXPECT_EQ(probability(grammar, fmt::format("dog {}", tag).c_str()), 1);
    EXPECT_EQ(rule_list_text(grammar),
              fmt::format("1 S --> NP {0}\n1 NP --> dog\n1 {0} --> {0}\n", tag));
    EXPECT_EQ(to_text(parsed(to_text(grammar))), to_text(grammar));
    // NLTK has no escapes.
    if (std::string(tag) != "\\") expect_same_strings(grammar, parsed(nltk_text(grammar)));
  }
  // A tag with words of its own, one of which is spelt like another tag.
  const Grammar names(
      parse_rule_list("S --> NNP CD .\n3 NNP --> Sony\n1 NNP --> CD\nCD --> 2\n. --> .\n"));
  EXPECT_NEAR(probability(names, "CD 2 ."), 0.25, 1e-15);
}

TEST(ExchangeText, ListsThatMeanTwoGrammarsAreRefused) {
  const auto read = [](const char* text, std::optional<std::vector<std::string>> tags = {}) {
    return Grammar(parse_rule_list(text, "text", "", tags));
  };
  // A may be above the nonterminal B or the word B.
  const char* unary = "3 S --> A B\n1 A --> B\n3 A --> a\n2 B --> b\n";
  EXPECT_CONTAINS(
      message([&] { read(unary); }),
      "[grammar.from_rules] text:2: 'B' on the right side of A is a left side, too, and "
      "may also be a word: name the left sides above words in the option tags, or pass "
      "tags = {} if there are none");
  EXPECT_NEAR(probability(read(unary, {{}}), "b b"), 0.25, 1e-15);
  EXPECT_NEAR(probability(read(unary, {{"A", "B"}}), "B b"), 0.25, 1e-15);
  EXPECT_CONTAINS(message([&] { read("S --> X Y\nX --> #\nY --> #\nY --> y\n1 # --> #"); }),
                  "'#' on the right side of X");
  EXPECT_CONTAINS(message([&] { read("S --> S\nS --> NP\nNP --> dog"); }),
                  "'NP' on the right side of S");
  EXPECT_CONTAINS(message([&] { read(unary, {{"S"}}); }),
                  "text:1: S is named in tags, so its right side must be one word, got 2 symbols");
  EXPECT_CONTAINS(message([&] { read(unary, {{"C"}}); }), "left side 'C' of the option tags");
  // Words beside nonterminals: no treebank, so a left side is a nonterminal.
  const Grammar own = read("S --> the A\nA --> B\nA --> a\nB --> b");
  EXPECT_NEAR(probability(own, "the b"), 0.5, 1e-15);
  // A loop is not written, because it would be read as a word.
  EXPECT_CONTAINS(
      message([] { rule_list_text(parsed("S -> S | 'a'")); }),
      "[grammar.text] this grammar cannot be written as a rule list: 'S' in S -> S would "
      "be a terminal");
}

TEST(ExchangeText, WrongRuleListsNameTheLine) {
  const auto complaint = [](const char* text, const char* start = "") {
    return message([&] { parse_rule_list(text, "rules.txt", start); });
  };
  EXPECT_EQ(complaint("S --> a\n--> b"),
            "[grammar.from_rules] rules.txt:2: expected a left side before the arrow");
  EXPECT_EQ(complaint("S --> a --> b"),
            "[grammar.from_rules] rules.txt:1: a rule must have one arrow");
  EXPECT_NE(complaint("-1 S --> a").find("rules.txt:1: the weight -1"), std::string::npos);
  EXPECT_NE(complaint("# nothing").find("no rules"), std::string::npos);
  EXPECT_NE(complaint("S --> a", "T").find("left side 'T'"), std::string::npos);
  EXPECT_NE(complaint("S --> \xff").find("rules.txt:1"), std::string::npos);
  EXPECT_CONTAINS(message([] { rule_list_text(parsed("S -> 'S' T\nT -> 'a'")); }),
                  "'S' in S -> 'S' T would be a nonterminal");
  EXPECT_NE(
      message([] { rule_list_text(parsed("S -> '->'")); }).find("cannot be written in a rule list"),
      std::string::npos);
}

TEST(ExchangeText, StartDirectivesAndContinuedLinesOfNltk) {
  const Grammar grammar =
      parsed("% start B\nA -> 'a' [0.5] \\\n  | 'b' B \\  \n[0.5]\n# \\\nB -> A | 'c'\n");
  EXPECT_EQ(grammar.nonterminals()[grammar.start()], "B");
  EXPECT_TRUE(message([] {
                parsed("A -> 'a'\nB -> 'b' \\\n -> 'c'");
              }).starts_with("[grammar.parse] text:2: "));
  EXPECT_CONTAINS(message([] { parsed("% stop B\nB -> 'b'"); }), "unknown directive");
  EXPECT_EQ(grammar.rules().size(), 4u);
}

}  // namespace
}  // namespace pushdown::exchange_text_test
