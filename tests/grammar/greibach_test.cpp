// Greibach normal form and the homomorphism into the hardest context-free language, compared with
// brute force over all short strings.
#include "grammar/greibach.h"

#include <gtest/gtest.h>

#include <cmath>

#include "grammar/hardest_homomorphism.h"
#include "grammar/inside.h"
#include "grammar/text.h"
#include "oracle.h"
#include "support/message.h"

namespace pushdown::greibach_test {
namespace {

using testing_support::message;

constexpr std::size_t kLongest = 5;

// More grammars than the oracle has: some already in the normal form, others left-recursive in
// other ways.
std::map<std::string, std::string> texts() {
  auto all = oracle::grammar_texts();
  all["in the form"] = "S -> 'a' B B [.5] | 'b' [.5]\nB -> 'b' B [.3] | 'a' [.7]";
  all["start on the right"] = "S -> 'a' S S [.3] | 'b' [.7]";
  all["empty string at the start"] = "S -> 'a' B [.5] | [.5]\nB -> 'b' B [.3] | 'a' [.7]";
  all["empty strings inside"] =
      "S -> 'a' B C B 'c' [.6] | 'b' S [.3] | [.1]\nB -> 'b' B [.3] | [.7]\nC -> [1]";
  all["only through weight 0"] =
      "S -> 'a' S [.5] | 'b' [.5] | 'a' B [0]\nB -> 'c' B [.5] | 'b' [.5]";
  all["marked reversal"] = "S -> '0' S '0' [.3] | '1' S '1' [.4] | '#' [.3]";
  all["unmarked reversal"] = "S -> '0' S '0' [.3] | '1' S '1' [.4] | [.3]";
  all["dyck"] = "S -> S T [.4] | T [.6]\nT -> '(' S ')' [.4] | '(' ')' [.6]";
  all["indirect left recursion"] =
      "S -> A 'a' [.4] | 'b' [.6]\nA -> B 'b' [.5] | 'a' [.5]\nB -> S 'c' [.6] | A A [.2] | 'c' "
      "[.2]";
  all["names to avoid"] =
      "N1 -> N1 N2 'a' [.3] | 'b' [.7]\nN2 -> N1 N1 [.2] | 'a' N1 'b' [.2] | [.6]";
  return all;
}

void expect_form(const Grammar& grammar) {
  for (const auto& rule : grammar.rules()) {
    if (rule.right.empty()) {
      EXPECT_EQ(rule.left, grammar.start());
      continue;
    }
    EXPECT_TRUE(rule.right[0].terminal) << grammar.rule_text(rule);
    for (std::size_t k = 1; k < rule.right.size(); ++k) {
      EXPECT_FALSE(rule.right[k].terminal) << grammar.rule_text(rule);
      EXPECT_NE(rule.right[k].id, grammar.start()) << grammar.rule_text(rule);
    }
  }
}

TEST(Greibach, StringsKeepTheirWeights) {
  for (const auto& [name, text] : texts()) {
    SCOPED_TRACE(name);
    const Grammar grammar(parse_grammar(text)), greibach = greibach_grammar(grammar);
    expect_form(greibach);
    const auto wanted = oracle::sums(grammar, kLongest);
    const double ends = grammar.termination_probability();
    for (const auto& word : oracle::all_words(grammar.alphabet().size(), kLongest)) {
      Word other;  // a symbol with only weight 0 is in no rule of the result
      bool known = true;
      for (const int id : word) {
        const auto found = greibach.alphabet().find(grammar.alphabet().symbol(id));
        known = known && found;
        other.push_back(found.value_or(0));
      }
      const double weight = known ? std::exp(log_probability(greibach, other)) : 0;
      const double expected = oracle::weight_of(wanted, word);
      EXPECT_NEAR(weight * ends, expected, 1e-9 * expected + 1e-14)
          << grammar.alphabet().text(word) << "\n"
          << to_text(greibach);
    }
  }
}

TEST(Greibach, TooManyRulesAreRefused) {
  // Left recursion through all nonterminals, with nonterminals that are replaced by their rules.
  std::string text;
  for (int i = 0; i < 47; ++i)
    text += fmt::format("N{} -> N{} N{} [0.3] | N{} [0.3] | 'b' [0.4]\n", i, (i * 7 + 1) % 47,
                        (i * 3 + 2) % 47, (i * 13 + 5) % 47);
  EXPECT_EQ(message([&] { greibach_form(Grammar(parse_grammar(text))); }),
            "[grammar.greibach] the Greibach normal form of this grammar has more than 1000000 "
            "rules, because of the left recursion among its 47 nonterminals");
}

TEST(Greibach, LeftRecursionNearOneLosesNoDigits) {
  const Grammar left(parse_grammar("S -> S 'b' [0.9999999999999] | 'a' [1e-13]"));
  const Grammar greibach = greibach_grammar(left);
  for (const char* word : {"a", "a b", "a b b b"})
    EXPECT_NEAR(log_probability(greibach, greibach.alphabet().parse(word)),
                log_probability(left, left.alphabet().parse(word)), 1e-12);
}

TEST(Greibach, MassesAreTheSumsOfTheRules) {
  for (const auto& [name, text] : texts()) {
    const auto form = greibach_form(Grammar(parse_grammar(text)));
    std::vector<double> sums(form.names.size());
    for (const auto& rule : form.rules) {
      double mass = rule.weight;
      for (const int id : rule.rest) mass *= form.mass[id];
      sums[rule.left] += mass;
    }
    for (std::size_t a = 0; a < sums.size(); ++a)
      EXPECT_NEAR(sums[a], form.mass[a], 1e-9) << name << ": " << form.names[a];
  }
}

TEST(Greibach, RulesThatBeginWithTerminalsAreKept) {
  // Three rules, two of terminals, and those of the start symbol on no right side.
  EXPECT_EQ(greibach_form(Grammar(parse_grammar(texts().at("marked reversal")))).rules.size(), 8u);
  // Each of two nonterminals may be left out.
  const auto form = greibach_form(Grammar(parse_grammar("S -> '(' S ')' S [.4] | [.6]")));
  EXPECT_EQ(form.rules.size(), 9u);
  EXPECT_NEAR(form.empty_mass, 0.6, 1e-15);
  EXPECT_EQ(form.names, (std::vector<std::string>{"S", "N1", "S'"}));
}

TEST(Greibach, GrammarsInTheFormKeepTheirRules) {
  const Grammar grammar(parse_grammar(texts().at("in the form")));
  EXPECT_EQ(to_text(greibach_grammar(grammar)), to_text(grammar));
}

// Returns whether a string is in L0 by its definition: tries every choice of the y_i, as the set of
// bracket stacks that are open after each piece. It shares no code with the product.
bool in_hardest_language(const std::vector<std::string>& symbols) {
  std::set<std::string> open{"start"};
  std::vector<std::string> pieces{""};
  for (const auto& symbol : symbols) {
    if (symbol == ",") {
      pieces.emplace_back();
    } else if (symbol != ";") {
      pieces.back() += symbol;
    } else {
      std::set<std::string> next;
      for (std::size_t k = 1; k + 1 < pieces.size(); ++k)
        for (std::string stack : open) {
          bool fits = true;
          for (const char c : pieces[k]) {
            if (c == '$') {
              fits = fits && stack == "start";
              stack = "";
            } else if (stack == "start") {
              fits = false;
            } else if (c == '(' || c == '[') {
              stack += c;
            } else {
              fits = fits && stack.ends_with(c == ')' ? '(' : '[');
              if (fits) stack.pop_back();
            }
            if (!fits) break;
          }
          if (fits) next.insert(stack);
        }
      open = next;
      pieces.assign(1, "");
    }
  }
  return pieces.size() == 1 && pieces[0].empty() && open.contains("");
}

TEST(HardestLanguage, TheRecogniserOfTheTestKnowsTheLanguage) {
  const auto in = [](const std::string& text) {
    std::vector<std::string> symbols;
    for (const char c : text) symbols.emplace_back(1, c);
    return in_hardest_language(symbols);
  };
  for (const char* text : {",$,;", ",$(),;", ")),$(,[;,),;", ",$,;,(),;", "$,]],$[,((;],),],;"})
    EXPECT_TRUE(in(text)) << text;
  for (const char* text : {"", ";", "$;", "$,;", ",$;", ",(),;", ",$(,;", ",$)(,;", ",$(],;",
                           ",$,;()", ",$,;,$,;", ",$([)],;", ",$,;,(,;,(,;", ",$,"})
    EXPECT_FALSE(in(text)) << text;
}

TEST(HardestLanguage, HomomorphismSeparatesMembersFromOtherStrings) {
  for (const auto& [name, text] : texts()) {
    SCOPED_TRACE(name);
    const Grammar grammar(parse_grammar(text));
    const auto h = hardest_homomorphism(grammar);
    // A large normal form has long images.
    const std::size_t longest = greibach_form(grammar).rules.size() < 20 ? 6 : 4;
    const auto strings = oracle::sums(grammar, longest);
    int members = 0, others = 0;
    for (const auto& word : oracle::all_words(grammar.alphabet().size(), longest)) {
      if (word.empty()) continue;
      std::vector<std::string> image;
      for (const int id : word) image.insert(image.end(), h[id].begin(), h[id].end());
      const bool member = oracle::weight_of(strings, word) > 0;
      ++(member ? members : others);
      EXPECT_EQ(in_hardest_language(image), member) << grammar.alphabet().text(word);
    }
    EXPECT_GT(members, 0);
    if (name == "marked reversal") {
      EXPECT_GT(others, 100);
    }
  }
}

TEST(HardestLanguage, ImagesAreAsDefined) {
  const Grammar grammar(parse_grammar("S -> 'a' B C | 'b'\nB -> 'b' B | 'b' C\nC -> 'c'"));
  const auto h = hardest_homomorphism(grammar);
  const auto text = [&](const char* symbol) {
    std::string joined;
    for (const auto& s : h[grammar.alphabet().id(symbol)]) joined += s;
    return joined;
  };
  // B is used most and has number 1.
  EXPECT_EQ(text("a"), ",$([[(([(,;");
  EXPECT_EQ(text("b"), ",$,)])([(,)])([[(,;");
  EXPECT_EQ(text("c"), ",)]]),;");
}

}  // namespace
}  // namespace pushdown::greibach_test
