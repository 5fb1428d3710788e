#include "task/running_text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pushdown::running_text_test {
namespace {

RunningTextPtr counting(int size) {
  std::vector<std::string> symbols;
  Word words;
  for (int i = 0; i < size; ++i) {
    symbols.push_back("w" + std::to_string(i));
    words.push_back(i);
  }
  return std::make_shared<RunningText>(Alphabet(symbols), words);
}

// Every word once, in its order within a stream, one stream after the other.
TEST(RunningText, PiecesHoldEveryWordOnceAndInOrder) {
  for (const int size : {1, 2, 7, 12, 13, 40, 41})
    for (const std::int64_t streams : {1, 2, 3, 5, 50})
      for (const std::int64_t length : {1, 2, 4, 100}) {
        const TextPieces pieces(counting(size), streams, length);
        EXPECT_EQ(pieces.streams(), std::min<std::int64_t>(streams, size));
        std::vector<std::vector<std::int64_t>> rows(pieces.streams());
        std::int64_t counted = 0;
        for (std::int64_t p = 0; p < pieces.count(); ++p) {
          const Tensor words = pieces.words(p), targets = pieces.targets(p);
          ASSERT_EQ(words.sizes(), targets.sizes());
          EXPECT_EQ(words.size(0), pieces.streams());
          EXPECT_LE(words.size(1), length);
          std::int64_t here = 0;
          for (std::int64_t b = 0; b < words.size(0); ++b)
            for (std::int64_t t = 0; t < words.size(1); ++t) {
              const auto target = targets[b][t].item<std::int64_t>();
              if (target == TextPieces::kAbsent) {
                EXPECT_EQ(words[b][t].item<std::int64_t>(), 0);
                EXPECT_EQ(p, pieces.count() - 1);
                EXPECT_EQ(t, words.size(1) - 1);
                continue;
              }
              EXPECT_EQ(words[b][t].item<std::int64_t>(), target);
              rows[b].push_back(target);
              ++here;
            }
          EXPECT_EQ(pieces.word_count(p), here);
          counted += here;
        }
        EXPECT_EQ(counted, size);
        std::int64_t next = 0;
        for (const auto& row : rows)
          for (const auto id : row) EXPECT_EQ(id, next++);
      }
}

TEST(RunningText, TextFormIsReadBack) {
  const Alphabet vocabulary({"<unk>", "<eos>", "a", "#"});
  for (const Word& words : {Word{2, 0, 1, 1, 3, 2}, Word{1}, Word{3, 1}}) {
    const RunningText text(vocabulary, words);
    const auto form = to_text(text);
    EXPECT_TRUE(is_running_text(form));
    const auto again = parse_running_text(form, "file");
    EXPECT_EQ(again.words(), words);
    EXPECT_EQ(again.alphabet(), vocabulary);
    EXPECT_EQ(to_text(again), form);
  }
  EXPECT_EQ(to_text(RunningText(vocabulary, {2, 0, 1, 3})),
            "# pushdown running text 1\n# alphabet <unk> <eos> a #\na <unk> <eos>\n#\n");
  EXPECT_FALSE(is_running_text("# pushdown data set 1\n"));
}

TEST(RunningText, InvalidOptionsAreRefused) {
  const auto refused = [](auto action) { EXPECT_THROW(action(), std::invalid_argument); };
  refused([] { RunningText(Alphabet({"a"}), {}); });
  refused([] { RunningText(Alphabet({"a"}), {1}); });
  refused([] { RunningText(Alphabet({"a"}), {-1}); });
  refused([] { TextPieces(counting(3), 0, 1); });
  refused([] { TextPieces(counting(3), 1, 0); });
  refused([] { TextPieces(counting(3), 1, 2).words(2); });
  refused([] { parse_running_text("a b", "file"); });
  refused([] { parse_running_text("# pushdown running text 1\n# alphabet a\nb\n", "file"); });
  refused([] { parse_running_text("# pushdown running text 1\n# alphabet a\n", "file"); });
  refused([] { unigram_perplexity(*counting(3), *counting(4)); });
}

TEST(RunningText, UnigramPerplexityByHand) {
  const Alphabet vocabulary({"a", "b", "c"});
  // Counts 3, 1 and 0, plus one each: 4/7, 2/7, 1/7.
  const RunningText train(vocabulary, {0, 0, 1, 0}), text(vocabulary, {0, 2});
  EXPECT_NEAR(unigram_perplexity(train, text), std::sqrt(7.0 / 4 * 7), 1e-12);
}

}  // namespace
}  // namespace pushdown::running_text_test
