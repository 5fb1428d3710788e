#include "grammar/membership.h"

#include <gtest/gtest.h>

#include <functional>

#include "grammar/inside.h"
#include "grammar/text.h"
#include "oracle.h"

namespace pushdown::membership_test {
namespace {

constexpr std::size_t kLongest = 6;

// Visits every string up to a length by pushing and removing symbols; f checks what was visited.
void walk(Membership& membership, std::size_t longest, const std::function<void()>& f) {
  f();
  if (membership.word().size() == longest) return;
  for (int s = 0; s < membership.grammar().alphabet().size(); ++s) {
    membership.push(s);
    walk(membership, longest, f);
    membership.pop();
  }
}

// Definitions of the languages that do not use the grammars.
bool is_balanced(const Word& word) {
  Word open;
  for (const int s : word) {
    if (s % 2 == 0)
      open.push_back(s);
    else if (open.empty() || open.back() != s - 1)
      return false;
    else
      open.pop_back();
  }
  return open.empty();
}
bool begins_balanced(const Word& word) {
  Word open;
  for (const int s : word) {
    if (s % 2 == 0)
      open.push_back(s);
    else if (open.empty() || open.back() != s - 1)
      return false;
    else
      open.pop_back();
  }
  return true;
}
bool is_an_bn(const Word& word) {
  const std::size_t n = word.size() / 2;
  for (std::size_t i = 0; i < word.size(); ++i)
    if (word[i] != (i < n ? 0 : 1)) return false;
  return word.size() % 2 == 0 && n > 0;
}
bool is_palindrome(const Word& word) { return std::equal(word.begin(), word.end(), word.rbegin()); }

Grammar dyck2() {
  return Grammar(
      parse_grammar("#% symbols '(' ')' '[' ']'\n"
                    "S -> '(' S ')' [.25] | '[' S ']' [.25] | S S [.25] | [.25]"));
}

TEST(Membership, AgreesWithTheWeightOfEveryShortString) {
  for (const auto& [name, text] : oracle::grammar_texts()) {
    SCOPED_TRACE(name);
    const Grammar grammar(parse_grammar(text));
    const auto weights = oracle::sums(grammar, kLongest);
    const auto words = oracle::all_words(grammar.alphabet().size(), kLongest);
    Membership membership(grammar);
    std::size_t members = 0;
    for (const auto& word : words) {
      const bool expected = oracle::weight_of(weights, word) > 0;
      ASSERT_EQ(membership.contains(word), expected) << grammar.alphabet().text(word);
      members += expected;
    }
    EXPECT_GT(members, 0u);
  }
}

TEST(Membership, EveryPrefixOfAMemberIsViableAndNothingElseIs) {
  // Every viable string of these grammars up to length 3 has a continuation of at most 3 symbols,
  // or of 4 where there are only two symbols.
  for (const auto& [name, text] : oracle::grammar_texts()) {
    SCOPED_TRACE(name);
    const Grammar grammar(parse_grammar(text));
    std::set<Word> prefixes;
    const std::size_t longest = kLongest + (grammar.alphabet().size() == 2 ? 1 : 0);
    for (const auto& [word, weight] : oracle::sums(grammar, longest))
      if (weight > 0)
        for (std::size_t n = 0; n <= word.size(); ++n)
          prefixes.insert(Word(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(n)));
    Membership membership(grammar);
    walk(membership, 3, [&] {
      ASSERT_EQ(membership.viable(), prefixes.contains(membership.word()))
          << grammar.alphabet().text(membership.word());
    });
  }
}

TEST(Membership, KnownLanguagesUpToLengthTwelve) {
  const Grammar an_bn(parse_grammar("S -> 'a' S 'b' | 'a' 'b'"));
  const Grammar palindrome(
      parse_grammar("S -> 'a' S 'a' | 'b' S 'b' | 'c' S 'c' | 'a' | 'b' | 'c' |"));
  Membership first(an_bn), second(palindrome);
  walk(first, 12, [&] { ASSERT_EQ(first.accepts(), is_an_bn(first.word())); });
  walk(second, 9, [&] {
    ASSERT_EQ(second.accepts(), is_palindrome(second.word()));
    ASSERT_TRUE(second.viable());
  });
  Membership third(dyck2());
  walk(third, 7, [&] {
    ASSERT_EQ(third.accepts(), is_balanced(third.word()));
    ASSERT_EQ(third.viable(), begins_balanced(third.word()));
  });
}

TEST(Membership, PalindromesUpToLengthTwelve) {
  Membership even(Grammar(parse_grammar("S -> 'a' S 'a' | 'b' S 'b' |")));
  Membership any(Grammar(parse_grammar("S -> 'a' S 'a' | 'b' S 'b' | 'a' | 'b' |")));
  walk(even, 12, [&] {
    const Word& word = even.word();
    ASSERT_EQ(even.accepts(), word.size() % 2 == 0 && is_palindrome(word));
  });
  walk(any, 12, [&] { ASSERT_EQ(any.accepts(), is_palindrome(any.word())); });
}

TEST(Membership, MarkedPalindromesUpToLengthTwelve) {
  Membership membership(Grammar(parse_grammar("S -> 'a' S 'a' | 'b' S 'b' | 'c'")));
  std::int64_t members = 0;
  walk(membership, 12, [&] {
    const Word& word = membership.word();
    const bool expected = is_palindrome(word) && std::count(word.begin(), word.end(), 2) == 1;
    members += expected;
    ASSERT_EQ(membership.accepts(), expected);
  });
  EXPECT_EQ(members, 1 + 2 + 4 + 8 + 16 + 32);
}

TEST(Membership, BracketsOfTwoTypesUpToLengthTwelve) {
  Membership membership(dyck2());
  std::int64_t members = 0;
  walk(membership, 12, [&] {
    const bool expected = is_balanced(membership.word());
    members += expected;
    ASSERT_EQ(membership.accepts(), expected);
  });
  // Catalan(k) 2^k strings of k pairs.
  EXPECT_EQ(members, 1 + 2 + 2 * 4 + 5 * 8 + 14 * 16 + 42 * 32 + 132 * 64);
}

TEST(Membership, LongStringsAndManyMachineWords) {
  Membership membership(dyck2());
  for (const int pairs : {31, 32, 33, 64, 100, 200}) {
    Word word;
    for (int i = 0; i < pairs; ++i) word.push_back(i % 3 == 0 ? 2 : 0);
    for (int i = pairs; i-- > 0;) word.push_back(word[i] + 1);
    EXPECT_TRUE(membership.contains(word)) << pairs;
    for (const std::size_t at : {std::size_t{0}, word.size() / 2, word.size() - 1}) {
      auto wrong = word;
      wrong[at] ^= 2;
      EXPECT_FALSE(membership.contains(wrong)) << pairs << " " << at;
    }
    word.pop_back();
    EXPECT_FALSE(membership.contains(word));
    EXPECT_TRUE(membership.viable());
  }
}

TEST(Membership, ARuleOfWeightZeroIsNoRule) {
  Membership membership(Grammar(parse_grammar("S -> 'a' S [0] | 'b' S 'b' [.5] | 'a' [.5]")));
  EXPECT_TRUE(membership.contains({1, 0, 1}));
  EXPECT_FALSE(membership.contains({0, 0}));
  EXPECT_FALSE(membership.viable());
}

TEST(Membership, Errors) {
  Membership membership(dyck2());
  EXPECT_THROW(membership.push(4), std::invalid_argument);
  EXPECT_THROW(membership.contains({-1}), std::invalid_argument);
  EXPECT_THROW(membership.pop(), std::invalid_argument);
  EXPECT_THROW(strings_of_length(dyck2(), -1, 1), std::invalid_argument);
  EXPECT_THROW(strings_of_length(dyck2(), 2, 0), std::invalid_argument);
}

TEST(StringsOfLength, AllOfThemOrTheRequestedNumber) {
  for (const auto& [name, text] : oracle::grammar_texts()) {
    SCOPED_TRACE(name);
    const Grammar grammar(parse_grammar(text));
    std::map<std::size_t, std::set<Word>> expected;
    for (const auto& [word, weight] : oracle::sums(grammar, 6))
      if (weight > 0) expected[word.size()].insert(word);
    for (int length = 0; length <= 6; ++length)
      for (const std::int64_t most : {1, 3, 7, 10000}) {
        const auto words = strings_of_length(grammar, length, most);
        const auto& all = expected[length];
        EXPECT_EQ(words.size(), std::min<std::size_t>(most, all.size())) << length << " " << most;
        EXPECT_EQ(std::set<Word>(words.begin(), words.end()).size(), words.size());
        for (const auto& word : words) EXPECT_TRUE(all.contains(word));
      }
  }
}

TEST(StringsUpTo, AreThoseOfTheOracleInOrder) {
  for (const auto& [name, text] : oracle::grammar_texts()) {
    SCOPED_TRACE(name);
    const Grammar grammar(parse_grammar(text));
    const auto weights = oracle::sums(grammar, 5);
    std::vector<Word> expected;
    for (const auto& word : oracle::all_words(grammar.alphabet().size(), 5))
      if (oracle::weight_of(weights, word) > 0) expected.push_back(word);
    EXPECT_EQ(strings_up_to(grammar, 5, 10'000), expected);
    EXPECT_EQ(strings_up_to(grammar, 5, static_cast<std::int64_t>(expected.size())), expected);
    if (expected.size() > 1) {
      EXPECT_THROW(strings_up_to(grammar, 5, static_cast<std::int64_t>(expected.size()) - 1),
                   std::invalid_argument);
    }
  }
}

TEST(StringsUpTo, LimitsAreErrors) {
  const Grammar grammar(parse_grammar("S -> 'a' S | 'b' S | 'a'"));
  try {
    strings_up_to(grammar, 40, 100);
    ADD_FAILURE() << "no error";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "[grammar.strings] there are more than 100 strings of up to 40 symbols (63 of up "
                 "to 6): lower up_to or raise limit");
  }
  EXPECT_THROW(strings_up_to(grammar, -1, 100), std::invalid_argument);
  EXPECT_THROW(strings_up_to(grammar, 1, 0), std::invalid_argument);
  // Long strings of a language with few of them.
  EXPECT_EQ(strings_up_to(Grammar(parse_grammar("S -> 'a' S 'b' | ")), 200, 1000).size(), 101u);
}

}  // namespace
}  // namespace pushdown::membership_test
