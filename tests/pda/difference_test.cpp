#include "pda/difference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "grammar/oracle.h"
#include "pda/lang.h"
#include "pda/notation.h"
#include "random_pda.h"
#include "support/message.h"

namespace pushdown::difference_test {
namespace {

using testing_support::message;

double log_weight(const Pda& pda, const Word& word) {
  const auto automaton = on_string(pda, word);
  return LangChart<Log>(automaton).accepted();
}

// By trying all strings.
std::optional<std::vector<std::string>> expected(const Pda& a, const Pda& b, int longest,
                                                 bool weights) {
  for (const auto& word : oracle::all_words(a.alphabet().size(), longest)) {
    const double first = log_weight(a, word), second = log_weight(b, word);
    const bool both = std::isfinite(first) && std::isfinite(second);
    if (std::isfinite(first) == std::isfinite(second) &&
        !(weights && both && std::fabs(first - second) > 1e-7))
      continue;
    std::vector<std::string> names;
    for (const int symbol : word) names.push_back(a.alphabet().symbol(symbol));
    return names;
  }
  return std::nullopt;
}

TEST(Difference, IsTheFirstStringThatBruteForceFinds) {
  std::map<std::size_t, int> lengths;
  int equal = 0;
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE(seed);
    const auto make = [&](std::uint64_t own) {
      return testing_support::random_pda(1 + static_cast<int>(own % 3), 2, 2, 0.1, 0.9,
                                         own % 2 == 0, own);
    };
    const auto a = make(seed), b = make(seed + 1000 * (1 + seed % 2));
    // The same automaton with a part left out: differences are rare.
    auto part = a.source();
    if (part.transitions.size() > 1) part.transitions.pop_back();
    const Pda smaller(part);
    for (const auto* other : {&b, &smaller, &a}) {
      if (other->alphabet() != a.alphabet()) continue;
      for (const bool weights : {false, true}) {
        const auto wanted = expected(a, *other, 5, weights);
        const auto found = difference(a, *other, {.up_to = 5, .weights = weights});
        ASSERT_EQ(found.has_value(), wanted.has_value());
        if (!wanted) {
          ++equal;
          continue;
        }
        ++lengths[wanted->size()];
        EXPECT_EQ(found->string, *wanted);
        const auto word = a.alphabet().encode(*wanted);
        EXPECT_EQ(found->log_weights[0], log_weight(a, word));
        EXPECT_EQ(found->log_weights[1], log_weight(*other, word));
      }
    }
  }
  EXPECT_GT(equal, 100);
  EXPECT_GT(lengths.size(), 3u);
}

Pda counter(int most) {
  std::string text = "%bottom Z\n%accepting r\nq, x --a--> q, push a for x in a Z\n";
  for (int k = 1; k <= 2; ++k) text += fmt::format("q{}, a --b--> r, pop\n", k == 1 ? "" : "2");
  text += "r, a --b--> r, pop\nq, a --c--> q2, replace a\n";
  if (most > 0) {
    text += "r, Z --d--> e1, replace Z\n%accepting e" + std::to_string(most) + "\n";
    for (int k = 1; k < most; ++k) text += fmt::format("e{}, Z --d--> e{}, replace Z\n", k, k + 1);
  }
  return Pda(parse_pda(text));
}

TEST(Difference, LongStringsOfCounters) {
  // 3^33 strings, but few configurations.
  const auto found = difference(counter(0), counter(30), {.up_to = 32});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->string.size(), 32u);
  EXPECT_EQ(found->string[0] + found->string[1] + found->string[2], "abd");
  EXPECT_FALSE(difference(counter(0), counter(30), {.up_to = 31}));
}

TEST(Difference, AlphabetsMayDiffer) {
  const Pda a(parse_pda("%bottom Z\nq, Z --a--> q, replace Z"));
  const Pda b(parse_pda("%bottom Y\nq, Y --b--> q, replace Y\nq, Y --a--> q, replace Y"));
  const auto found = difference(a, b);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->string, std::vector<std::string>{"b"});
  EXPECT_EQ(found->log_weights[0], kMinusInfinity);
  EXPECT_EQ(found->log_weights[1], 0);
}

TEST(Difference, ALongSearchIsAnError) {
  const Pda reversal(
      parse_pda("%bottom Z\n%at_bottom\nq1, x --a--> q1, push a for all x for a in 0 1\n"
                "q1, a --a--> q2, pop for a in 0 1\nq2, a --a--> q2, pop for a in 0 1"));
  EXPECT_FALSE(difference(reversal, reversal, {.up_to = 12}));
  EXPECT_EQ(message([&] { difference(reversal, reversal, {.up_to = 60, .limit = 10'000}); }),
            "[pda.difference] the search for a string of up to 60 symbols takes more than 10000 "
            "moves; up to length 9, the automata are equal: lower up_to or raise limit");
  EXPECT_EQ(message([&] { difference(reversal, reversal, {.up_to = -1}); }),
            "[pda.difference] up_to must be at least 0, got -1");
}

}  // namespace
}  // namespace pushdown::difference_test
