// The possible next symbols, compared with lists of all strings of a language.
#include "task/next_symbols.h"

#include <gtest/gtest.h>

#include "grammar/membership.h"
#include "task/labelled.h"

namespace pushdown::testing_support::next_symbols_test {
namespace {

std::vector<Word> all_words(int symbols, int longest) {
  std::vector<Word> words{{}};
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (static_cast<int>(words[i].size()) == longest) break;
    for (int symbol = 0; symbol < symbols; ++symbol) {
      words.push_back(words[i]);
      words.back().push_back(symbol);
    }
  }
  return words;
}

// In these languages a string of up to 4 symbols can be completed by as many symbols.
void expect_brute_force(const Grammar& grammar, bool (*is_member)(const Word&)) {
  const int symbols = grammar.alphabet().size();
  std::set<Word> prefixes, members;
  for (const Word& word : all_words(symbols, 11)) {
    if (!is_member(word)) continue;
    members.insert(word);
    for (std::size_t n = 0; n <= word.size(); ++n)
      prefixes.insert(Word(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(n)));
  }
  const auto words = all_words(symbols, 4);
  const auto sets = next_symbols(grammar, words);
  ASSERT_EQ(sets.size(), words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    ASSERT_EQ(sets[i].size(), words[i].size() + 1);
    Word read;
    for (std::size_t t = 0; t <= words[i].size(); ++t) {
      if (t > 0) read.push_back(words[i][t - 1]);
      SymbolSet expected = members.contains(read) ? SymbolSet{1} << symbols : 0;
      for (int symbol = 0; symbol < symbols; ++symbol) {
        read.push_back(symbol);
        if (prefixes.contains(read)) expected |= SymbolSet{1} << symbol;
        read.pop_back();
      }
      EXPECT_EQ(sets[i][t], expected) << grammar.alphabet().text(words[i]) << " after " << t;
    }
  }
}

TEST(NextSymbols, AreThoseOfAllStrings) {
  expect_brute_force(an_bn(), is_an_bn);
  expect_brute_force(marked(), is_marked);
}

TEST(NextSymbols, OfBrackets) {
  // ( ( ) ] : after "(" everything but the other closing bracket and the end, and so on.
  const auto sets = next_symbols(dyck2(), {{0, 0, 1, 3}, {}});
  EXPECT_EQ(sets[0], (std::vector<SymbolSet>{0b10101, 0b00111, 0b00111, 0b00111, 0}));
  EXPECT_EQ(sets[1], std::vector<SymbolSet>{0b10101});
}

TEST(NextSymbols, InvalidInputIsReported) {
  EXPECT_THROW(next_symbols(an_bn(), {{0, 2}}), std::invalid_argument);
  std::string text = "S -> ";
  for (int i = 0; i < 64; ++i) text += fmt::format("{}'s{}'", i > 0 ? " | " : "", i);
  EXPECT_TRUE(contains(problem([&] { next_symbols(grammar_of(text.c_str()), {{0}}); }),
                       "at most 63 symbols, got 64"));
}

}  // namespace
}  // namespace pushdown::testing_support::next_symbols_test
