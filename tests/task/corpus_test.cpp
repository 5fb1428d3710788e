#include "task/corpus.h"
#include "support/message.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace pushdown::corpus_test {
namespace {

using testing_support::message;

using Parts = std::array<CorpusFile, 3>;

Parts parts(const std::string& train, const std::string& valid = "a\n",
            const std::string& test = "b\n") {
  return {CorpusFile{train, "tr.txt"}, CorpusFile{valid, "va.txt"}, CorpusFile{test, "te.txt"}};
}

std::string words(const RunningTextPtr& text) { return text->alphabet().text(text->words()); }

std::string refusal(const std::string& train, const CorpusOptions& options = {}) {
  return message([&] { make_corpus(parts(train), options); });
}

TEST(Corpus, VocabularyIsOrderedByFrequencyAndLineEndsAreWords) {
  const auto corpus = make_corpus(
      parts(" the cat saw\tthe dog \nthe end dog\n", "the cow ran\n", "dog <unk> end"), {});
  EXPECT_EQ(corpus.train->alphabet().symbols(),
            (std::vector<std::string>{"<unk>", "<eos>", "the", "dog", "cat", "saw", "end"}));
  EXPECT_EQ(words(corpus.train), "the cat saw the dog <eos> the end dog <eos>");
  EXPECT_EQ(words(corpus.valid), "the <unk> <unk> <eos>");
  // A last line without a line end is a line.
  EXPECT_EQ(words(corpus.test), "dog <unk> end <eos>");
  EXPECT_EQ(corpus.train->count("the"), 3);
}

TEST(Corpus, TheVocabularyCanBeLimited) {
  CorpusOptions options;
  options.vocabulary = 4;
  const auto corpus = make_corpus(parts("a b b <unk> <unk> <unk>\nc a b\n"), options);
  EXPECT_EQ(corpus.train->alphabet().symbols(),
            (std::vector<std::string>{"<unk>", "<eos>", "b", "a"}));
  EXPECT_EQ(words(corpus.train), "a b b <unk> <unk> <unk> <eos> <unk> a b <eos>");
  options.vocabulary = 100;
  EXPECT_EQ(make_corpus(parts("a b\n"), options).train->alphabet().size(), 4);
  for (const std::int64_t limit : {-1, 1, 2}) {
    options.vocabulary = limit;
    EXPECT_EQ(refusal("a b\n", options),
              "[task.corpus] vocabulary must be 0 (all words) or at least 3, because it includes "
              "<unk> and <eos>, got " +
                  std::to_string(limit));
  }
}

TEST(Corpus, LinesOfWindowsAndAByteOrderMarkAreTheSameText) {
  const auto plain = make_corpus(parts("a b\nc\n"), {});
  const auto windows = make_corpus(parts("\xEF\xBB\xBF"
                                         "a b\r\nc\r\n"),
                                   {});
  EXPECT_EQ(words(windows.train), words(plain.train));
  EXPECT_EQ(windows.train->alphabet(), plain.train->alphabet());
}

TEST(Corpus, EmptyLinesAreTreatedAsRequested) {
  EXPECT_EQ(refusal("a\n \t\nb\n"),
            "[task.corpus] tr.txt:2: the line is empty; empty_lines = 'count' reads it as a single "
            "<eos>, 'skip' skips it");
  EXPECT_EQ(words(make_corpus(parts("a\n \t\nb\n"), {0, EmptyLines::count}).train),
            "a <eos> <eos> b <eos>");
  EXPECT_EQ(words(make_corpus(parts("a\n \t\nb\n"), {0, EmptyLines::skip}).train),
            "a <eos> b <eos>");
}

TEST(Corpus, InvalidTextIsRefusedWithItsPlace) {
  EXPECT_EQ(refusal(""), "[task.corpus] tr.txt: the text contains no words");
  EXPECT_EQ(refusal("\n\n", {0, EmptyLines::skip}),
            "[task.corpus] tr.txt: the text contains no words");
  EXPECT_EQ(message([] { make_corpus(parts("a\n", ""), {}); }),
            "[task.corpus] va.txt: the text contains no words");
  // Latin-1.
  EXPECT_EQ(refusal("a\nb caf\xE9 c\n"), "[task.corpus] tr.txt:2: byte 6 (0xe9) is not UTF-8");
  EXPECT_EQ(refusal(std::string("a\nb\0c\n", 6)),
            "[task.corpus] tr.txt:2: byte 2 is NUL; the text must be UTF-8");
  EXPECT_EQ(refusal(std::string("\xFF\xFE"
                                "a\0",
                                4)),
            "[task.corpus] tr.txt: the text must be UTF-8, but it begins with the byte order mark "
            "of UTF-16");
  EXPECT_EQ(refusal("a\rb\n"),
            "[task.corpus] tr.txt:1: a carriage return within the line; lines must end in \\n or "
            "\\r\\n");
  EXPECT_EQ(refusal("a\nb <eos> c\n"),
            "[task.corpus] tr.txt:2: the word <eos> is reserved for line ends and must not occur");
}

TEST(Corpus, OneFileIsSplitByWholeLines) {
  std::string text;
  for (int i = 0; i < 10; ++i) text += "w" + std::to_string(i) + " x\n";
  const auto corpus = split_corpus({text, "all.txt"}, {8, 1, 1}, {});
  EXPECT_EQ(corpus.train->size(), 24);
  EXPECT_EQ(words(corpus.valid), "<unk> x <eos>");
  EXPECT_EQ(corpus.test->size(), 3);
  // Round: 10 * 0.25 = 2.5 -> 3, 10 * 0.5 = 5.
  const auto quarter = split_corpus({text, "all.txt"}, {0.25, 0.25, 0.5}, {});
  EXPECT_EQ(quarter.train->size(), 9);
  EXPECT_EQ(quarter.valid->size(), 6);
  EXPECT_EQ(quarter.test->size(), 15);
  EXPECT_EQ(message([] {
              split_corpus({"a\nb\n", "all.txt"}, {0.8, 0.1, 0.1}, {});
            }),
            "[task.corpus] all.txt: 2 lines cannot be split by the shares 0.8, 0.1 and 0.1 into "
            "three nonempty parts");
  EXPECT_EQ(message([&] {
              split_corpus({text, "all.txt"}, {1, 0, 1}, {});
            }),
            "[task.corpus] the shares of training, validation and test must be above 0, got 0");
}

TEST(Corpus, AFolderHoldsThreeFilesOfOneKind) {
  std::string name = "/tmp/pushdown_corpus_XXXXXX";
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const std::filesystem::path folder = name;
  const auto make = [&](const char* file) { std::ofstream(folder / file) << "a\n"; };
  EXPECT_EQ(message([&] { corpus_files(folder); }),
            "[task.corpus] '" + name +
                "' must contain ptb.train.txt, ptb.valid.txt and ptb.test.txt, or train.txt, "
                "valid.txt and test.txt");
  make("train.txt");
  make("test.txt");
  EXPECT_EQ(message([&] { corpus_files(folder); }),
            "[task.corpus] '" + name +
                "' must contain ptb.train.txt, ptb.valid.txt and ptb.test.txt, or train.txt, "
                "valid.txt and test.txt; missing: '" +
                name + "/valid.txt'");
  make("valid.txt");
  EXPECT_EQ(corpus_files(folder)[1], folder / "valid.txt");
  for (const char* file : {"ptb.train.txt", "ptb.valid.txt", "ptb.test.txt"}) make(file);
  EXPECT_EQ(corpus_files(folder)[2], folder / "ptb.test.txt");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace pushdown::corpus_test
