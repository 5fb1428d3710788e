#include "grammar/alphabet.h"

#include <gtest/gtest.h>

namespace pushdown::alphabet_test {
namespace {

std::string message_of(const auto& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(Alphabet, NumbersParsesAndPrints) {
  const Alphabet alphabet({"(", ")", "é", "(5"});
  EXPECT_EQ(alphabet.size(), 4);
  EXPECT_EQ(alphabet.parse("  ( é\t(5\n)"), (Word{0, 2, 3, 1}));
  EXPECT_EQ(alphabet.parse(""), Word{});
  EXPECT_EQ(alphabet.encode({"é", "("}), (Word{2, 0}));
  EXPECT_EQ(alphabet.text({0, 2, 3}), "( é (5");
  EXPECT_EQ(alphabet.find("x"), std::nullopt);
}

TEST(Alphabet, AnotherOrderIsNotCalledOtherSymbols) {
  const Alphabet alphabet({"a", "b"});
  EXPECT_EQ(message_of([&] { check_same_alphabet("x", "p and q", alphabet, alphabet); }),
            "no error");
  EXPECT_EQ(message_of([&] {
              check_same_alphabet("x", "p and q", alphabet, Alphabet({"b", "a"}));
            }),
            "[x] p and q have the same symbols in another order, and both must have one order: 'a' "
            "and 'b'; 'b' and 'a'");
  EXPECT_EQ(message_of([&] { check_same_alphabet("x", "p and q", alphabet, Alphabet({"a"})); }),
            "[x] p and q have different symbols: 'a' and 'b'; 'a'");
}

TEST(Alphabet, ErrorsNameTheSymbolAndTheNearest) {
  const Alphabet alphabet({"open", "close"});
  const auto message = message_of([&] { alphabet.parse("open clos"); });
  EXPECT_NE(message.find("'clos' is not in the alphabet, did you mean 'close'?"), std::string::npos)
      << message;
  const std::string blanks = "separate symbols with blanks";
  EXPECT_EQ(message.find(blanks), std::string::npos) << message;
  EXPECT_NE(message_of([&] { alphabet.parse("openclose"); }).find(blanks), std::string::npos);
  EXPECT_EQ(message_of([&] { alphabet.parse("openclos"); }).find(blanks), std::string::npos);
  EXPECT_NE(message_of([&] { alphabet.parse("\xff"); }).find("UTF-8"), std::string::npos);
  EXPECT_THROW(alphabet.symbol(2), std::invalid_argument);
  EXPECT_THROW(alphabet.text({-1}), std::invalid_argument);
  EXPECT_THROW(Alphabet({"a", "a"}), std::invalid_argument);
  EXPECT_THROW(Alphabet({""}), std::invalid_argument);
  EXPECT_THROW(Alphabet({"a b"}), std::invalid_argument);
  EXPECT_THROW(Alphabet({"\xc0\xaf"}), std::invalid_argument);
}

}  // namespace
}  // namespace pushdown::alphabet_test
