// The value type and its notation: round trips, variables, errors that name the line.
#include "pda/notation.h"

#include <gtest/gtest.h>

#include "random_pda.h"
#include "support/message.h"

namespace pushdown::notation_test {
namespace {

using testing_support::message;

std::vector<std::string> lines_of(const Pda& pda) {
  std::vector<std::string> lines;
  for (const auto& t : pda.transitions()) lines.push_back(pda.transition_text(t));
  return lines;
}

void expect_same(const Pda& a, const Pda& b) {
  EXPECT_EQ(to_text(a), to_text(b));
  EXPECT_EQ(a.name(), b.name());
  EXPECT_EQ(a.states(), b.states());
  EXPECT_EQ(a.stack_symbols(), b.stack_symbols());
  EXPECT_EQ(a.alphabet().symbols(), b.alphabet().symbols());
  EXPECT_EQ(a.accepting(), b.accepting());
  EXPECT_EQ(a.at_bottom(), b.at_bottom());
  EXPECT_EQ(lines_of(a), lines_of(b));
}

TEST(PdaNotation, ReadsEveryPart) {
  const Pda pda(
      parse_pda("\xEF\xBB\xBF# w # reversed w\r\n"
                "%name marked\n%start q1\n%bottom _\n%accepting q2 q1/0.25\n%at_bottom\n\n"
                "  q1, x --a--> q1, push a for all x for a in 0 1   # the first half\n"
                "q1, x --#/1/4--> q2, replace x for all x\n"
                "q2,0 --0/0.5-->q2,pop\n"
                "q2, 1 --1--> q2, pop # the second half\n"));
  EXPECT_EQ(pda.name(), "marked");
  EXPECT_EQ(pda.states(), (std::vector<std::string>{"q1", "q2"}));
  EXPECT_EQ(pda.stack_symbols(), (std::vector<std::string>{"_", "0", "1"}));
  EXPECT_EQ(pda.alphabet().symbols(), (std::vector<std::string>{"0", "1", "#"}));
  EXPECT_EQ(pda.accepting(), (std::vector<double>{0.25, 1}));
  EXPECT_TRUE(pda.at_bottom());
  EXPECT_TRUE(pda.deterministic());
  EXPECT_EQ(lines_of(pda),
            (std::vector<std::string>{
                "q1, _ --0--> q1, push 0", "q1, _ --1--> q1, push 1", "q1, 0 --0--> q1, push 0",
                "q1, 0 --1--> q1, push 1", "q1, 1 --0--> q1, push 0", "q1, 1 --1--> q1, push 1",
                "q1, _ --'#'/0.25--> q2, replace _", "q1, 0 --'#'/0.25--> q2, replace 0",
                "q1, 1 --'#'/0.25--> q2, replace 1", "q2, 0 --0/0.5--> q2, pop",
                "q2, 1 --1--> q2, pop"}));
  EXPECT_EQ(pda.transitions()[0].origin, "text:8");
  expect_same(pda, Pda(parse_pda(to_text(pda))));
  expect_same(pda, Pda(pda.source()));
}

TEST(PdaNotation, RandomAutomataAreReadBack) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Pda pda = testing_support::random_pda(3, 3, 2, 0.1, 1e-3, seed % 2 == 0, seed);
    expect_same(pda, Pda(parse_pda(to_text(pda))));
    expect_same(pda, Pda(pda.source()));
  }
}

TEST(PdaNotation, OtherNotationsAreRefusedUnlessTheirSymbolsAreListed) {
  const std::string a = "%bottom Z\nq, Z --a--> q, push A\n";
  const std::vector<std::tuple<std::string, std::string, std::string>> cases{
      {"q, Z --\xCE\xB5--> q, replace Z",
       "[pda] text:3: '\xCE\xB5' as an input symbol: every transition reads a symbol, and moves "
       "without input are not supported; if '\xCE\xB5' is a symbol, list it in symbols",
       "%symbols a \xCE\xB5"},
      {"q, Z --x--> q, replace Z for x in a epsilon", "text:3: 'epsilon' as an input symbol",
       "%symbols a epsilon"},
      {"q, \xCE\xBB --a--> q, pop", "text:3: '\xCE\xBB' as a stack symbol",
       "%stack_symbols Z A \xCE\xBB"},
      {"q, A --a--> q, replace \xCE\xB5", "and removes it with pop", "%stack_symbols Z A \xCE\xB5"},
      {"q, A --a--> q, push AZ",
       "[pda] text:3: 'push AZ' puts one symbol on the stack, which is the top of no transition: "
       "a transition pushes one symbol; if AZ is one, list it in stack_symbols",
       "%stack_symbols Z A AZ"},
      {"q, Z --a--> q, push BZ", "'push BZ' puts one symbol", "%stack_symbols Z A BZ"},
      {"q, A --b--> q, replace ZZA\nq, A --b--> q, pop", "'replace ZZA' puts one symbol",
       "%stack_symbols Z A ZZA"}};
  for (const auto& [line, complaint, list] : cases) {
    EXPECT_CONTAINS(message([&] { Pda(parse_pda(a + line)); }), complaint);
    EXPECT_EQ(message([&] { Pda(parse_pda(a + line + "\n" + list)); }), "no error");
  }
  // Names of several characters are names.
  const Pda pda(parse_pda("%bottom Z\nq, Z --a--> q, push Z1\nq, Z1 --a--> q, push mark"));
  expect_same(pda, Pda(parse_pda(to_text(pda))));
}

TEST(PdaNotation, PopsOfTheBottomThatNeverFireAreReported) {
  const auto warnings = [](const std::string& text) {
    return Pda(parse_pda("%bottom Z\n" + text)).warnings();
  };
  EXPECT_EQ(warnings("q, Z --a--> q, pop"),
            (std::vector<std::string>{
                "text:2: the transition from q, Z that reads a never fires: the last element of "
                "the stack cannot be popped, and no transition pushes Z"}));
  EXPECT_TRUE(warnings("q, Z --a--> q, pop\nq, Z --b--> q, push Z").empty());
  EXPECT_TRUE(warnings("q, x --a--> q, pop for all x\nq, Z --b--> q, push y").empty());
}

TEST(PdaNotation, AnyNamesAreReadBack) {
  const std::vector<std::string> names{"(",  ")",  ",",   ";",   "$",  "#",  "/",    "-",   "--",
                                       "->", "'",  "\"",  "'\"", "\\", "%",  "-->",  "a,b", "a/b",
                                       "#a", "%a", "for", "all", "in", "a-", "push", "⊥",   "'a'"};
  PdaSource source;
  source.start = names[0];
  source.bottom = names[3];
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto name = [&](std::size_t more) { return names[(k + more) % names.size()]; };
    source.transitions.push_back(
        {name(0), name(1), name(2), name(3), StackAction::push, name(4), 0.5});
    source.transitions.push_back(
        {name(5), name(6), name(0), name(7), StackAction::replace, name(8)});
    source.transitions.push_back({name(3), name(2), name(1), name(0), StackAction::pop});
    source.accepting.emplace_back(name(0), 0.5);
  }
  const Pda pda(source);
  expect_same(pda, Pda(parse_pda(to_text(pda))));
}

TEST(PdaNotation, VariablesStandForNamesThatFitAllTheirPlaces) {
  // Symbols that are read and are on the stack belong to both alphabets.
  const Pda both(
      parse_pda("%bottom _\n%start q\n%stack_symbols 0 1 _\n%symbols 1 c 0\n"
                "q, a --a--> q, pop for all a"));
  EXPECT_EQ(lines_of(both), (std::vector<std::string>{"q, 0 --0--> q, pop", "q, 1 --1--> q, pop"}));
  // States, several variables, and a value with the name of another variable.
  const Pda states(
      parse_pda("%bottom _\n%start q\nq, _ --y--> r, push _\n"
                "s, x --y--> r, replace x for all s, x for y in x y2"));
  EXPECT_EQ(lines_of(states),
            (std::vector<std::string>{"q, _ --y--> r, push _", "q, _ --x--> r, replace _",
                                      "q, _ --y2--> r, replace _", "r, _ --x--> r, replace _",
                                      "r, _ --y2--> r, replace _"}));
}

TEST(PdaNotation, NormalizedWeightsSumToOne) {
  const Pda pda(
      parse_pda("%bottom _\nq, _ --a/3--> q, push _\nq, _ --a--> r, push _\n"
                "r, _ --a/0--> q, push _\nr, _ --b/7--> q, push _"));
  const auto normalized = pda.normalized();
  std::vector<double> weights;
  for (const auto& t : normalized.transitions()) weights.push_back(t.weight);
  EXPECT_EQ(weights, (std::vector<double>{0.75, 0.25, 0, 1}));
  EXPECT_FALSE(pda.deterministic());
}

// Returns the message of the exception that reading or building throws.
std::string message_of(const std::string& text) {
  try {
    Pda pda(parse_pda(text));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(PdaErrors, NameLineAndSymbol) {
  const std::string good = "q, _ --a--> r, push _\n";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "the text contains no transitions"},
      {good, "the bottom symbol is missing; name it in a line %bottom SYMBOL"},
      {"%bottom _\n", "the text contains no transitions"},
      {"%bottom\n", "text:1: expected a name after %bottom, got the end of the line"},
      {"%bottom _ x\n", "text:1: %bottom takes one name, got 'x' after it"},
      {"%bottom _\n%bottom _\n", "text:2: %bottom is given twice"},
      {"%botom _\n", "unknown word %botom, did you mean 'bottom'?"},
      {"%bottom _\nq _ --a--> r, pop",
       "text:2: expected , after the state q, got '_ --a--> r, pop'"},
      {"%bottom _\nq, _ -a-> r, pop", "expected -- after the top of the stack, got '-a-> r, pop'"},
      {"%bottom _\nq, _ --a-> r, pop", "expected --> after the symbol that is read"},
      {"%bottom _\nq, _ --a--> r pop", "expected , after the next state r"},
      {"%bottom _\nq, _ --a--> r, pup", "expected push y, replace y or pop, got 'pup'"},
      {"%bottom _\nq, _ --a--> r, push", "expected the symbol to push, got the end of the line"},
      {"%bottom _\nq, _ --a--> r, pop _", "expected the end of the line, got '_'"},
      {"%bottom _\nq, _ --a--> r", "expected , after the next state r, got the end of the line"},
      {"%bottom _\nq, _ --a/--> r, pop", "expected a number as the weight"},
      {"%bottom _\nq, _ --a/x--> r, pop", "expected a number as the weight, got 'x--> r, pop'"},
      {"%bottom _\nq, _ --a/1/0--> r, pop", "division by zero in a weight"},
      {"%bottom _\nq, _ --a/-1--> r, pop",
       "text:2: the weight of a transition must be a number of at least 0, got -1"},
      {"%bottom _\nq, _ --a/nan--> r, pop", "must be a number of at least 0"},
      {"%bottom _\n" + good + good,
       "text:3: the transition q, _ --a--> r, push _ is given twice, first at text:2"},
      {"%bottom _\n%states q r\nq, _ --a--> rr, pop",
       "text:3: state 'rr' is not in the list of states, did you mean 'r'?"},
      {"%bottom _\n%stack_symbols x y\nq, x --a--> q, pop",
       "stack symbol '_' is not in the list of stack symbols"},
      {"%bottom _\n%symbols b c\nq, _ --a--> q, push _",
       "text:3: input symbol 'a' is not in the list of input symbols"},
      {"%bottom _\n%states q q\nq, _ --a--> q, push _", "state 'q' is listed twice"},
      {"%bottom _\n%states q\n%accepting p\nq, _ --a--> q, push _",
       "state 'p' is not in the list of states"},
      {"%bottom _\n%accepting q/-1\nq, _ --a--> q, push _",
       "the weight of the accepting state q must be a number of at least 0, got -1"},
      {"%bottom _\n%accepting q q\nq, _ --a--> q, push _", "the accepting state q is given twice"},
      {"%bottom _\n%start p\n%states q\nq, _ --a--> q, push _",
       "state 'p' is not in the list of states"},
      {"%bottom _\nq, _ --a--> q, push _ for all x", "text:2: variable x does not appear"},
      {"%bottom _\nq, x --a--> q, push _ for x", "expected 'for all x' or 'for x in ...'"},
      {"%bottom _\nq, x --a--> q, push _ for x in", "the range of x is empty"},
      {"%bottom _\nq, x --a--> q, push _ for x in 0 for all x", "variable x has two ranges"},
      {"%bottom _\n%start q\nq, _ --b--> q, push c\nq, a --a--> q, pop for all a",
       "text:4: variable a has no value"},
      {"%bottom _\nq, x --a--> q, pop for all x, q", "the first transition has a variable"},
      {"%bottom _\nq, 'x --a--> q, pop", "the name 'x --a--> q, pop has no closing quote"},
      {"%bottom _\nq, '' --a--> q, pop", "the top of the stack must not be empty"},
      {"%bottom _\nq, 'x y' --a--> q, pop", "must not contain white space, got 'x y'"},
      {"%bottom _\nq, \xff --a--> q, pop", "text:2: byte 4 (0xff) is not UTF-8"},
      {"%accepting\n", "%accepting needs at least one state"},
      {"%at_bottom now\n", "%at_bottom takes no argument, got 'now'"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_NE(message_of(text).find(expected), std::string::npos)
        << "text:\n"
        << text << "\nmessage: " << message_of(text);
}

}  // namespace
}  // namespace pushdown::notation_test
