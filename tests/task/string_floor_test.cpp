// Floors: simple classifiers compared with results computed by hand, and automata with regular
// languages.
#include "task/string_floor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/random.h"
#include "labelled.h"
#include "task/seen_features.h"
#include "task/small_automaton.h"

namespace pushdown::string_floor_test {
namespace {

using namespace testing_support;

double error_of(const StringFloor& floor, const std::string& name) {
  for (const auto& [classifier, error] : floor.errors)
    if (classifier == name) return error;
  ADD_FAILURE() << name;
  return -1;
}

// The error of a classifier that is defined here.
template <class Accepts>
double by_hand(const LabelledDataset& data, Accepts accepts) {
  double wrong = 0;
  for (std::int64_t i = 0; i < data.size(); ++i)
    wrong += accepts(data.words()[i]) != data.labels()[i] ? 1 : 0;
  return 100 * wrong / static_cast<double>(data.size());
}

// The datasets of Mali et al. (2019): 1 to 21, and 22 to 60 symbols.
LabelledDataset protocol_set(const Grammar& grammar, bool test) {
  auto options = test ? wanted(1000, 1000, 22, 60) : wanted(1987, 2021, 1, 21);
  options.distinct = "none";
  options.difficult_low = options.difficult_high = 0.5;
  options.swaps = test ? std::vector<int>{1, 2, 3} : std::vector<int>{1};
  options.edits = {"replace", "insert", "delete"};
  if (test) options.edits.emplace_back("transpose");
  return make_labelled(grammar, options);
}

// All strings of up to `longest` symbols, labelled by a predicate.
template <class Valid>
LabelledDataset all_strings(int symbols, int longest, Valid valid) {
  std::vector<Word> words{{}};
  for (std::size_t i = 0; i < words.size(); ++i)
    for (int s = 0; s < symbols && std::ssize(words[i]) < longest; ++s) {
      words.push_back(words[i]);
      words.back().push_back(s);
    }
  std::vector<bool> labels;
  for (const auto& word : words) labels.push_back(valid(word));
  std::vector<std::string> names{"a", "b", "c"};
  names.resize(symbols);
  return LabelledDataset(Alphabet(names), std::move(words), std::move(labels));
}

bool a_then_b(const Word& word) {
  return !word.empty() && word.front() == 0 && word.back() == 1 &&
         std::is_sorted(word.begin(), word.end());
}

TEST(StringFloor, BigramsOfAnBnAreAsThenBs) {
  const auto train = protocol_set(an_bn(), false), test = protocol_set(an_bn(), true);
  const auto floor = string_floor(train, test);
  EXPECT_DOUBLE_EQ(error_of(floor, "bigrams"), by_hand(test, a_then_b));
  EXPECT_DOUBLE_EQ(error_of(floor, "trigrams"), by_hand(test, a_then_b));
  EXPECT_DOUBLE_EQ(error_of(floor, "length_modulo_2"),
                   by_hand(test, [](const Word& w) { return w.size() % 2 == 0; }));
  const auto balance_modulo = [&](long m) {
    return by_hand(test, [m](const Word& w) {
      return (std::count(w.begin(), w.end(), 0) - std::count(w.begin(), w.end(), 1)) % m == 0;
    });
  };
  EXPECT_DOUBLE_EQ(error_of(floor, "counts_modulo_2"), balance_modulo(2));
  EXPECT_DOUBLE_EQ(error_of(floor, "counts_modulo_3"), balance_modulo(3));
  EXPECT_DOUBLE_EQ(error_of(floor, "counts_compared"), balance_modulo(1000));
  EXPECT_DOUBLE_EQ(error_of(floor, "constant"), 50);
  // As many a as b modulo 2 and 3, and a+ b+.
  EXPECT_LE(error_of(floor, "conjunction"), by_hand(test, a_then_b));
}

TEST(StringFloor, IsTheLeastErrorOfTheListButTheCounter) {
  for (const auto& grammar : {an_bn(), marked(), dyck2()}) {
    const auto floor = string_floor(protocol_set(grammar, false), protocol_set(grammar, true));
    double least = 100;
    std::string classifier;
    for (const auto& [name, error] : floor.errors)
      if (name != "counts_compared" && error < least) least = error, classifier = name;
    EXPECT_EQ(floor.error, least);
    EXPECT_EQ(floor.classifier, classifier);
  }
}

TEST(StringFloor, PalindromesHaveOneCAndAnOddLength) {
  const auto test = protocol_set(marked(), true);
  const auto floor = string_floor(protocol_set(marked(), false), test);
  const auto one_c =
      by_hand(test, [](const Word& w) { return std::count(w.begin(), w.end(), 2) == 1; });
  const auto odd_too = by_hand(test, [](const Word& w) {
    return w.size() % 2 == 1 && std::count(w.begin(), w.end(), 2) == 1;
  });
  EXPECT_LE(error_of(floor, "automaton"), one_c);
  EXPECT_LT(floor.error, odd_too);
}

TEST(StringFloor, RegularLanguagesHaveTheFloor0) {
  const auto even_a_odd_b = [](const Word& w) {
    return std::count(w.begin(), w.end(), 0) % 2 == 0 && std::count(w.begin(), w.end(), 1) % 2 == 1;
  };
  const auto no_aa = [](const Word& w) {
    return std::search_n(w.begin(), w.end(), 2, 0) == w.end();
  };
  const auto ends_in_ba = [](const Word& w) {
    return w.size() >= 2 && w.back() == 0 && w[w.size() - 2] == 1;
  };
  const auto not_three = [](const Word& w) { return std::count(w.begin(), w.end(), 0) % 3 != 1; };
  for (const std::function<bool(const Word&)>& valid :
       {std::function<bool(const Word&)>(even_a_odd_b), std::function<bool(const Word&)>(no_aa),
        std::function<bool(const Word&)>(ends_in_ba),
        std::function<bool(const Word&)>(not_three)}) {
    const auto floor = string_floor(all_strings(2, 9, valid), all_strings(2, 13, valid));
    EXPECT_EQ(floor.error, 0) << floor.classifier;
    EXPECT_EQ(error_of(floor, "automaton"), 0);
  }
}

TEST(StringFloor, RandomLabelsHaveTheFloor50) {
  Random random(3, "labels");
  const auto label = [&](const Word&) { return random.below(2) == 0; };
  const auto floor = string_floor(all_strings(2, 11, label), all_strings(2, 11, label));
  // For 4095 labels: five standard deviations.
  EXPECT_NEAR(floor.error, 50, 5 * 0.78);
}

TEST(StringFloor, AlphabetsMustAgree) {
  const auto all = [](const Word&) { return true; };
  EXPECT_TRUE(
      contains(problem([&] { string_floor(all_strings(2, 2, all), all_strings(3, 2, all)); }),
               "[task.floor] the training set and the test set have different symbols"));
}

TEST(SeenFeatures, CountStringsAndNotOccurrences) {
  SeenFeatures bigrams(FeatureKind::bigrams, 2);
  bigrams.add({0, 1, 0, 1});
  bigrams.add({0, 0, 1});
  EXPECT_TRUE(bigrams.accepts({0, 1}));
  EXPECT_TRUE(bigrams.accepts({0, 1}, 2));
  EXPECT_FALSE(bigrams.accepts({0, 1, 0, 1}, 2));
  EXPECT_FALSE(bigrams.accepts({0, 1, 1}));
  EXPECT_FALSE(bigrams.accepts({1}));
  SeenFeatures around(FeatureKind::counts_around_2, 3);
  around.add({0, 1, 2, 1, 0});
  EXPECT_TRUE(around.accepts({0, 1, 2, 1, 0}));
  EXPECT_FALSE(around.accepts({0, 2, 1, 1, 0}));
}

TEST(SmallAutomaton, HasOneStateWithoutEvidence) {
  Random random(5, "labels");
  const auto data = all_strings(2, 11, [&](const Word&) { return random.below(2) == 0; });
  EXPECT_EQ(learn_automaton(data.words(), data.labels(), 2).states(), 1);
  EXPECT_THROW(learn_automaton({}, {}, 2), std::invalid_argument);
  EXPECT_THROW(learn_automaton({{0}}, {true, false}, 2), std::invalid_argument);
  EXPECT_THROW(learn_automaton({{0}}, {true}, 2, 0, 0), std::invalid_argument);
}

TEST(SmallAutomaton, CountsModuloItsStates) {
  for (const int modulus : {2, 3, 4, 5}) {
    const auto valid = [&](const Word& w) {
      return (std::count(w.begin(), w.end(), 0) - std::count(w.begin(), w.end(), 1)) % modulus == 0;
    };
    const auto train = all_strings(2, 9, valid), test = all_strings(2, 14, valid);
    const auto automaton = learn_automaton(train.words(), train.labels(), 2, 0, modulus);
    EXPECT_EQ(automaton.states(), modulus);
    EXPECT_EQ(by_hand(test, [&](const Word& w) { return automaton.accepts(w); }), 0);
  }
}

}  // namespace
}  // namespace pushdown::string_floor_test
