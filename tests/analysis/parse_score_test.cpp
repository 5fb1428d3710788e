// F1, compared with a brute-force comparison of all spans of brackets in texts.
#include "analysis/parse_score.h"

#include <gtest/gtest.h>

#include <sstream>

#include "analysis/parse_induction.h"
#include "support/message.h"
#include "task/bracketed_text.h"

namespace pushdown::parse_score_test {
namespace {

using testing_support::message;

std::vector<PhraseTree> trees_of(const std::string& text, bool unlabelled) {
  BracketOptions options;
  options.unlabelled = unlabelled;
  return parse_brackets(text, "t", options);
}

TreeScore score(const std::vector<PhraseTree>& induced, const std::vector<PhraseTree>& gold,
                const Json& options = Json::object()) {
  std::vector<const PhraseTree*> ours, theirs;
  for (const auto& tree : induced) ours.push_back(&tree);
  for (const auto& tree : gold) theirs.push_back(&tree);
  return score_trees(ours, theirs, options);
}

double f1(const std::string& induced, const std::string& gold, const Json& options) {
  return score(trees_of(induced, true), trees_of(gold, true), options).f1;
}

// ---- The oracle: a list of "(", ")" and words ----

std::vector<std::string> tokens_of(const std::string& text) {
  std::string spaced;
  for (const char c : text)
    spaced += c == '(' || c == ')' ? std::string{' ', c, ' '} : std::string(1, c);
  std::istringstream stream(spaced);
  return {std::istream_iterator<std::string>(stream), {}};
}

// Returns whether some bracket contains exactly the words i .. j-1.
bool holds(const std::vector<std::string>& tokens, int i, int j) {
  for (std::size_t a = 0; a < tokens.size(); ++a) {
    if (tokens[a] != "(") continue;
    int before = 0, inside = 0, depth = 1;
    for (std::size_t b = 0; b < a; ++b) before += tokens[b] != "(" && tokens[b] != ")";
    for (std::size_t b = a + 1; depth > 0; ++b) {
      depth += tokens[b] == "(" ? 1 : tokens[b] == ")" ? -1 : 0;
      inside += tokens[b] != "(" && tokens[b] != ")";
    }
    if (before == i && before + inside == j) return true;
  }
  return false;
}

struct Counts {
  int common = 0, induced = 0, gold = 0;
};

Counts count(const std::string& induced, const std::string& gold, int words, bool root) {
  Counts counts;
  const auto ours = tokens_of(induced), theirs = tokens_of(gold);
  for (int i = 0; i < words; ++i)
    for (int j = i + 2; j <= words; ++j) {
      if (!root && i == 0 && j == words) continue;
      const bool a = holds(ours, i, j), b = holds(theirs, i, j);
      counts.common += a && b;
      counts.induced += a;
      counts.gold += b;
    }
  return counts;
}

double oracle(const Counts& c) {
  if (c.induced == 0 && c.gold == 0) return 1;
  return c.common == 0 ? 0 : 2.0 * c.common / (c.induced + c.gold);
}

// ---- Computed by hand ----

TEST(ParseScore, ByHand) {
  const Json with{{"root", true}, {"binarized", "none"}};
  const Json without{{"root", false}, {"binarized", "none"}};
  // Spans: abcd ab cd against abcd bcd cd.
  EXPECT_DOUBLE_EQ(f1("((a b) (c d))", "(a (b (c d)))", with), 2.0 / 3);
  EXPECT_DOUBLE_EQ(f1("((a b) (c d))", "(a (b (c d)))", without), 1.0 / 2);
  EXPECT_DOUBLE_EQ(f1("((a b) (c d))", "((a b) (c d))", without), 1);
  EXPECT_DOUBLE_EQ(f1("(((a b) c) d)", "(a (b (c d)))", without), 0);
  EXPECT_DOUBLE_EQ(f1("(((a b) c) d)", "(a (b (c d)))", with), 1.0 / 3);
  // Precision 1/3, recall 1: the flat tree has only the root.
  const auto flat = score(trees_of("((a b) (c d))", true), trees_of("(a b c d)", true), with);
  EXPECT_DOUBLE_EQ(flat.precision, 1.0 / 3);
  EXPECT_DOUBLE_EQ(flat.recall, 1);
  EXPECT_DOUBLE_EQ(flat.f1, 0.5);
  // Neither tree has a span, or only the gold tree has none.
  EXPECT_DOUBLE_EQ(f1("(a b)", "(a b)", without), 1);
  EXPECT_DOUBLE_EQ(f1("(a)", "((a))", with), 1);
  EXPECT_DOUBLE_EQ(f1("((a b) c)", "(a b c)", without), 0);
  // Chains and phrases of one word are not counted.
  EXPECT_DOUBLE_EQ(f1("(((a b)) (c))", "((a b) c)", with), 1);
}

TEST(ParseScore, MeanOfSentencesOrOfSpans) {
  const auto induced = trees_of("((a b) (c d)) (a (b (c (d e))))", true);
  const auto gold = trees_of("(((a b) c) d) (a (b (c (d e))))", true);
  const auto sentences = score(induced, gold);
  EXPECT_DOUBLE_EQ(sentences.f1, (1.0 / 2 + 1) / 2);
  const auto corpus = score(induced, gold, {{"average", "corpus"}});
  EXPECT_DOUBLE_EQ(corpus.f1, 4.0 / 5);
  ASSERT_EQ(sentences.sentences.size(), 2u);
  EXPECT_EQ(sentences.sentences[0].common, 1);
  EXPECT_EQ(sentences.sentences[0].gold, 2);
  EXPECT_EQ(sentences.sentences[1].words, 5);
}

TEST(ParseScore, GoldTreesAreBinarized) {
  const auto gold = trees_of("(S (A a) (B b) (C c) (D d))", false);
  const auto right = std::vector{right_branching({"a", "b", "c", "d"})};
  EXPECT_DOUBLE_EQ(score(right, gold).f1, 1);
  EXPECT_DOUBLE_EQ(score(right, gold, {{"binarized", "left"}}).f1, 0);
  EXPECT_DOUBLE_EQ(score(right, gold, {{"binarized", "none"}}).f1, 0);
  EXPECT_DOUBLE_EQ(score(right, gold, {{"binarized", "none"}, {"root", true}}).f1, 0.5);
}

TEST(ParseScore, PunctuationLeavesBothTrees) {
  const auto gold = trees_of("(S (NP (D a) (N b)) (, c) (VP (V d) (N e)) (. f))", false);
  const auto induced = trees_of("((a b) (c (d (e f))))", true);
  // (a b)(d e) are left on both sides.
  const Json drop{{"punctuation", "drop"}, {"root", true}};
  const auto dropped = score(induced, gold, drop);
  EXPECT_DOUBLE_EQ(dropped.f1, 1);
  EXPECT_EQ(dropped.sentences[0].words, 4);
  EXPECT_LT(score(induced, gold, {{"root", true}}).f1, 1);
  // Lengths are measured after the removal.
  EXPECT_EQ(score(induced, gold, {{"punctuation", "drop"}, {"max_length", 4}}).sentences.size(),
            1u);
  EXPECT_DOUBLE_EQ(score(induced, gold, {{"punctuation", "drop"}, {"punctuation_tags", {","}}})
                       .sentences[0]
                       .words,
                   5);
  EXPECT_EQ(message([&] { score(induced, induced, drop); }),
            "[tree.score] sentence 1: word 1, 'a', has no part of speech in the gold tree; "
            "punctuation = 'drop' needs one for every word");
}

TEST(ParseScore, PresetsSetWhatIsNotGiven) {
  const auto tree = trees_of("((a b) c)", true);
  const auto htut = score(tree, tree, {{"preset", "htut"}}).settings;
  EXPECT_EQ(htut["root"], true);
  EXPECT_EQ(htut["punctuation"], "keep");
  EXPECT_EQ(htut["binarized"], "right");
  EXPECT_EQ(htut["average"], "sentence");
  const auto merrill = score(tree, tree, {{"preset", "merrill"}, {"average", "corpus"}});
  EXPECT_EQ(merrill.settings["root"], false);
  EXPECT_EQ(merrill.settings["average"], "corpus");
  EXPECT_EQ(
      score_text(merrill),
      "F1 100.00 % of 1 sentence (precision 100.00 %, recall 100.00 %; preset = merrill, root "
      "= false, punctuation = keep, average = corpus, binarized = right, min_length = 1)");
  EXPECT_CONTAINS(message([&] { score(tree, tree, {{"preset", "hutt"}}); }), "'htut'");
  EXPECT_CONTAINS(message([&] { score(tree, tree, {{"rot", true}}); }), "root");
}

TEST(ParseScore, LengthsAndLabels) {
  const auto gold =
      trees_of("(S (A a)) (S (NP (A a) (B b)) (VP (X (A c) (B d)))) (S (A a) (B b))", false);
  std::vector<PhraseTree> induced;
  for (const auto& tree : gold) induced.push_back(left_branching(tree.words()));
  const auto found = score(induced, gold, {{"min_length", 2}, {"max_length", 4}, {"root", true}});
  EXPECT_EQ(found.left_out, 1);
  EXPECT_EQ(found.sentences.front().number, 1);
  EXPECT_EQ(found.labels.at("S").gold, 2);
  EXPECT_EQ(found.labels.at("S").found, 2);
  EXPECT_EQ(found.labels.at("NP").found, 1);
  EXPECT_EQ(found.labels.at("VP").gold, 1);
  EXPECT_EQ(found.labels.at("X").found, 0);
  EXPECT_EQ(message([&] {
              score(induced, gold, {{"min_length", 5}});
            }),
            "[tree.score] none of the 3 sentences can be scored; min_length = 5, max_length = 0");
  EXPECT_EQ(message([] { score({}, {}); }), "[tree.score] none of the 0 sentences can be scored");
}

TEST(ParseScore, TreesThatDisagreeAreNamed) {
  const auto gold = trees_of("(a b) (The cat sat)", true);
  EXPECT_EQ(message([&] { score(trees_of("(a b) (the dog sat)", true), gold); }),
            "[tree.score] sentence 2: the trees have different words; word 2 is 'dog' in the "
            "induced tree and 'cat' in the gold tree");
  EXPECT_EQ(message([&] { score(trees_of("(a b) (the cat)", true), gold); }),
            "[tree.score] sentence 2: the trees have different words; word 3 is nothing in the "
            "induced tree and 'sat' in the gold tree");
  EXPECT_EQ(message([&] { score(trees_of("(a b)", true), gold); }),
            "[tree.score] the numbers of induced and gold trees must be equal, got 1 and 2");
  // Letter case makes no difference.
  EXPECT_DOUBLE_EQ(score(trees_of("(A b) ((the cat) sat)", true), gold, {{"binarized", "left"}}).f1,
                   1);
}

TEST(ParseScore, RandomTreesAgainstAllSpans) {
  Random random(5, "test");
  double sum[2] = {0, 0};
  Counts all[2];
  std::vector<PhraseTree> induced, gold;
  for (int round = 0; round < 300; ++round) {
    const int n = 1 + static_cast<int>(random.below(9));
    std::vector<std::string> words;
    for (int i = 0; i < n; ++i) words.push_back("w" + std::to_string(i));
    induced.push_back(random_tree(words, random));
    // Phrases are left out, doubled and added over single words.
    auto phrases = random_tree(words, random).phrases();
    std::vector<Phrase> kept;
    for (const auto& phrase : phrases)
      for (auto copies = random.below(3); copies > 0; --copies) kept.push_back(phrase);
    for (int i = 0; i < n; ++i)
      if (random.below(3) == 0) kept.push_back({i, i + 1});
    gold.emplace_back(words, std::vector<std::string>(), kept);
    for (const bool root : {false, true}) {
      const auto c = count(bracketed(induced.back()), bracketed(gold.back()), n, root);
      sum[root] += oracle(c);
      all[root].common += c.common;
      all[root].induced += c.induced;
      all[root].gold += c.gold;
    }
  }
  for (const bool root : {false, true}) {
    const auto by_sentence = score(induced, gold, {{"root", root}, {"binarized", "none"}});
    EXPECT_NEAR(by_sentence.f1, sum[root] / 300, 1e-12);
    const auto by_span =
        score(induced, gold, {{"root", root}, {"binarized", "none"}, {"average", "corpus"}});
    EXPECT_NEAR(by_span.f1, oracle(all[root]), 1e-12);
    EXPECT_NEAR(by_span.precision, 1.0 * all[root].common / all[root].induced, 1e-12);
    EXPECT_NEAR(by_span.recall, 1.0 * all[root].common / all[root].gold, 1e-12);
  }
}

}  // namespace
}  // namespace pushdown::parse_score_test
