#include "task/text_borders.h"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <fstream>

#include "base/utf8.h"
#include "task/unicode_classes.h"

namespace pushdown::text_borders_test {
namespace {

using Visit = void (*)(std::string_view, const VisitPiece&);
using Places = std::vector<std::size_t>;

char32_t code_point(std::string_view digits) {
  return static_cast<char32_t>(std::stoul(std::string(digits), nullptr, 16));
}

std::string encoded(char32_t c) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes.data());
  return {bytes.begin(), bytes.begin() + size};
}

// Tests one case in the notation of the Unicode standard's test files: code points, with ÷ between
// two if there is a border and × if there is none.
void expect_borders(Visit visit, std::string_view rule) {
  std::string text;
  Places expected, found{0};
  for (const auto piece : words_between_blanks(rule))
    if (piece == "÷")
      expected.push_back(text.size());
    else if (piece != "×")
      text += encoded(code_point(piece));
  visit(text, [&](std::string_view piece) {
    EXPECT_EQ(piece.data(), text.data() + found.back());
    found.push_back(found.back() + piece.size());
  });
  EXPECT_EQ(found, expected) << rule;
}

const std::string kUnicodeFolder = "/usr/share/unicode/auxiliary/";
constexpr const char* kNotInstalled = "Debian's package unicode-data is not installed";

// Calls visit(line) for every line of a file of the Unicode standard, without comments and empty
// lines. Returns the file's first line, which names its version, or "" if there is no file.
std::string visit_lines(const std::string& name,
                        const std::function<void(std::string_view)>& visit) {
  std::ifstream file(kUnicodeFolder + name);
  std::string first, line;
  std::getline(file, first);
  while (std::getline(file, line)) {
    const std::string_view content = std::string_view(line).substr(0, line.find('#'));
    if (!words_between_blanks(content).empty()) visit(content);
  }
  return first;
}

void expect_file(Visit visit, const std::string& name) {
  int count = 0;
  const std::string version = visit_lines(name, [&](std::string_view rule) {
    expect_borders(visit, rule);
    ++count;
  });
  if (version.empty()) GTEST_SKIP() << kNotInstalled;
  EXPECT_GT(count, 500);
}

TEST(TextBorders, AllWordsOfTheStandardsTestFile) { expect_file(split_words, "WordBreakTest.txt"); }
TEST(TextBorders, AllSentencesOfTheStandardsTestFile) {
  expect_file(split_sentences, "SentenceBreakTest.txt");
}
TEST(TextBorders, AllCharactersOfTheStandardsTestFile) {
  expect_file(split_characters, "GraphemeBreakTest.txt");
}

TEST(TextBorders, Words) {
  for (const auto* rule : {
           "÷",                                            // no text, no borders
           "÷ 0061 ÷",                                     // a
           "÷ 000D × 000A ÷ 000B ÷ 0308 ÷",                // ends of lines; a mark after one
           "÷ 0061 × 0308 × 200D × 0062 ÷",                // marks are ignored
           "÷ 0020 × 0020 × 0308 ÷ 0020 ÷",                // white space
           "÷ 0063 × 0061 × 006E × 0027 × 0074 ÷",         // can't
           "÷ 0061 ÷ 0027 ÷ 0020 ÷",                       // a quote after a word
           "÷ 0061 ÷ 002E ÷ 002E ÷ 0062 ÷",                // two full stops
           "÷ 0061 × 002E × 0308 × 0062 ÷",                // a.b with a mark
           "÷ 0061 × 003A × 0062 ÷ 003A ÷ 0031 ÷",         // a:b and b:1
           "÷ 0061 ÷ 002D ÷ 0062 ÷ 0040 ÷ 0063 ÷",         // a-b@c
           "÷ 0031 × 002C × 0032 × 002E × 0033 ÷",         // 1,2.3
           "÷ 0031 ÷ 002C ÷ 0061 ÷",                       // 1,a
           "÷ 0041 × 0033 × 005F × 005F × 0062 ÷",         // A3__b
           "÷ 05D0 × 0027 ÷ 0020 ÷",                       // Hebrew with a final quote
           "÷ 05D0 × 0022 × 05D1 ÷ 0022 ÷",                // Hebrew abbreviation
           "÷ 30A2 × 30FC × 005F × 30A4 ÷ 3042 ÷ 3044 ÷",  // Katakana is joined, Hiragana is not
           "÷ 4E00 ÷ 4E8C ÷ 0E01 ÷ 0E02 ÷",                // ideographs and Thai
           "÷ AC00 × AC01 ÷",                              // Hangul
           "÷ 1F1E9 × 1F1EA ÷ 1F1EB × 1F1F7 ÷ 1F1E9 ÷",    // two flags and a half
           "÷ 0061 ÷ 1F1E9 × 200D × 1F1EA ÷ 1F1EB ÷",      // a flag with a mark in it
           "÷ 1F469 × 1F3FD × 200D × 1F469 ÷ 1F469 ÷",     // emoji
           "÷ 0061 × 00AD × 0062 ÷ 200B ÷ 0063 ÷",         // soft hyphen, zero width space
       })
    expect_borders(split_words, rule);
}

TEST(TextBorders, Sentences) {
  for (const auto* rule : {
           "÷",
           "÷ 0041 × 002E × 0020 × 0020 ÷ 0042 ÷",                // A.  B
           "÷ 0041 × 002E × 0022 × 0020 ÷ 0042 ÷",                // A." B
           "÷ 0041 × 002E × 0020 × 0028 × 0062 ÷",                // A. (b
           "÷ 0041 × 002E × 0020 ÷ 0028 × 0042 ÷",                // A. (B
           "÷ 0041 × 002E × 0042 ÷",                              // A.B
           "÷ 0033 × 002E × 0034 × 002E × 0020 ÷ 0035 ÷",         // 3.4. 5
           "÷ 0061 × 003F × 0020 ÷ 0062 ÷",                       // a? b
           "÷ 0061 × 003F × 0021 × 002E × 002C × 0020 × 0042 ÷",  // a?!., B
           "÷ 0061 × 002E × 0020 × 002D × 0020 × 0042 ÷",         // a. - B
           "÷ 0061 × 002E × 0020 × 0031 × 0020 × 0062 ÷",         // a. 1 b
           "÷ 0061 × 002E × 0020 ÷ 0031 × 0020 × 0042 ÷",         // a. 1 B
           "÷ 0061 × 002E × 0308 × 0020 × 0308 ÷ 4E00 ÷",         // marks; an ideograph
           "÷ 0061 × 002E × 0029 × 000D × 000A ÷ 0062 × 2029 ÷",  // ends of lines
           "÷ 4E00 × 3002 ÷ 4E00 × FF01 ÷",                       // ideographic full stop
           "÷ 0964 ÷",                                            // a stop alone
       })
    expect_borders(split_sentences, rule);
}

TEST(TextBorders, Characters) {
  for (const auto* rule : {
           "÷",
           "÷ 0061 × 0308 ÷ 0062 ÷ 000D × 000A ÷ 0308 ÷",
           "÷ 1100 × 1161 × 11A8 ÷ 1100 ÷",
           "÷ 1F1E9 × 1F1EA ÷ 1F1EB ÷",
           "÷ 1F469 × 200D × 1F469 × 1F3FD ÷ 1F469 ÷",
       })
    expect_borders(split_characters, rule);
}

// Damaged text still has all its bytes in its pieces.
TEST(TextBorders, AByteThatIsNotUtf8IsACharacter) {
  std::string joined;
  for (const Visit visit : {split_words, split_sentences, split_characters})
    visit("a\xff\xc3 b", [&](std::string_view piece) { joined += piece; });
  EXPECT_EQ(joined, "a\xff\xc3 ba\xff\xc3 ba\xff\xc3 b");
}

// Compares the classes of all code points with a file of the standard, in which those that it does
// not list are Other.
template <class Class>
void expect_classes(const std::string& name, Class (*class_of)(char32_t),
                    const std::map<std::string_view, Class>& names) {
  std::vector<Class> expected(0x110000, Class::other);
  const std::string version = visit_lines(name, [&](std::string_view line) {
    const auto pieces = words_between_blanks(line);  // "0041..005A", ";", "ALetter"
    const auto dots = std::min(pieces[0].find(".."), pieces[0].size());
    const char32_t first = code_point(pieces[0].substr(0, dots));
    const char32_t last = dots == pieces[0].size() ? first : code_point(pieces[0].substr(dots + 2));
    for (char32_t c = first; c <= last; ++c) expected[c] = names.at(pieces[2]);
  });
  if (version.empty()) GTEST_SKIP() << kNotInstalled;
  const std::string same = std::string("-") + utf8proc_unicode_version() + ".txt";
  if (!version.ends_with(same)) GTEST_SKIP() << version << " is not of utf8proc's version" << same;
  for (char32_t c = 0; c < expected.size(); ++c)
    ASSERT_EQ(class_of(c), expected[c]) << "U+" << std::hex << static_cast<std::uint32_t>(c);
}

TEST(TextBorders, TheClassesForWordsAreThoseOfTheStandard) {
  using enum WordClass;
  expect_classes<WordClass>("WordBreakProperty.txt", word_class,
                            {{"CR", cr},
                             {"LF", lf},
                             {"Newline", newline},
                             {"Extend", extend},
                             {"ZWJ", zwj},
                             {"Format", format},
                             {"Regional_Indicator", regional},
                             {"Katakana", katakana},
                             {"Hebrew_Letter", hebrew},
                             {"ALetter", letter},
                             {"Single_Quote", single_quote},
                             {"Double_Quote", double_quote},
                             {"MidLetter", mid_letter},
                             {"MidNumLet", mid_num_let},
                             {"MidNum", mid_num},
                             {"Numeric", numeric},
                             {"ExtendNumLet", extend_num_let},
                             {"WSegSpace", space}});
}

TEST(TextBorders, TheClassesForSentencesAreThoseOfTheStandard) {
  using enum SentenceClass;
  expect_classes<SentenceClass>("SentenceBreakProperty.txt", sentence_class,
                                {{"CR", cr},
                                 {"LF", lf},
                                 {"Sep", sep},
                                 {"Extend", extend},
                                 {"Format", format},
                                 {"Sp", space},
                                 {"Lower", lower},
                                 {"Upper", upper},
                                 {"OLetter", letter},
                                 {"Numeric", numeric},
                                 {"ATerm", a_term},
                                 {"STerm", s_term},
                                 {"SContinue", s_continue},
                                 {"Close", close}});
}

}  // namespace
}  // namespace pushdown::text_borders_test
