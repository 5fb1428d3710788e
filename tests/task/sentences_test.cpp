#include "task/sentences.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "base/random.h"
#include "support/message.h"
#include "support/scratch.h"

namespace pushdown::sentences_test {
namespace {

using testing_support::message;
using testing_support::Scratch;

Path put(const Scratch& scratch, const std::string& name, const std::string& text) {
  const Path path = scratch / name;
  std::filesystem::create_directories(path.parent_path());
  write_file(path, text);
  return path;
}

std::vector<std::string> texts(const TokenFile& file) {
  std::vector<std::string> found;
  for (std::int64_t i = 0; i < file.size(); ++i) {
    const auto words = file.sentence(i);
    found.push_back(file.alphabet().text(Word(words.begin(), words.end())));
  }
  return found;
}

SentenceOptions whole() {
  SentenceOptions options;
  options.shares = {1};
  return options;
}

using Texts = std::vector<std::string>;

TEST(Sentences, BecomeNumbersOfAVocabularyByFrequency) {
  const Scratch scratch;
  const auto file =
      put(scratch, "text.txt", "\xEF\xBB\xBFthe cat saw\tthe dog\r\n\n  \nthe end dog");
  const auto parts = *prepare_sentences(file, scratch / "made", whole());
  ASSERT_EQ(parts.size(), 1u);
  const auto& train = *parts[0].second;
  EXPECT_EQ(train.alphabet().symbols(), (Texts{"<unk>", "the", "dog", "cat", "saw", "end"}));
  EXPECT_EQ(texts(train), (Texts{"the cat saw the dog", "the end dog"}));
  EXPECT_EQ(train.word_count(), 8);
  EXPECT_EQ(train.shortest(), 3);
  EXPECT_EQ(train.longest(), 5);
  EXPECT_EQ(train.unknown_count(), 0);
}

TEST(Sentences, RareWordsAndLongSentencesAreLeftOut) {
  const Scratch scratch;
  const auto file = put(scratch, "text.txt", "a b a c\nb a\na b c d e\n<unk> a\n");
  auto options = whole();
  options.vocabulary = 3;
  options.longest = 4;
  auto made = *prepare_sentences(file, scratch / "made", options);
  EXPECT_EQ(texts(*made[0].second), (Texts{"a b a <unk>", "b a", "<unk> a"}));
  EXPECT_EQ(made[0].second->unknown_count(), 2);
  options.vocabulary = 0;
  options.longest = 0;
  options.minimum_count = 2;
  made = *prepare_sentences(file, scratch / "made", options);
  EXPECT_EQ(made[0].second->alphabet().symbols(), (Texts{"<unk>", "a", "b", "c"}));
  options.alphabet = Alphabet({"e", "<unk>", "b"});
  made = *prepare_sentences(file, scratch / "made", options);
  EXPECT_EQ(texts(*made[0].second)[2], "<unk> b <unk> <unk> e");
}

TEST(Sentences, PartsDivideTheCorpus) {
  const Scratch scratch;
  std::string text;
  for (int i = 0; i < 4000; ++i) text += fmt::format("w{} x\n", i);
  const auto file = put(scratch, "text.txt", text);
  SentenceOptions options;
  options.vocabulary = 0;
  options.shares = {8, 1, 1};
  const auto parts = *prepare_sentences(file, scratch / "made", options);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[1].first, "valid");
  EXPECT_NEAR(static_cast<double>(parts[0].second->size()), 3200, 100);
  EXPECT_NEAR(static_cast<double>(parts[1].second->size()), 400, 70);
  EXPECT_EQ(parts[0].second->size() + parts[1].second->size() + parts[2].second->size(), 4000);
  // The vocabulary is that of the training part, so every other first word is unknown.
  EXPECT_EQ(parts[0].second->alphabet().size(), parts[0].second->size() + 2);
  EXPECT_EQ(parts[2].second->unknown_count(), parts[2].second->size());
  options.seed = 1;
  const auto others = *prepare_sentences(file, scratch / "other", options);
  EXPECT_NE(texts(*others[0].second), texts(*parts[0].second));
}

TEST(Sentences, AFolderIsReadFileByFile) {
  const Scratch scratch;
  put(scratch, "text/b.txt", "b\n");
  put(scratch, "text/a/x", "a\n");
  put(scratch, "text/.hidden", "h\n");
  const auto parts = *prepare_sentences(scratch / "text", scratch / "made", whole());
  EXPECT_EQ(texts(*parts[0].second), (Texts{"a", "b"}));
  put(scratch, "parts/train.txt", "a b\n");
  put(scratch, "parts/valid.txt", "a\n");
  put(scratch, "parts/test.txt", "c\n");
  const auto given = *prepare_sentences(scratch / "parts", scratch / "given", {});
  ASSERT_EQ(given.size(), 3u);
  EXPECT_EQ(texts(*given[2].second), (Texts{"<unk>"}));
  EXPECT_NE(message([&] {
              prepare_sentences(scratch / "parts", scratch / "given", whole());
            }).find("shares apply only to a text without parts, but the folder has its own parts"),
            std::string::npos);
  const auto matched =
      *prepare_sentences((scratch / "text").string() + "/*.txt", scratch / "matched", whole());
  EXPECT_EQ(texts(*matched[0].second), (Texts{"b"}));
}

TEST(Sentences, TreebanksAreReadByTheirEndings) {
  const Scratch scratch;
  put(scratch, "text/a.mrg", "( (S (NP (DT The) (NN cat)) (VP (VBD sat) (NP (-NONE- *)))) )\n");
  put(scratch, "text/b.conllu",
      "1-2\tcannot\t_\t_\t_\t_\t_\t_\t_\t_\n1\tCan\tcan\tAUX\t_\t_\t0\troot\t_\t_\n"
      "2\tnot\tnot\tPART\t_\t_\t1\tadvmod\t_\t_\n\n");
  auto options = whole();
  options.tokenizer.lower = true;
  const auto parts = *prepare_sentences(scratch / "text", scratch / "made", options);
  EXPECT_EQ(texts(*parts[0].second), (Texts{"the cat sat", "can not"}));
}

TEST(Sentences, AnEarlierPreparationIsReused) {
  const Scratch scratch;
  const auto file = put(scratch, "text.txt", "a b\nc\n"), made = scratch / "made";
  prepare_sentences(file, made, whole());
  const auto tokens = made / "train.tokens";
  const auto before = std::filesystem::last_write_time(tokens);
  int calls = 0;
  const auto count = [&](std::int64_t, std::int64_t) { return ++calls > 0; };
  prepare_sentences(file, made, whole(), count);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(std::filesystem::last_write_time(tokens), before);
  // A truncated file is written again, and so is the file of another text.
  std::filesystem::resize_file(tokens, 40);
  prepare_sentences(file, made, whole(), count);
  EXPECT_GT(calls, 0);
  put(scratch, "text.txt", "a b\nc d e\n");
  EXPECT_EQ(texts(*(*prepare_sentences(file, made, whole()))[0].second), (Texts{"a b", "c d e"}));
}

TEST(Sentences, StoppingLeavesNothingBehind) {
  const Scratch scratch;
  const auto file = put(scratch, "text.txt", "a\nb\nc\n");
  int lines = 0;
  EXPECT_FALSE(prepare_sentences(file, scratch / "made", whole(),
                                 [&](std::int64_t, std::int64_t) { return ++lines < 5; }));
  EXPECT_TRUE(std::filesystem::is_empty(scratch / "made"));
}

TEST(Sentences, BadTextIsRefusedByFileAndLine) {
  const Scratch scratch;
  const auto refusal = [&](const std::string& text, SentenceOptions options = whole()) {
    const auto file = put(scratch, "t.txt", text);
    const auto said = message([&] { prepare_sentences(file, scratch / "made", options); });
    EXPECT_FALSE(std::filesystem::exists(scratch / "made/train.tokens"));
    return said;
  };
  const auto name = (scratch / "t.txt").string();
  EXPECT_EQ(refusal("a\nb \xFF\n"), "[task.sentences] " + name + ":2: byte 3 (0xff) is not UTF-8");
  EXPECT_EQ(refusal(std::string("a\0b", 3)),
            "[task.sentences] " + name + ":1: byte 2 is NUL; the text must be UTF-8");
  EXPECT_NE(refusal("\xFF\xFE"
                    "a")
                .find("UTF-16"),
            std::string::npos);
  EXPECT_EQ(refusal("\n \n"), "[task.sentences] '" + name + "': the part 'train' has no sentences");
  auto options = whole();
  options.shares = {1, -1};
  EXPECT_NE(refusal("a\n", options).find("shares must be above 0, got -1"), std::string::npos);
  options = whole();
  options.vocabulary = 1;
  EXPECT_NE(refusal("a\n", options).find("vocabulary must be 0 (all words) or at least 2"),
            std::string::npos);
  EXPECT_NE(message([&] {
              prepare_sentences("/nowhere", scratch / "made", whole());
            }).find("there is no file or folder '/nowhere'"),
            std::string::npos);
}

TEST(TokenFile, DamageIsDetected) {
  const Scratch scratch;
  const auto path = scratch / "a.tokens";
  {
    TokenFileWriter writer(path, Alphabet({"<unk>", "a", "b"}));
    writer.add({1, 2, 0});
    writer.add({});
    writer.add({2, 2});
    writer.commit({{"from", "here"}});
  }
  const TokenFile file(path);
  EXPECT_EQ(texts(file), (Texts{"a b <unk>", "", "b b"}));
  EXPECT_EQ(file.source(), Json({{"from", "here"}}));
  const auto bytes = read_file(path);
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    write_file(path, bytes.substr(0, random.below(bytes.size())));
    EXPECT_NE(message([&] { TokenFile cut(path); }).find("prepare the corpus again"),
              std::string::npos);
  }
  write_file(path, "something else that is long enough");
  EXPECT_NE(message([&] { TokenFile other(path); }).find("is not a file of sentences"),
            std::string::npos);
}

TEST(TokenFile, EveryNumberInItIsChecked) {
  const Scratch scratch;
  const auto path = scratch / "a.tokens";
  {
    TokenFileWriter writer(path, Alphabet({"<unk>", "a", "b"}));
    for (int i = 0; i < 3; ++i) writer.add({1, 2, 0});
    writer.commit({});
  }
  const auto bytes = read_file(path);
  const auto problem = [&](const std::string& changed) {
    write_file(path, changed);
    return message([&] { TokenFile file(path); });
  };
  const auto with = [&](std::size_t place, std::uint64_t number, std::size_t size) {
    std::string changed = bytes;
    std::memcpy(changed.data() + place, &number, size);
    return problem(changed);
  };
  const auto footer = [&](const std::string& from, const std::string& to) {
    std::string changed = bytes;
    changed.replace(changed.find(from), from.size(), to);
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data() + bytes.size() - 8, 8);
    size += to.size() - from.size();
    std::memcpy(changed.data() + changed.size() - 8, &size, 8);
    return problem(changed);
  };
  EXPECT_EQ(problem(bytes), "no error");
  constexpr std::size_t kWords = 16, kStarts = kWords + 40;  // 9 words and one of padding
  EXPECT_CONTAINS(with(kWords, 3, 4), "word 1 has the id 3, but the vocabulary has 3 words");
  EXPECT_CONTAINS(with(kWords, 0xffffffff, 4), "word 1 has the id -1");
  EXPECT_CONTAINS(with(kWords, 2, 4), "checksum");
  EXPECT_CONTAINS(with(kStarts, 1, 8), "its sentences do not cover its words");
  EXPECT_CONTAINS(with(kStarts + 8, 100, 8), "sentence 1 is outside the words");
  EXPECT_CONTAINS(with(kStarts + 8, ~std::uint64_t{0}, 8), "sentence 1 is outside");
  EXPECT_CONTAINS(with(kStarts + 8, 4, 8), "the lengths of its sentences are wrong");
  EXPECT_CONTAINS(with(kStarts + 24, 8, 8), "its sentences do not cover its words");
  // The sum of the sizes equals the size of the file only modulo 2^64.
  EXPECT_CONTAINS(footer("\"words\":9", "\"words\":4611686018427387913"), "damaged");
  EXPECT_CONTAINS(footer("\"sentences\":3", "\"sentences\":2305843009213693955"), "damaged");
  EXPECT_CONTAINS(footer("\"sentences\":3", "\"sentences\":-1"), "damaged");
  EXPECT_CONTAINS(footer("\"a\",", "\"a\",\"a\","), "listed twice");
}

TEST(TokenFile, ANoteFindsTheFileOrReportsThatItIsGone) {
  const Scratch scratch;
  const auto write = [&](const Path& path, const Word& word) {
    TokenFileWriter writer(path, Alphabet({"a", "b"}));
    writer.add(word);
    writer.commit({});
  };
  const auto path = scratch / "here/a.tokens";
  std::filesystem::create_directories(path.parent_path());
  write(path, {0, 1});
  const auto note = note_of(TokenFile(path));
  EXPECT_TRUE(is_token_note(note));
  const auto beside = scratch / "run/train.txt";
  std::filesystem::create_directories(beside.parent_path());
  EXPECT_EQ(texts(*noted_file(note, beside)), (Texts{"a b"}));
  std::filesystem::rename(path, scratch / "run/a.tokens");
  EXPECT_EQ(texts(*noted_file(note, beside)), (Texts{"a b"}));
  write(scratch / "run/a.tokens", {1});
  EXPECT_NE(message([&] { noted_file(note, beside); }).find("has changed since"),
            std::string::npos);
  std::filesystem::remove(scratch / "run/a.tokens");
  EXPECT_NE(message([&] { noted_file(note, beside); }).find("are missing"), std::string::npos);
}

}  // namespace
}  // namespace pushdown::sentences_test
