#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "grammar/length_table.h"
#include "grammar/text.h"
#include "task/curriculum.h"
#include "task/labelled_sampling.h"

namespace pushdown {
namespace {

Grammar grammar_of(const char* text) { return Grammar(parse_grammar(text)); }
Grammar an_bn() { return grammar_of("S -> 'a' S 'b' [.9] | 'a' 'b' [.1]"); }
Grammar marked() { return grammar_of("S -> 'a' S 'a' [.45] | 'b' S 'b' [.45] | 'c' [.1]"); }
Grammar dyck2() { return grammar_of("S -> '(' S ')' [.25] | '[' S ']' [.25] | S S [.25] | [.25]"); }

// Membership said again, without the grammar.
bool is_an_bn(const Word& word) {
  const std::size_t n = word.size() / 2;
  for (std::size_t i = 0; i < word.size(); ++i)
    if (word[i] != (i < n ? 0 : 1)) return false;
  return word.size() % 2 == 0 && n > 0;
}
bool is_marked(const Word& word) {
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != word[word.size() - 1 - i]) return false;
    if ((word[i] == 2) != (i == word.size() / 2)) return false;
  }
  return word.size() % 2 == 1;
}
bool is_balanced(const Word& word) {  // symbols ( ) [ ]
  Word open;
  for (const int s : word) {
    if (s % 2 == 0) {
      open.push_back(s);
    } else {
      if (open.empty() || open.back() != s - 1) return false;
      open.pop_back();
    }
  }
  return open.empty();
}

std::string problem(const auto& f) {
  try {
    f();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}
bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

std::set<Word> set_of(const LabelledDataset& data) {
  return {data.words().begin(), data.words().end()};
}

LabelledOptions wanted(std::int64_t positives, std::int64_t negatives, int shortest, int longest) {
  LabelledOptions options;
  options.positives = positives;
  options.negatives = negatives;
  options.shortest = shortest;
  options.longest = longest;
  options.seed = 1;
  return options;
}

TEST(LabelledSampling, CountsLengthsLabelsAndDistinctness) {
  struct Case {
    Grammar grammar;
    bool (*oracle)(const Word&);
    std::int64_t positives;
  };
  // Of the marked palindromes up to length 21 there are 2047; of a^n b^n only ten.
  for (const auto& [grammar, oracle, positives] :
       {Case{an_bn(), is_an_bn, 10}, Case{marked(), is_marked, 1987},
        Case{dyck2(), is_balanced, 1987}})
    for (const std::uint64_t seed : {1, 2}) {
      auto options = wanted(positives, 2021, 1, 21);
      options.difficult_low = 0.15;
      options.difficult_high = 0.3;
      if (positives < 100) options.difficult_high = 0.2;
      options.seed = seed;
      const auto data = make_labelled(grammar, options);
      EXPECT_EQ(data.positives(), positives);
      EXPECT_EQ(data.negatives(), 2021);
      EXPECT_EQ(set_of(data).size(), static_cast<std::size_t>(data.size()));
      for (std::int64_t i = 0; i < data.size(); ++i) {
        const auto& word = data.words()[i];
        ASSERT_EQ(oracle(word), data.labels()[i]) << grammar.alphabet().text(word);
        ASSERT_TRUE(word.size() >= 1 && word.size() <= 21);
      }
      EXPECT_TRUE(wrong_labels(data, grammar).empty());
      // Mixed: neither half is in one piece.
      EXPECT_NE(std::is_sorted(data.labels().begin(), data.labels().end()), true);
    }
}

TEST(LabelledSampling, TheLastStringsOfALengthAreFound) {
  // 2047 marked palindromes of length 1 to 21, one of them very improbable.
  const auto grammar = grammar_of("S -> 'a' S 'a' [.999] | 'b' S 'b' [1e-6] | 'c' [.0009]");
  EXPECT_EQ(make_labelled(grammar, wanted(2047, 0, 1, 21)).positives(), 2047);
  EXPECT_TRUE(contains(problem([&] { make_labelled(grammar, wanted(2048, 0, 1, 21)); }),
                       "2048 positives of length 1 to 21 are wanted, but the language has only "
                       "2047"));
  auto repeated = wanted(5000, 0, 1, 21);
  repeated.distinct = "negatives";
  EXPECT_EQ(make_labelled(grammar, repeated).positives(), 5000);
}

TEST(LabelledSampling, AllNegativesOfAShortLengthAreFound) {
  // 3^1 + ... + 3^5 strings, of which 1 + 2 + 4 are marked palindromes.
  auto options = wanted(1, 356, 1, 5);
  options.negative_lengths = "uniform";
  EXPECT_EQ(make_labelled(marked(), options).negatives(), 356);
  options.negatives = 357;
  EXPECT_TRUE(contains(problem([&] { make_labelled(marked(), options); }),
                       "357 random negatives with the lengths of the interval are wanted, but "
                       "there are only 356"));
  options.distinct = "none";
  EXPECT_EQ(make_labelled(marked(), options).negatives(), 357);
}

TEST(LabelledSampling, LanguagesWithoutNegativesAreAnErrorAndNoEndlessLoop) {
  const auto unary = grammar_of("S -> 'a' S [.9] | 'a' [.1]");
  EXPECT_TRUE(contains(problem([&] { make_labelled(unary, wanted(3, 1, 1, 30)); }),
                       "1 random negatives with the lengths of the positives are wanted, but there "
                       "are only 0"));
  auto difficult = wanted(3, 1, 1, 30);
  difficult.difficult_low = difficult.difficult_high = 1;
  EXPECT_TRUE(contains(problem([&] { make_labelled(unary, difficult); }), "difficult negatives"));
  difficult.edits = {"insert", "delete"};
  EXPECT_TRUE(contains(problem([&] { make_labelled(unary, difficult); }), "none was found"));
  // All long strings over two symbols: too many to list.
  const auto all = grammar_of("S -> 'a' S [.4] | 'b' S [.4] | 'a' [.1] | 'b' [.1]");
  EXPECT_TRUE(
      contains(problem([&] { make_labelled(all, wanted(3, 1, 40, 41)); }), "in 1000 tries"));
  // Even lengths of one symbol: the odd ones are the negatives.
  const auto even = grammar_of("S -> 'a' 'a' S [.9] | [.1]");
  auto odd = wanted(6, 5, 0, 10);
  EXPECT_TRUE(contains(problem([&] { make_labelled(even, odd); }), "there are only 0"));
  odd.negative_lengths = "uniform";
  const auto data = make_labelled(even, odd);
  for (std::int64_t i = 0; i < data.size(); ++i)
    EXPECT_EQ(data.words()[i].size() % 2 == 0, data.labels()[i]);
}

TEST(LabelledSampling, NothingOfAnExcludedSetOccurs) {
  auto options = wanted(300, 300, 2, 14);
  options.difficult_low = options.difficult_high = 0.3;
  const auto train = std::make_shared<const LabelledDataset>(make_labelled(dyck2(), options));
  const auto taken = set_of(*train);
  for (const char* distinct : {"all", "none"}) {
    options.distinct = distinct;
    options.seed = 2;
    const auto free = make_labelled(dyck2(), options);
    EXPECT_TRUE(std::any_of(free.words().begin(), free.words().end(),
                            [&](const Word& word) { return taken.contains(word); }));
    const auto test = make_labelled(dyck2(), options, {train});
    EXPECT_EQ(test.size(), 600);
    for (const auto& word : test.words()) ASSERT_FALSE(taken.contains(word));
  }
  // Ten positives exist, and all are excluded.
  const auto all =
      std::make_shared<const LabelledDataset>(make_labelled(an_bn(), wanted(10, 0, 1, 20)));
  auto more = wanted(1, 0, 1, 20);
  more.distinct = "none";
  EXPECT_TRUE(contains(problem([&] { make_labelled(an_bn(), more, {all}); }),
                       "has only 0 beside the 10 excluded strings"));
  EXPECT_TRUE(contains(problem([&] { make_labelled(dyck2(), more, {all}); }),
                       "an excluded data set has the symbols 'a' and 'b'"));
}

TEST(LabelledSampling, NegativesHaveTheLengthsOfThePositives) {
  auto options = wanted(2000, 2000, 1, 21);
  options.distinct = "none";
  const auto data = make_labelled(dyck2(), options);
  std::map<std::size_t, std::pair<double, double>> counts;
  for (std::int64_t i = 0; i < data.size(); ++i)
    ++(data.labels()[i] ? counts[data.words()[i].size()].first
                        : counts[data.words()[i].size()].second);
  EXPECT_EQ(counts.size(), 10u);  // 2, 4, .. 20
  for (const auto& [length, count] : counts) {
    // Five standard deviations of a binomial with mean 200.
    EXPECT_NEAR(count.first, 200, 5 * 13.5) << length;
    EXPECT_NEAR(count.second, count.first, 5 * 13.5) << length;
  }
  options.positive_lengths = "grammar";
  const auto natural = make_labelled(dyck2(), options);
  const LengthTable table(dyck2(), 21);
  double whole = 0, mean = 0, found = 0;
  for (int l = 1; l <= 21; ++l) {
    if (!table.has_strings(l)) continue;
    whole += std::exp(table.log_mass(l));
    mean += l * std::exp(table.log_mass(l));
  }
  for (std::int64_t i = 0; i < natural.size(); ++i)
    if (natural.labels()[i]) found += static_cast<double>(natural.words()[i].size());
  EXPECT_NEAR(found / 2000, mean / whole, 0.6);
}

TEST(LabelledSampling, DifficultNegativesAreThatManyEditsAway) {
  // With replacements alone and one positive, the distance to it is the number of changes left.
  const auto grammar = an_bn();
  for (const int swaps : {1, 3}) {
    auto options = wanted(1, 15, 12, 12);
    options.difficult_low = options.difficult_high = 1;
    options.swaps = {swaps};
    options.edits = {"replace"};
    if (swaps == 1) options.negatives = 12;  // all there are
    const auto data = make_labelled(grammar, options);
    std::set<int> distances;
    for (std::int64_t i = 0; i < data.size(); ++i) {
      int distance = 0;
      for (int k = 0; k < 12; ++k) distance += data.words()[i][k] != (k < 6 ? 0 : 1);
      distances.insert(distance);
    }
    EXPECT_EQ(distances, swaps == 1 ? (std::set<int>{0, 1}) : (std::set<int>{0, 1, 3}));
    options.negatives = swaps == 1 ? 13 : 300;
    EXPECT_TRUE(contains(problem([&] { make_labelled(grammar, options); }), "none was found"));
  }
  // A transposition keeps the symbols; an insertion or deletion changes the length by one.
  auto options = wanted(1, 30, 11, 13);
  options.difficult_low = options.difficult_high = 1;
  options.swaps = {1};
  options.edits = {"transpose"};
  const auto exchanged = make_labelled(an_bn(), options);
  for (const auto& word : exchanged.words()) EXPECT_EQ(std::count(word.begin(), word.end(), 0), 6);
  options.edits = {"insert", "delete"};
  options.negatives = 14;
  std::map<std::size_t, int> lengths;
  const auto near = make_labelled(an_bn(), options);
  for (const auto& word : near.words()) ++lengths[word.size()];
  EXPECT_EQ(lengths[11] + lengths[13], 14);
  EXPECT_GT(lengths[11], 0);
  EXPECT_GT(lengths[13], 0);
}

TEST(LabelledSampling, TheSeedDecides) {
  auto options = wanted(100, 100, 2, 20);
  options.difficult_low = 0.15;
  options.difficult_high = 0.3;
  const auto one = make_labelled(dyck2(), options), same = make_labelled(dyck2(), options);
  EXPECT_EQ(one.words(), same.words());
  EXPECT_EQ(one.labels(), same.labels());
  options.seed = 2;
  EXPECT_NE(one.words(), make_labelled(dyck2(), options).words());
}

TEST(LabelledSampling, WrongOptions) {
  const auto error = [](auto change) {
    auto options = wanted(1, 1, 2, 4);
    change(options);
    return problem([&] { make_labelled(dyck2(), options); });
  };
  using O = LabelledOptions&;
  EXPECT_EQ(error([](O) {}), "no error");
  EXPECT_TRUE(contains(error([](O o) { o.positives = -1; }), "at least 0, got -1 and 1"));
  EXPECT_TRUE(contains(error([](O o) { o.positives = o.negatives = 0; }), "at least one string"));
  EXPECT_TRUE(contains(error([](O o) { o.longest = 1; }), "got {2, 1}"));
  EXPECT_TRUE(contains(error([](O o) { o.shortest = -2; }), "got {-2, 4}"));
  EXPECT_TRUE(contains(error([](O o) { o.difficult_high = 1.5; }), "difficult must be a share"));
  EXPECT_TRUE(contains(error([](O o) { o.difficult_high = NAN; }), "difficult must be a share"));
  EXPECT_TRUE(contains(error([](O o) { o.difficult_high = 1, o.positives = 0; }),
                       "there must be at least one"));
  EXPECT_TRUE(contains(error([](O o) { o.swaps = {}; }), "at least one number"));
  EXPECT_TRUE(contains(error([](O o) { o.swaps = {0}; }), "at least 1, got 0"));
  EXPECT_TRUE(contains(error([](O o) { o.edits = {"swap"}; }), "edits must be one of 'replace'"));
  EXPECT_TRUE(contains(error([](O o) { o.edits = {}; }), "edits must list"));
  EXPECT_TRUE(contains(error([](O o) { o.distinct = "yes"; }), "distinct must be one of 'all'"));
  EXPECT_TRUE(
      contains(error([](O o) { o.shortest = o.longest = 3; }), "no strings of length 3 to 3"));
}

TEST(LabelledDataset, Errors) {
  const Alphabet alphabet({"a", "b"});
  using Data = LabelledDataset;
  EXPECT_THROW(Data(alphabet, {}, {}), std::invalid_argument);
  EXPECT_THROW(Data(alphabet, {{0}}, {}), std::invalid_argument);
  EXPECT_THROW(Data(alphabet, {{2}}, {true}), std::invalid_argument);
  EXPECT_TRUE(contains(problem([&] {
                         Data(alphabet, {{0}, {1}, {0}}, {true, true, false});
                       }),
                       "'a' is labelled valid and invalid (strings 1 and 3)"));
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
  // Ten different positives, each about thirty times.
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
    // After an a and then a b no a may follow, and never more b than a.
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
  EXPECT_TRUE(contains(problem([&] { with_dead_ends(wrong, dyck2()); }), "is labelled valid, and"));
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
      {"# pushdown data set 1\n", "d.txt:1: a labelled data set begins with the line"},
      {"# pushdown labelled data set 1\na\n", "d.txt:2: expected '# alphabet"},
      {head + "1 a b\n", "d.txt:3: expected 1 or 0, a tab and a string"},
      {head + "1\ta\r\n\n", "d.txt:4: expected 1 or 0, a tab"},
      {head + "yes\ta\n", "d.txt:3: expected the label 1 (valid) or 0 (invalid), got 'yes'"},
      {head + "1\ta c\n", "d.txt:3: [alphabet] symbol 'c' is not in the alphabet"},
      {head + "1\ta\n0\tb\n0\ta\n", "d.txt:5: 'a' is labelled 0 here and 1 in line 3"},
      {head + "1\t\n0\t\n", "d.txt:4: the empty string is labelled 0 here and 1 in line 3"},
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
  const auto all = curriculum(data, {.kind = "sequential", .epochs = {30}});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].strings, shorter.at(5));
  EXPECT_EQ(all[0].epochs, 30);
  EXPECT_THROW(curriculum(data, {.kind = "x"}), std::invalid_argument);
  EXPECT_THROW(curriculum(data, {.kind = "two_stage", .threshold = 0}), std::invalid_argument);
  EXPECT_THROW(curriculum(data, {.kind = "two_stage", .epochs = {3}}), std::invalid_argument);
  EXPECT_THROW(curriculum(data, {.kind = "two_stage", .epochs = {3, 3}}), std::invalid_argument);
  EXPECT_THROW(curriculum(data, {.kind = "sequential", .epochs = {0}}), std::invalid_argument);
}

}  // namespace
}  // namespace pushdown
