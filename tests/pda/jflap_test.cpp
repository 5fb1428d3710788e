// Automata of JFLAP and their conversion, against a search over the configurations of the original.
#include "pda/jflap.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/random.h"
#include "grammar/oracle.h"
#include "pda/lang.h"
#include "pda/notation.h"
#include "random_pda.h"
#include "support/message.h"

namespace pushdown::jflap_test {
namespace {

using testing_support::message;
using Strings = std::vector<std::string>;

// Tries all runs whose stacks stay below a height; no symbol is read when none is needed.
bool accepts(const GeneralPda& general, const Strings& word, std::size_t highest = 8) {
  using Configuration = std::tuple<std::string, std::size_t, Strings>;  // the stack's top last
  std::set<Configuration> seen;
  std::vector<Configuration> open{{general.start, 0, {general.bottom}}};
  while (!open.empty()) {
    const auto configuration = open.back();
    open.pop_back();
    if (!seen.insert(configuration).second) continue;
    const auto& [state, at, stack] = configuration;
    if (at == word.size() && general.by_empty_stack && stack.empty()) return true;
    if (at == word.size() && !general.by_empty_stack)
      for (const auto& final : general.final)
        if (final == state) return true;
    for (const auto& move : general.moves) {
      if (move.state != state || at + move.read.size() > word.size() ||
          !std::equal(move.read.begin(), move.read.end(), word.begin() + at) ||
          move.pop.size() > stack.size() ||
          !std::equal(move.pop.begin(), move.pop.end(), stack.rbegin()))
        continue;
      auto next = stack;
      next.resize(stack.size() - move.pop.size());
      next.insert(next.end(), move.push.rbegin(), move.push.rend());
      if (next.size() <= highest)
        open.emplace_back(move.next, at + move.read.size(), std::move(next));
    }
  }
  return false;
}

// Compares both on all strings; returns the number of accepted ones.
int expect_same_language(const GeneralPda& general, const Pda& pda, const Strings& symbols,
                         std::size_t longest) {
  int accepted = 0;
  for (const auto& word : oracle::all_words(static_cast<int>(symbols.size()), longest)) {
    Strings names;
    bool known = true;
    for (const int symbol : word) {
      names.push_back(symbols[symbol]);
      known = known && pda.alphabet().find(symbols[symbol]);
    }
    bool got = false;
    if (known) {
      const auto automaton = on_string(pda, pda.alphabet().encode(names));
      got = LangChart<Log>(automaton).accepted() > kMinusInfinity;
    }
    // Some strings need a high stack.
    EXPECT_EQ(got, accepts(general, names) || (got && accepts(general, names, 15)))
        << fmt::format("{}", fmt::join(names, " "));
    accepted += got;
  }
  return accepted;
}

TEST(GeneralPda, RandomAutomataKeepTheirLanguage) {
  int direct = 0, indirect = 0, accepted = 0, direct_emptied = 0, accepted_emptied = 0;
  for (std::uint64_t seed = 1; seed <= 240; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto any = [&](const Strings& list) { return list[random.below(list.size())]; };
    const auto some = [&](const Strings& list, int most) {
      Strings chosen;
      for (auto n = random.below(most + 1); n > 0; --n) chosen.push_back(any(list));
      return chosen;
    };
    GeneralPda general;
    general.start = "p";
    general.bottom = "Z";
    general.final = {any({"p", "q", "r"})};
    general.by_empty_stack = seed > 120;
    const bool simple = seed % 2 == 0;
    for (int k = 0; k < 5; ++k) {
      GeneralMove move{any({"p", "q", "r"}), any({"p", "q", "r"})};
      move.read = some({"a", "b"}, simple ? 1 : 2);
      move.pop = {any({"Z", "A"})};
      if (!simple) move.pop = some({"Z", "A"}, 2);
      if (simple) {
        move.push = std::vector<Strings>{{move.pop[0]}, {"A", move.pop[0]}, {}}[random.below(3)];
        if (move.read.empty()) move.push = move.pop;
        if (move.pop[0] == "Z" && move.push.empty() && !general.by_empty_stack) move.push = {"Z"};
      } else {
        move.push = some({"Z", "A"}, 2);
      }
      general.moves.push_back(move);
    }
    try {
      const auto made = converted(general);
      ++(made.direct ? general.by_empty_stack ? direct_emptied : direct : indirect);
      const int count = expect_same_language(general, made.pda, {"a", "b"}, 4);
      (general.by_empty_stack ? accepted_emptied : accepted) += count;
    } catch (const std::invalid_argument& error) {
      const std::string what = error.what();
      EXPECT_TRUE(what.find("accepts no string") != what.npos ||
                  what.find("accepts only the empty string") != what.npos)
          << what;
      for (const auto& word : oracle::all_words(2, 3)) {
        if (word.empty() && what.find("only") != what.npos) continue;
        Strings names;
        for (const int symbol : word) names.push_back(symbol == 0 ? "a" : "b");
        EXPECT_FALSE(accepts(general, names));
      }
    }
  }
  EXPECT_GT(direct, 15);
  EXPECT_GT(indirect, 15);
  EXPECT_GT(accepted, 80);
  EXPECT_GT(direct_emptied, 3);
  EXPECT_GT(accepted_emptied, 15);
}

std::string transition(int from, int to, const char* read, const char* pop, const char* push) {
  const auto part = [](const char* key, const std::string& text) {
    return text.empty() ? fmt::format("<{}/>", key) : fmt::format("<{0}>{1}</{0}>", key, text);
  };
  return fmt::format("<transition>\n<from>{}</from><to>{}</to>{}{}{}</transition>\n", from, to,
                     part("read", read), part("pop", pop), part("push", push));
}
std::string file(const std::string& kind, const std::string& inside) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?><!--Created with JFLAP "
         "6.4.--><structure>&#13;\n\t<type>" +
         kind + "</type>&#13;\n\t<automaton>&#13;\n" + inside + "\t</automaton>&#13;\n</structure>";
}
const std::string kStates =
    "<state id=\"0\" name=\"q0\">&#13;\n<x>94.0</x>\n<initial/>\n</state>\n"
    "<state id=\"1\" name=\"q1\"></state>\n<state id=\"2\" name=\"q2\"><final/></state>\n";

TEST(Jflap, AnBnKeepsItsStates) {
  const auto general = parse_jflap(
      file("pda", kStates + transition(0, 0, "a", "Z", "aZ") + transition(0, 0, "a", "a", "aa") +
                      transition(0, 1, "b", "a", "") + transition(1, 1, "b", "a", "") +
                      transition(1, 2, "", "Z", "Z")));
  const auto made = converted(general);
  EXPECT_TRUE(made.direct);
  EXPECT_TRUE(made.pda.at_bottom());
  EXPECT_EQ(made.pda.states(), (Strings{"q0", "q1"}));
  EXPECT_EQ(expect_same_language(general, made.pda, {"a", "b"}, 8), 4);
  // The same if the last move empties the stack.
  auto emptied = general;
  emptied.moves.back().push.clear();
  EXPECT_TRUE(converted(emptied).direct);
  EXPECT_EQ(to_text(converted(emptied).pda), to_text(made.pda));
}

TEST(Jflap, MovesThatTheNotationLacksAreConverted) {
  // Pushes two symbols at a time and empties the stack: a^n b^2n.
  const auto general = parse_jflap(
      file("pda", kStates + transition(0, 0, "a", "", "AA") + transition(0, 1, "", "", "") +
                      transition(1, 1, "b", "A", "") + transition(1, 2, "\xCE\xBB", "Z", "")));
  const auto made = converted(general);
  EXPECT_FALSE(made.direct);
  EXPECT_EQ(expect_same_language(general, made.pda, {"a", "b"}, 9), 4);
}

TEST(Jflap, FiniteAutomata) {
  const auto general = parse_jflap(
      file("fa", kStates + transition(0, 0, "a", "", "") + transition(0, 1, "", "", "") +
                     transition(1, 2, "b", "", "") + transition(2, 2, "&lt;", "", "")));
  const auto made = converted(general);
  EXPECT_TRUE(made.direct);
  EXPECT_EQ(expect_same_language(general, made.pda, {"a", "b", "<"}, 5), 15);
}

TEST(Jflap, StatesAreKnownByTheirIds) {
  const auto general = parse_jflap(
      file("fa",
           "<state id=\"0\" name=\"S\"><initial/></state><state id=\"1\" name=\" \"/>"
           "<state id=\"2\" name=\"twice\"/><state id=\"3\" name=\"twice\"><final/></state>"
           "<state id=\"4\" name=\"q1\"/><state id=\"5\" name=\"$\\delta 1$\"/>"
           "<state id=\"6\" name=\" an  end \"><final/></state>" +
               transition(0, 1, "a", "", "") + transition(1, 2, "a", "", "") +
               transition(2, 3, "a", "", "") + transition(3, 4, "b", "", "") +
               transition(4, 5, "b", "", "") + transition(5, 6, "b", "", "")));
  EXPECT_EQ(general.final, (Strings{"q3", "an_end"}));
  const auto made = converted(general);
  EXPECT_EQ(made.pda.states(), (Strings{"S", "q1'", "q2", "q3", "q1", "$\\delta~1$", "an_end"}));
  EXPECT_EQ(expect_same_language(general, made.pda, {"a", "b"}, 6), 2);
}

TEST(Jflap, EmptyStack) {
  const auto text = file("pda", "<state id=\"0\"><initial/></state><state id=\"1\"/>" +
                                    transition(0, 0, "a", "", "A") + transition(0, 1, "", "", "") +
                                    transition(1, 1, "b", "A", "") + transition(1, 1, "", "Z", ""));
  const auto general = parse_jflap(text, "x.jff", true);
  EXPECT_EQ(expect_same_language(general, converted(general).pda, {"a", "b"}, 8), 5);
  const auto one = parse_jflap(file("pda", "<state id=\"0\"><initial/></state><state id=\"1\"/>" +
                                               transition(0, 1, "a", "Z", "")),
                               "x.jff", true);
  const auto made = converted(one);
  EXPECT_TRUE(made.direct);
  EXPECT_EQ(made.pda.states(), (Strings{"q0", "q1"}));
  EXPECT_EQ(expect_same_language(one, made.pda, {"a"}, 3), 1);
  EXPECT_CONTAINS(message([&] { parse_jflap(file("fa", kStates), "x.jff", true); }),
                  "x.jff:2: a finite automaton has no stack that could be empty");
}

TEST(Jflap, MovesThatNeverApplyAreWarnings) {
  const auto made = converted(parse_jflap(
      file("pda", kStates + transition(0, 2, "a", "Z", "Z") + transition(0, 2, "b", "z", "z")),
      "x.jff"));
  ASSERT_EQ(made.warnings.size(), 1u);
  EXPECT_CONTAINS(made.warnings[0],
                  "x.jff:12: the transition pops 'z', which is never on the stack");
}

// With input symbols of one character.
Pda with_short_symbols(const Pda& pda) {
  auto source = pda.source();
  for (auto& symbol : source.symbols) symbol = symbol.substr(1);
  for (auto& t : source.transitions) t.symbol = t.symbol.substr(1);
  return Pda(source);
}

TEST(JflapText, WrittenAutomataAcceptTheSameStrings) {
  int plain = 0, accepted = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    auto pda = with_short_symbols(
        testing_support::random_pda(2, 2, 2, seed % 3 == 0 ? 0.1 : 0.2, 1, seed % 2 == 0, seed));
    if (seed % 3 == 0) {  // The bottom stays at the bottom.
      auto source = pda.source();
      std::erase_if(source.transitions, [](const TransitionPattern& t) {
        if (t.action == StackAction::push) return t.pushed == "x0";
        return t.action == StackAction::replace && (t.pushed == "x0") != (t.top == "x0");
      });
      if (source.transitions.empty()) continue;
      pda = Pda(source);
    }
    const auto general = parse_jflap(to_jflap(pda).text);
    plain += general.start == "q0";
    for (const auto& word : oracle::all_words(2, 4)) {
      Strings names;
      for (const int symbol : word) names.push_back(pda.alphabet().symbol(symbol));
      const auto automaton = on_string(pda, word);
      const bool wanted = LangChart<Log>(automaton).accepted() > kMinusInfinity;
      EXPECT_EQ(accepts(general, names), wanted) << fmt::format("{}", fmt::join(names, " "));
      accepted += wanted;
    }
  }
  EXPECT_GT(plain, 10);
  EXPECT_GT(accepted, 300);
}

TEST(JflapText, StatesSymbolsAndNamesAreKept) {
  const Pda pda(
      parse_pda("%start <q>\n%bottom $\n%at_bottom\n%accepting 'a&\"b'\n"
                "<q>, x --<--> <q>, push < for all x\n<q>, < --&--> 'a&\"b', pop\n"
                "'a&\"b', < --&--> 'a&\"b', replace <"));
  const auto made = to_jflap(pda);
  EXPECT_TRUE(made.losses.empty());
  const auto again = converted(parse_jflap(made.text));
  EXPECT_TRUE(again.direct);
  EXPECT_EQ(again.pda.states(), pda.states());
  EXPECT_TRUE(again.pda.at_bottom());
  EXPECT_EQ(again.pda.stack_symbols(), (Strings{"Z", "<"}));
}

TEST(JflapText, WhatJflapLacksIsSaidOrRefused) {
  const auto written = [](const std::string& moves) {
    return to_jflap(Pda(parse_pda("%bottom _\n" + moves)));
  };
  EXPECT_EQ(
      written("q, _ --a/0.5--> q, push S.B\nq, S.B --b--> q, push Z").losses,
      (Strings{"JFLAP has no weights; the file accepts the strings of any weight but 0",
               "JFLAP's stack symbols are single characters, without its own Z: S.B is A, Z is "
               "B"}));
  EXPECT_EQ(
      message([&] { written("q, _ --ab--> q, push x"); }),
      "[pda.save] JFLAP reads each character as a symbol, and the input symbol 'ab' is not one "
      "character");
  EXPECT_CONTAINS(message([&] { written("%symbols a \xCE\xBB\nq, _ --\xCE\xBB--> q, push x"); }),
                  "is not one character");
  EXPECT_CONTAINS(message([&] { written("q\x01, _ --a--> q, push x"); }),
                  "a name has the control character 0x01, which XML does not have");
}

TEST(Jflap, ErrorsNameTheLine) {
  const auto error = [](const std::string& text) {
    return message([&] { converted(parse_jflap(text, "x.jff")); });
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "x.jff:1: expected an XML element, got the end of the file"},
      {"<structure>", "x.jff:1: the element <structure> of line 1 is not closed"},
      {"<structure>\n</automaton>", "x.jff:2: </automaton> closes no open element"},
      {"<a b=1/>", "x.jff:1: expected the attribute b in quotes"},
      {"<a>&nbsp;</a>", "x.jff:1: unknown entity &nbsp;"},
      {"<a>&#xD800;</a>", "is no character"},
      {"<!DOCTYPE a [<!ENTITY b 'b'>]><a/>", "own declarations is not supported"},
      {"<a/>\n<a/>", "x.jff:2: a document has one outermost element"},
      {"<a>\xff</a>", "x.jff:1: the file is not UTF-8 (byte 0xff)"},
      {"<grammar/>", "x.jff:1: expected the element <structure> of a JFLAP file, got <grammar>"},
      {file("turing", kStates), "x.jff:2: expected the type pda or fa"},
      {file("pda", ""), "no state is <initial/>"},
      {file("pda", "<state id=\"0\"><initial/></state>"),
       "no state is <final/>, so no string is accepted; acceptance = 'empty_stack'"},
      {file("pda", "<state name=\"q\"/>"), "x.jff:4: the state has no id"},
      {file("pda", "<state id=\"0\"/>\n<state id=\"0\"/>"), "x.jff:5: two states have the id 0"},
      {file("pda", "<state id=\"0\"><initial/></state><state id=\"1\"><initial/></state>"),
       "q0 and q1 are initial"},
      {file("pda", kStates + transition(0, 7, "a", "Z", "Z")),
       "x.jff:11: <to> names the state '7', which does not exist"},
      {file("pda", kStates + "<transition><from>0</from></transition>"),
       "the transition has no <to>"},
      {file("pda", kStates + transition(0, 1, "a", "Z", "Z")), "accepts no string"},
      {file("pda", kStates + transition(0, 2, "", "Z", "Z")),
       "the file: the automaton accepts only the empty string, and every transition must read"},
      {file("pda", kStates + transition(0, 2, "a", "z", "z")),
       "x.jff:10: the transition pops 'z', which is never on the stack; the stack begins with Z, "
       "so "
       "the automaton accepts no string"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_NE(error(text).find(expected), std::string::npos) << expected << "\n" << error(text);
  std::string deep;
  for (int k = 0; k < 100'000; ++k) deep += "<a>";
  EXPECT_NE(error(deep).find("nested deeper than 100"), std::string::npos);
}

}  // namespace
}  // namespace pushdown::jflap_test
