#include "grammar/text.h"

#include <gtest/gtest.h>

#include "grammar/oracle.h"
#include "support/message.h"

namespace pushdown::text_test {
namespace {

TEST(GrammarText, ReadsAlternativesWeightsQuotesCommentsAndContinuations) {
  const auto grammar =
      Grammar(parse_grammar("# a comment line\r\n"
                            "S -> 'a' S \"b\" [3] | [1/1] # the end\r\n"
                            "\r\n"
                            "  | T' [4]\r\n"
                            "T' \xE2\x86\x92 '#' 'it\\'s' '\\\\' \"|\" 'é'"));
  EXPECT_EQ(grammar.alphabet().symbols(),
            (std::vector<std::string>{"a", "b", "#", "it's", "\\", "|", "é"}));
  ASSERT_EQ(grammar.rules().size(), 4u);
  EXPECT_EQ(grammar.rule_text(grammar.rules()[0]), "S -> 'a' S 'b'");
  EXPECT_DOUBLE_EQ(grammar.rules()[0].weight, 3.0 / 8);
  EXPECT_TRUE(grammar.rules()[1].right.empty());
  EXPECT_DOUBLE_EQ(grammar.rules()[2].weight, 0.5);
  EXPECT_EQ(grammar.rules()[2].origin, "text:4");
  EXPECT_EQ(grammar.rule_text(grammar.rules()[3]), "T' -> '#' \"it's\" '\\\\' '|' 'é'");
}

TEST(GrammarText, StartIsTheFirstLeftSideOrTheDirective) {
  EXPECT_EQ(Grammar(parse_grammar("A -> 'x' B\nB -> 'y'")).start(), 0);
  const auto grammar = Grammar(parse_grammar("%start B\nA -> 'x'\nB -> A A"));
  EXPECT_EQ(grammar.nonterminals()[grammar.start()], "B");
}

TEST(GrammarText, WithoutWeightsAlternativesAreEquallyLikely) {
  const auto grammar = Grammar(parse_grammar("S -> 'a' | 'b' | 'c' S |"));
  for (const auto& rule : grammar.rules()) EXPECT_DOUBLE_EQ(rule.weight, 0.25);
}

void expect_round_trip(const Grammar& grammar) {
  const auto text = to_text(grammar);
  const auto again = Grammar(parse_grammar(text));
  EXPECT_EQ(to_text(again), text);
  EXPECT_EQ(again.name(), grammar.name());
  EXPECT_EQ(again.alphabet(), grammar.alphabet());
  EXPECT_EQ(again.unambiguous(), grammar.unambiguous());
  EXPECT_EQ(again.nonterminals()[again.start()], grammar.nonterminals()[grammar.start()]);
  std::multiset<std::pair<std::string, double>> before, after;
  for (const auto& rule : grammar.rules()) before.emplace(grammar.rule_text(rule), rule.weight);
  for (const auto& rule : again.rules()) after.emplace(again.rule_text(rule), rule.weight);
  EXPECT_EQ(before, after);
}

TEST(GrammarText, RoundTripKeepsEverything) {
  for (const auto& [name, text] : oracle::grammar_texts()) {
    SCOPED_TRACE(name);
    expect_round_trip(Grammar(parse_grammar(text)));
  }
  GrammarSource source;
  source.name = "nasty";
  source.start = "Z'";
  source.unambiguous = true;
  source.symbols = {"\\", "'\"", "]", "b"};
  source.rules = {{"A", {{true, "b"}, {true, "]"}}, 1e-9},
                  {"A", {}, 0.3},
                  {"Z'", {{false, "A"}, {true, "\\"}, {true, "'\""}, {false, "A"}}, 1.0 / 3}};
  expect_round_trip(Grammar(source));
}

TEST(GrammarText, ErrorsNameTheLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "g.txt: there are no rules"},
      {"# only a comment\n", "there are no rules"},
      {"S -> 'a\n", "g.txt:1: the terminal 'a has no closing quote"},
      {"S -> 'a'\nT 'b'", "g.txt:2: expected -> after T, got ''b''"},
      {"S -> 'a' [x]", "expected a number in brackets"},
      {"S -> 'a' [0.5", "expected ']'"},
      {"S -> 'a' [1/0]", "divided by zero"},
      {"S -> 'a' [0.5] 'b'", "expected | or the end of the line"},
      {"S -> 'a' [3] |\nS -> 'b'", "g.txt:1: an alternative of S has no weight, and the others"},
      {"S -> 'a' [.5] | 'b' [.5]\nS -> 'c'",
       "g.txt:2: an alternative of S has no weight, and the weights of the others sum to 1, which "
       "leaves nothing for it"},
      {"S -> 'a' [.7] | 'b' [.6] | 'c'", "sum to 1.3"},
      {"S -> 'a b'", "contains white space"},
      {"S -> ''", "must not be empty"},
      {"S -> '\\n'", "unknown escape \\n"},
      {"S -> T'a'", "may end in primes but must not contain a quote"},
      {"S -> %T", "must not begin with %; write \\%"},
      {"S -> 'a' -> 'b'", "one arrow"},
      {"-> 'a'", "g.txt:1: expected a left side"},
      {"| 'a'", "an alternative needs a rule before it"},
      {"S -> ]", "got ']'"},
      {"%stop S\nS -> 'a'", "unknown directive"},
      {"#% sorted\nS -> 'a'", "unknown comment directive"},
      {"S -> 'a'\nS -> '\xff'", "g.txt:2: byte 7 (0xff) is not UTF-8"},
  };
  for (const auto& [text, expected] : cases) {
    SCOPED_TRACE(text);
    try {
      parse_grammar(text, "g.txt");
      ADD_FAILURE() << "no error";
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
    }
  }
}

TEST(GrammarText, AlternativesWithoutWeightShareTheRest) {
  const auto weights = [](const std::string& text) {
    std::vector<double> list;
    for (const auto& rule : Grammar(parse_grammar(text)).rules()) list.push_back(rule.weight);
    return list;
  };
  EXPECT_EQ(weights("S -> 'a' S [0.5] | 'b'"), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(weights("S -> 'a' | 'b' [0.5]\n   | 'c'"), (std::vector<double>{0.25, 0.5, 0.25}));
  EXPECT_EQ(weights("S -> 'a' [0.7] | 'b' | 'c'"), (std::vector<double>{0.7, 0.15, 0.15}));
  EXPECT_EQ(weights("S -> 'a' [0] | 'b' | 'c'"), (std::vector<double>{0, 0.5, 0.5}));
  EXPECT_TRUE(Grammar(parse_grammar("S -> 'a' S [0.4] | 'b'")).warnings().empty());
  // A weight that is wrong by itself is the error.
  EXPECT_THROW(Grammar(parse_grammar("S -> 'a' [-1] | 'b'")), std::invalid_argument);
  EXPECT_THROW(Grammar(parse_grammar("S -> 'a' [nan] | 'b'")), std::invalid_argument);
}

TEST(GrammarText, NamesOfNoSymbolAreTheEmptyRightSide) {
  const auto rules = [](const std::string& text) {
    std::vector<std::string> list;
    const Grammar grammar(with_empty_right_sides(parse_grammar(text)));
    for (const auto& rule : grammar.rules()) list.push_back(grammar.rule_text(rule));
    return list;
  };
  using List = std::vector<std::string>;
  for (const char* name : {"ε", "ϵ", "λ", "epsilon", "lambda"})
    EXPECT_EQ(rules(fmt::format("S -> 'a' S [0.4] | {} [0.6]", name)),
              (List{"S -> 'a' S", "S ->"}));
  EXPECT_EQ(rules("S -> 'ε' | 'a' S 'ε'"), (List{"S -> 'ε'", "S -> 'a' S 'ε'"}));
  EXPECT_EQ(rules("S -> 'a' ε | ε\nε -> 'b'"), (List{"S -> 'a' ε", "S -> ε", "ε -> 'b'"}));
  EXPECT_EQ(testing_support::message([&] { rules("S -> 'b'\n  | 'a' ε"); }),
            "[grammar.parse] text:2: ε means the empty right side, which has no other symbols; a "
            "terminal is in quotes");
}

TEST(GrammarText, OneRule) {
  const auto rule = parse_rule("S -> 'a' S", "x.lua:3");
  EXPECT_EQ(rule.left, "S");
  EXPECT_EQ(rule.origin, "x.lua:3");
  ASSERT_EQ(rule.right.size(), 2u);
  EXPECT_TRUE(rule.right[0].terminal);
  EXPECT_FALSE(rule.right[1].terminal);
  EXPECT_THROW(parse_rule("S -> 'a' | 'b'", "x"), std::invalid_argument);
  EXPECT_THROW(parse_rule("S -> 'a' [1]", "x"), std::invalid_argument);
  EXPECT_THROW(parse_rule("S 'a'", "x"), std::invalid_argument);
}

}  // namespace
}  // namespace pushdown::text_test
