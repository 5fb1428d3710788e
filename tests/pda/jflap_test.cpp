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
    if (at == word.size())
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
  int direct = 0, indirect = 0, accepted = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
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
    const bool simple = seed % 2 == 0;
    for (int k = 0; k < 5; ++k) {
      GeneralMove move{any({"p", "q", "r"}), any({"p", "q", "r"})};
      move.read = some({"a", "b"}, simple ? 1 : 2);
      move.pop = {any({"Z", "A"})};
      if (!simple) move.pop = some({"Z", "A"}, 2);
      if (simple) {
        move.push = std::vector<Strings>{{move.pop[0]}, {"A", move.pop[0]}, {}}[random.below(3)];
        if (move.read.empty()) move.push = move.pop;
        if (move.pop[0] == "Z" && move.push.empty()) move.push = {"Z"};
      } else {
        move.push = some({"Z", "A"}, 2);
      }
      general.moves.push_back(move);
    }
    try {
      const auto made = converted(general);
      ++(made.direct ? direct : indirect);
      accepted += expect_same_language(general, made.pda, {"a", "b"}, 4);
    } catch (const std::invalid_argument& error) {
      const std::string what = error.what();
      EXPECT_TRUE(what.find("accepts no string") != what.npos ||
                  what.find("derives only the empty string") != what.npos)
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
      {file("pda", "<state id=\"0\"><initial/></state>"), "no state is <final/>"},
      {file("pda", "<state name=\"q\"/>"), "x.jff:4: the state has no id"},
      {file("pda", "<state id=\"0\"/>\n<state id=\"0\"/>"), "x.jff:5: two states have the id 0"},
      {file("pda", "<state id=\"0\" name=\"q 0\"/>"), "must not contain white space"},
      {file("pda", "<state id=\"0\"><initial/></state><state id=\"1\"><initial/></state>"),
       "q0 and q1 are initial"},
      {file("pda", kStates + transition(0, 7, "a", "Z", "Z")),
       "x.jff:11: <to> names the state '7', which does not exist"},
      {file("pda", kStates + "<transition><from>0</from></transition>"),
       "the transition has no <to>"},
      {file("pda", kStates + transition(0, 1, "a", "Z", "Z")), "accepts no string"},
      {file("pda", kStates + transition(0, 2, "", "Z", "Z")), "derives only the empty string"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_NE(error(text).find(expected), std::string::npos) << expected << "\n" << error(text);
  std::string deep;
  for (int k = 0; k < 100'000; ++k) deep += "<a>";
  EXPECT_NE(error(deep).find("nested deeper than 100"), std::string::npos);
}

}  // namespace
}  // namespace pushdown::jflap_test
