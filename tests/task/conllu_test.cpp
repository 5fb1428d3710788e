#include "task/conllu.h"

#include <gtest/gtest.h>

#include <sstream>

#include "support/message.h"

namespace pushdown::conllu_test {
namespace {

using testing_support::message;
using Texts = std::vector<std::string>;

// Blanks become tabs.
std::string tabs(std::string text) {
  for (char& c : text)
    if (c == ' ') c = '\t';
  return text;
}

std::string row(const std::string& id, const std::string& form, const std::string& head = "0") {
  return id + "\t" + form + "\t_\t_\t_\t_\t" + head + "\t_\t_\t_\n";
}

std::vector<ConlluSentence> read(const std::string& text) {
  std::istringstream input(text);
  ConlluReader reader(input, "f.conllu");
  std::vector<ConlluSentence> all;
  for (ConlluSentence sentence; reader.next(sentence);) all.push_back(sentence);
  EXPECT_EQ(reader.bytes(), static_cast<std::int64_t>(text.size()));
  return all;
}

std::string refusal(const std::string& text) {
  return message([&] { read(text); });
}

const std::string kBank = "# newdoc\n# sent_id = one-1\n# text = They don't.\n" +
                          tabs(
                              "1 They they PRON PRP Case=Nom|Number=Plur 2 nsubj _ _\n"
                              "2-3 don't _ _ _ _ _ _ _ SpaceAfter=No\n"
                              "2 do do AUX VBP Number=Plur|Tense=Pres|VerbForm=Fin 0 root _ _\n"
                              "3 n't not PART RB _ 2 advmod _ _\n"
                              "3.1 go go VERB VB _ _ _ 0:root _\n"
                              "3.2 on on ADV RB _ _ _ 0:root _\n"
                              "4 . . PUNCT . _ 2 punct _ _\n") +
                          "\n# sent_id=two\n" +
                          tabs("0.1 _ _ _ _ _ _ _ 0:root _\n1 _ _ PUNCT _ _ _ _ _ _\n");

TEST(Conllu, WordsRangesAndEmptyNodes) {
  const auto all = read(kBank);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].id, "one-1");
  EXPECT_EQ(all[0].line, 4);
  EXPECT_EQ(forms(all[0]), (Texts{"They", "do", "n't", "."}));
  EXPECT_EQ(forms(all[0], true), (Texts{"They", "don't", "."}));
  const auto& word = all[0].words[1];
  EXPECT_EQ(word.lemma, "do");
  EXPECT_EQ(word.upos, "AUX");
  EXPECT_EQ(word.xpos, "VBP");
  EXPECT_EQ(word.head, 0);
  EXPECT_EQ(word.relation, "root");
  EXPECT_EQ(feature(word, "Number"), "Plur");
  EXPECT_EQ(feature(word, "VerbForm"), "Fin");
  EXPECT_EQ(feature(word, "Form"), "");
  EXPECT_EQ(feature(all[0].words[2], "Number"), "");
  EXPECT_EQ(all[0].words[2].features, "");
  // The underscore as a word.
  EXPECT_EQ(all[1].id, "two");
  EXPECT_EQ(all[1].words[0].form, "_");
  EXPECT_EQ(all[1].words[0].lemma, "_");
  EXPECT_EQ(all[1].words[0].xpos, "");
  EXPECT_EQ(all[1].words[0].head, -1);
}

TEST(Conllu, LineEndsAndBlankLines) {
  const auto wanted = read(kBank);
  std::string windows = "\xEF\xBB\xBF";
  for (const char c : kBank + "\n \n\n")
    windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  const auto again = read(windows);
  ASSERT_EQ(again.size(), wanted.size());
  for (std::size_t i = 0; i < again.size(); ++i) {
    EXPECT_EQ(forms(again[i]), forms(wanted[i]));
    EXPECT_EQ(again[i].id, wanted[i].id);
    EXPECT_EQ(again[i].words.back().relation, wanted[i].words.back().relation);
  }
  EXPECT_TRUE(read("").empty());
  EXPECT_TRUE(read("\n\n").empty());
  // A comment within a sentence, and a last line without a line end.
  auto text = row("1", "a") + "# note\n" + row("2", "b", "1");
  text.pop_back();
  EXPECT_EQ(forms(read(text)[0]), (Texts{"a", "b"}));
}

TEST(Conllu, RangesAtTheEndsAndOneAfterAnother) {
  const auto text = "1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n" + row("1", "a") + row("2", "b", "1") +
                    "3-3\tC\t_\t_\t_\t_\t_\t_\t_\t_\n" + row("3", "c", "1");
  EXPECT_EQ(forms(read(text)[0], true), (Texts{"ab", "C"}));
}

TEST(Conllu, WrongColumnsAreReportedWithTheirLine) {
  const std::string where = "[task.conllu] f.conllu:";
  EXPECT_EQ(refusal(row("1", "a") + "2 b _ _ _ _ 0 _ _ _\n"),
            where + "2: expected 10 columns with tabs between them, got 1");
  EXPECT_EQ(refusal("1\ta\t_\n"), where + "1: expected 10 columns with tabs between them, got 3");
  EXPECT_EQ(refusal("1\t\t_\t_\t_\t_\t0\t_\t_\t_\n"),
            where + "1: column 2 (FORM) is empty; write _ for an empty value");
  EXPECT_EQ(refusal(row("x", "a")),
            where + "1: the number of a word must be 3, 3-4 or 3.1, got 'x'");
  EXPECT_EQ(refusal(row("1a", "a")),
            where + "1: the number of a word must be 3, 3-4 or 3.1, got '1a'");
  EXPECT_EQ(refusal(row("2", "a")), where + "1: expected word 1, got 2");
  EXPECT_EQ(refusal(row("1", "a") + row("1", "b")), where + "2: expected word 2, got 1");
  EXPECT_EQ(refusal(row("99999999999", "a")),
            where + "1: the number of a word must be 3, 3-4 or 3.1, got '99999999999'");
}

TEST(Conllu, WrongHeadsAreReportedWithTheirLine) {
  const std::string where = "[task.conllu] f.conllu:";
  EXPECT_EQ(refusal("\n" + row("1", "a", "3") + row("2", "b", "1") + "\n" + row("1", "c")),
            where + "2: the head of word 1 is 3, but the sentence has 2 words");
  EXPECT_EQ(refusal(row("1", "a", "1")), where + "1: word 1 is its own head");
  EXPECT_EQ(refusal(row("1", "a", "-1")),
            where + "1: the head must be the number of a word, 0 or _, got '-1'");
}

TEST(Conllu, WrongRangesAndEmptyNodesAreReportedWithTheirLine) {
  const std::string where = "[task.conllu] f.conllu:";
  EXPECT_EQ(refusal(row("1", "a") + row("1-2", "b")),
            where + "2: the range 1-2 must begin at word 2");
  EXPECT_EQ(refusal(row("2-1", "b")), where + "1: the range 2-1 must begin at word 1");
  EXPECT_EQ(refusal(row("1-3", "b") + row("1", "a") + row("2-3", "c")),
            where + "3: the range 2-3 must begin at word 2, which an earlier range spans");
  EXPECT_EQ(refusal(row("1-3", "b") + row("1", "a") + row("2", "c", "1")),
            where + "3: the sentence ends at word 2, but the range 1-3 extends beyond it");
  EXPECT_EQ(refusal(row("1", "a") + row("2.1", "b")),
            where + "2: expected the empty node 1.1, got 2.1");
  EXPECT_EQ(refusal(row("1", "a") + row("1.2", "b")),
            where + "2: expected the empty node 1.1, got 1.2");
}

TEST(Conllu, InvalidTextsAndSentencesAreReportedWithTheirLine) {
  const std::string where = "[task.conllu] f.conllu:";
  EXPECT_EQ(refusal(row("1", "a") + row("2", "b\xFF", "1")),
            where + "2: byte 4 (0xff) is not UTF-8");
  EXPECT_EQ(refusal(row("1", std::string("a\0b", 3))),
            where + "1: byte 4 is NUL; the text must be UTF-8");
  EXPECT_EQ(refusal(row("1", "a") + "\n# text = nothing\n# more\n\n" + row("1", "b")),
            where + "3: comments without a sentence");
  EXPECT_EQ(refusal(row("1", "a") + "\n# text\n"), where + "3: comments without a sentence");
  EXPECT_EQ(refusal(row("1", "a") + "\n" + row("0.1", "b") + "\n" + row("1", "c")),
            where + "3: a sentence without words");
  EXPECT_EQ(refusal(row("1-2", "a")), where + "1: a sentence without words");
  EXPECT_EQ(message([] { visit_conllu("/none.conllu", [](const ConlluSentence&) {}); }),
            "[task.conllu] there is no file or folder '/none.conllu'");
}

}  // namespace
}  // namespace pushdown::conllu_test
