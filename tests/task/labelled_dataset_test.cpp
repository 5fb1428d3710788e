// Labelled datasets: parts, step targets, dead ends, text, curricula.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "grammar/length_table.h"
#include "labelled.h"
#include "task/curriculum.h"

namespace pushdown::labelled_dataset_test {
namespace {

using namespace testing_support;

TEST(LabelledDataset, Errors) {
  const Alphabet alphabet({"a", "b"});
  using Data = LabelledDataset;
  EXPECT_THROW(Data(alphabet, {}, {}), std::invalid_argument);
  EXPECT_THROW(Data(alphabet, {{0}}, {}), std::invalid_argument);
  EXPECT_THROW(Data(alphabet, {{2}}, {true}), std::invalid_argument);
  EXPECT_TRUE(contains(problem([&] {
                         Data(alphabet, {{0}, {1}, {0}}, {true, true, false});
                       }),
                       "'a' is labelled both valid and invalid (strings 1 and 3)"));
  const Data data(alphabet, {{0}, {1}, {0}}, {true, false, true});
  EXPECT_THROW(data.subset({3}), std::invalid_argument);
  EXPECT_THROW(data.subset({}), std::invalid_argument);
  EXPECT_THROW(wrong_labels(data, marked()), std::invalid_argument);
  EXPECT_THROW(step_targets(an_bn(), {{2}}), std::invalid_argument);
}

TEST(LabelledDataset, WrongLabelsAreFound) {
  const LabelledDataset data(an_bn().alphabet(), {{0, 1}, {0}, {1, 0}, {0, 0, 1, 1}},
                             {true, true, false, false});
  EXPECT_EQ(wrong_labels(data, an_bn()), (std::vector<std::int64_t>{1, 3}));
}

TEST(LabelledDataset, SplitsKeepBalanceAndEqualStringsTogether) {
  const auto data = make_labelled(dyck2(), wanted(300, 100, 2, 20));
  const auto parts = split(data, {8, 1, 1}, 5);
  ASSERT_EQ(parts.size(), 3u);
  std::multiset<Word> all;
  for (std::size_t p = 0; p < 3; ++p) {
    EXPECT_EQ(parts[p].positives(), p == 0 ? 240 : 30);
    EXPECT_EQ(parts[p].negatives(), p == 0 ? 80 : 10);
    EXPECT_TRUE(wrong_labels(parts[p], dyck2()).empty());
    all.insert(parts[p].words().begin(), parts[p].words().end());
  }
  EXPECT_EQ(all, std::multiset<Word>(data.words().begin(), data.words().end()));
  // Ten different valid strings, each about thirty times.
  auto options = wanted(300, 100, 1, 20);
  options.distinct = "negatives";
  const auto halves = split(make_labelled(an_bn(), options), {1, 1}, 5);
  EXPECT_EQ(halves[0].size() + halves[1].size(), 400);
  EXPECT_NEAR(static_cast<double>(halves[0].positives()), 150, 40);
  const auto first = set_of(halves[0]);
  for (const auto& word : halves[1].words()) EXPECT_FALSE(first.contains(word));
  EXPECT_THROW(split(data, {}, 1), std::invalid_argument);
  EXPECT_THROW(split(data, {1, 0}, 1), std::invalid_argument);
  EXPECT_THROW(split(data, {1, 1e-9}, 1), std::invalid_argument);
}

TEST(StepTargets, ByHand) {
  const auto targets = step_targets(dyck2(), {{0, 1, 2, 3}, {0, 3, 1}, {}});
  EXPECT_EQ(targets[0].viable, (std::vector<std::uint8_t>{1, 1, 1, 1, 1}));
  EXPECT_EQ(targets[0].member, (std::vector<std::uint8_t>{1, 0, 1, 0, 1}));
  EXPECT_EQ(targets[1].viable, (std::vector<std::uint8_t>{1, 1, 0, 0}));
  EXPECT_EQ(targets[1].member, (std::vector<std::uint8_t>{1, 0, 0, 0}));
  EXPECT_EQ(targets[2].viable, (std::vector<std::uint8_t>{1}));
}

TEST(DeadEnds, AreWhereAPrefixStopsBeingViable) {
  using Ends = std::vector<std::int64_t>;
  const LabelledDataset data(dyck2().alphabet(),
                             {{0, 1, 2, 3}, {0, 3, 1}, {0, 0}, {1, 0}, {0, 1, 3}},
                             {true, false, false, false, false});
  EXPECT_TRUE(data.dead_ends().empty());
  const auto known = with_dead_ends(data, dyck2());
  EXPECT_EQ(known.dead_ends(), (Ends{0, 2, 0, 1, 3}));
  EXPECT_EQ(known.words(), data.words());
  EXPECT_EQ(known.subset({4, 2, 1}).dead_ends(), (Ends{3, 0, 2}));
  const auto text = to_text(known);
  EXPECT_TRUE(contains(text, "\n0:2\t")) << text;
  EXPECT_TRUE(contains(text, "\n1\t")) << text;
  EXPECT_EQ(parse_labelled(text, "x").dead_ends(), known.dead_ends());
  EXPECT_TRUE(parse_labelled(to_text(data), "x").dead_ends().empty());

  const auto made = with_dead_ends(make_labelled(an_bn(), wanted(6, 60, 1, 12)), an_bn());
  std::set<bool> seen;
  for (std::int64_t i = 0; i < made.size(); ++i) {
    const auto end = made.dead_ends()[i];
    // No a may follow a b, and there are never more b than a.
    std::int64_t a = 0, b = 0, wanted_end = 0;
    for (const int symbol : made.words()[i]) {
      (symbol == 0 ? a : b) += 1;
      if (wanted_end == 0 && (b > a || (symbol == 0 && b > 0))) wanted_end = a + b;
    }
    EXPECT_EQ(end, wanted_end) << i;
    seen.insert(end > 0);
  }
  EXPECT_EQ(seen.size(), 2u);
}

TEST(DeadEnds, WrongOnesAreRefused) {
  using Data = LabelledDataset;
  const Alphabet alphabet({"a"});
  EXPECT_THROW(Data(alphabet, {{0}}, {false}, {2}), std::invalid_argument);
  EXPECT_THROW(Data(alphabet, {{0}}, {false}, {-1}), std::invalid_argument);
  EXPECT_THROW(Data(alphabet, {{0}}, {true}, {1}), std::invalid_argument);
  EXPECT_THROW(Data(alphabet, {{0}}, {false}, {1, 1}), std::invalid_argument);
  const Data wrong(dyck2().alphabet(), {{1}}, {true});
  EXPECT_TRUE(contains(problem([&] { with_dead_ends(wrong, dyck2()); }),
                       "is labelled valid, but by the grammar"));
  for (const std::string field : {"0:", "0:0", "0:-1", "0:1x", "1:1", "0:3"})
    EXPECT_TRUE(contains(problem([&] {
                           parse_labelled(
                               "# pushdown labelled data set 1\n# alphabet a\n" + field + "\ta a\n",
                               "d.txt");
                         }),
                         "d.txt:3: "))
        << field;
}

TEST(LabelledText, RoundTrip) {
  const LabelledDataset data(Alphabet({"(", "#", "é"}), {{0, 1, 2}, {}, {1}, {0, 1, 2}},
                             {true, false, true, true});
  EXPECT_EQ(to_text(data),
            "# pushdown labelled data set 1\n# alphabet ( # é\n1\t( # é\n0\t\n1\t#\n1\t( # é\n");
  const auto again = parse_labelled(to_text(data), "x");
  EXPECT_EQ(again.alphabet(), data.alphabet());
  EXPECT_EQ(again.words(), data.words());
  EXPECT_EQ(again.labels(), data.labels());
}

TEST(LabelledText, ErrorsNameTheLine) {
  const std::string head = "# pushdown labelled data set 1\n# alphabet a b\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "d.txt: there are no strings"},
      {"# pushdown data set 1\n", "d.txt:1: a labelled dataset begins with the line"},
      {"# pushdown labelled data set 1\na\n", "d.txt:2: expected '# alphabet"},
      {head + "1 a b\n", "d.txt:3: expected 1 or 0, a tab and a string"},
      {head + "1\ta\r\n\n", "d.txt:4: expected 1 or 0, a tab"},
      {head + "yes\ta\n", "d.txt:3: expected the label 1 (valid) or 0 (invalid), got 'yes'"},
      {head + "1\ta c\n", "d.txt:3: [alphabet] symbol 'c' is not in the alphabet"},
      {head + "1\ta\n0\tb\n0\ta\n", "d.txt:5: 'a' is labelled 0 here but 1 in line 3"},
      {head + "1\t\n0\t\n", "d.txt:4: the empty string is labelled 0 here but 1 in line 3"},
  };
  for (const auto& [text, expected] : cases) {
    const auto got = problem([&] { parse_labelled(text, "d.txt"); });
    EXPECT_TRUE(contains(got, expected)) << got;
  }
}

TEST(Curriculum, TwoStages) {
  const Alphabet alphabet({"a"});
  // Lengths 3, 1, 5, 5, 2.
  const LabelledDataset data(alphabet, {Word(3, 0), Word(1, 0), Word(5, 0), Word(5, 0), Word(2, 0)},
                             {true, false, true, true, true});
  using Indices = std::vector<std::int64_t>;
  const std::map<std::int64_t, Indices> shorter = {
      {1, {1}}, {2, {1, 4}}, {3, {0, 1, 4}}, {4, {0, 1, 4}}, {5, {0, 1, 2, 3, 4}}};
  CurriculumOptions options{.kind = "two_stage", .threshold = 3, .epochs = {}};
  const auto phases = curriculum(data, options);
  ASSERT_EQ(phases.size(), 3u + 1 + 5 + 1);
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const auto& phase = phases[i];
    const bool second = i >= 4;
    const bool random = i == 3 || i == 9;
    EXPECT_EQ(phase.stage, second ? 2 : 1);
    EXPECT_EQ(phase.random, random);
    EXPECT_EQ(phase.longest, random ? (second ? 5 : 3) : static_cast<int>(second ? i - 3 : i + 1));
    EXPECT_EQ(phase.epochs, !random ? 1 : second ? 150 : 200);
    EXPECT_EQ(phase.strings, shorter.at(phase.longest));
  }
  const auto once = curriculum(data, {.kind = "incremental", .epochs = {7}});
  ASSERT_EQ(once.size(), 6u);
  EXPECT_EQ(once[5].epochs, 7);
  EXPECT_TRUE(once[5].random);
  // N = 1, 3, 5, then all.
  const auto steps = curriculum(data, {.kind = "incremental", .epochs = {7}, .step = 2});
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_EQ(steps[1].strings, shorter.at(3));
  EXPECT_EQ(steps[2].longest, 5);
  EXPECT_TRUE(steps[3].random);
  const auto wide = curriculum(data, {.kind = "two_stage", .threshold = 3, .step = 3});
  ASSERT_EQ(wide.size(), 1u + 1 + 2 + 1);
  EXPECT_EQ(wide[3].strings, shorter.at(4));
  EXPECT_EQ(wide[4].strings, shorter.at(5));
  const auto all = curriculum(data, {.kind = "sequential", .epochs = {30}});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].strings, shorter.at(5));
  EXPECT_EQ(all[0].epochs, 30);
  // The ends of stages.
  for (const std::string end : {"epochs", "last_open", "converged"}) {
    const auto open =
        curriculum(data, {.kind = "two_stage", .threshold = 3, .epochs = {}, .stage_end = end});
    ASSERT_EQ(open.size(), phases.size());
    for (std::size_t i = 0; i < open.size(); ++i)
      EXPECT_EQ(open[i].epochs, i == 3 && end == "converged" ? kNoEpochLimit
                                : i == 9 && end != "epochs"  ? kNoEpochLimit
                                                             : phases[i].epochs);
  }
  EXPECT_THROW(curriculum(data, {.kind = "two_stage", .stage_end = "never"}),
               std::invalid_argument);
  EXPECT_THROW(curriculum(data, {.kind = "x"}), std::invalid_argument);
  EXPECT_THROW(curriculum(data, {.kind = "incremental", .step = 0}), std::invalid_argument);
  EXPECT_THROW(curriculum(data, {.kind = "two_stage", .threshold = 0}), std::invalid_argument);
  EXPECT_THROW(curriculum(data, {.kind = "two_stage", .epochs = {3}}), std::invalid_argument);
  EXPECT_THROW(curriculum(data, {.kind = "two_stage", .epochs = {3, 3}}), std::invalid_argument);
  EXPECT_THROW(curriculum(data, {.kind = "sequential", .epochs = {0}}), std::invalid_argument);
}

}  // namespace
}  // namespace pushdown::labelled_dataset_test
