// Inside weights and length tables by the source of the CUDA kernels, in teams of processor
// threads, compared with inside.h and length_table.h. If there is a device, the kernels run there,
// too.
// label: long
#include "grammar/device_inside.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "grammar/inside.h"
#include "grammar/length_table.h"
#include "grammar/normal_form.h"
#include "grammar/oracle.h"
#include "grammar/text.h"
#include "kernel/device.h"
#include "kernel/grammar/device_grammar_loop.h"
#include "support/thread_team.h"

namespace pushdown::device_inside_test {
namespace {

using testing_support::run_team;
using testing_support::ThreadTeam;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<double> inside_by_teams(const Grammar& grammar, const std::vector<Word>& words,
                                    int size, int lanes) {
  InsideBatch batch(grammar, words);
  std::vector<double> memory(batch.numbers(), kNaN), results(words.size(), kNaN);
  const auto image = batch.image_for(nullptr).bytes();
  std::vector<std::byte> bytes(image.size());
  bytes = batch.image_for(bytes.data()).bytes();
  const auto work = batch.work(bytes.data(), memory.data(), results.data());
  for (std::int64_t b = 0; b < work.strings; ++b)
    run_team(size, lanes, [&](const ThreadTeam& team) {
      const double value = device::InsideLoop(work, b).log_weight(team);
      if (team.id() == 0) work.log_weights[b] = value;
    });
  return results;
}

std::vector<double> lengths_by_teams(const std::vector<Grammar>& grammars, int max_length, int size,
                                     int lanes) {
  LengthBatch batch(grammars, max_length);
  std::vector<double> memory(batch.numbers(), kNaN),
      results(static_cast<std::size_t>(batch.results()), kNaN);
  std::vector<std::byte> bytes(batch.image_for(nullptr).bytes().size());
  bytes = batch.image_for(bytes.data()).bytes();
  const auto work = batch.work(bytes.data(), memory.data(), results.data());
  for (std::int64_t k = 0; k < work.count; ++k)
    run_team(size, lanes, [&](const ThreadTeam& team) { device::LengthLoop(work, k).run(team); });
  return results;
}

void expect_log(double expected, double got, const std::string& what) {
  if (std::isinf(expected))
    EXPECT_EQ(expected, got) << what;
  else
    EXPECT_NEAR(expected, got, 1e-12 * std::max(1.0, std::abs(expected))) << what;
}

Grammar grammar_of(const std::string& text) { return Grammar(parse_grammar(text)); }
std::vector<Grammar> grammars() {
  std::vector<Grammar> all;
  for (const auto& [name, text] : oracle::grammar_texts()) all.push_back(grammar_of(text));
  return all;
}
// The mean of the masses from the start symbol and from another nonterminal, which is the mass of a
// grammar whose start symbol chooses between them.
double mean_mass(const Grammar& grammar, int nonterminal, int length) {
  auto source = grammar.source();
  const auto& names = grammar.nonterminals();
  source.start = "Either";
  for (const int choice : {grammar.start(), nonterminal})
    source.rules.push_back({"Either", {{false, names[choice]}}, 0.5});
  return std::exp(LengthTable(Grammar(source), length).log_mass(length));
}

TEST(DeviceInside, AllWordsOfEveryGrammar) {
  for (const Grammar& grammar : grammars()) {
    auto words = oracle::all_words(grammar.alphabet().size(), 4);
    words.push_back({});
    const auto got = inside_by_teams(grammar, words, 1, 1);
    for (std::size_t k = 0; k < words.size(); ++k)
      expect_log(log_probability(grammar, words[k]), got[k], grammar.alphabet().text(words[k]));
  }
}

TEST(DeviceInside, Teams) {
  for (const Grammar& grammar : grammars()) {
    std::vector<Word> words{{}, {0}};
    const LengthTable table(grammar, 20);
    Random random(5);
    for (int length = 1; length <= 20; ++length)
      if (table.has_strings(length)) words.push_back(table.sample(length, random));
    for (const auto& [size, lanes] : {std::pair{4, 2}, {3, 1}, {64, 32}}) {
      const auto got = inside_by_teams(grammar, words, size, lanes);
      for (std::size_t k = 0; k < words.size(); ++k)
        expect_log(log_probability(grammar, words[k]), got[k], grammar.alphabet().text(words[k]));
    }
  }
}

// Weights that leave the range of real numbers are computed in logarithms.
TEST(DeviceInside, ImprobableStrings) {
  const auto grammar = grammar_of("S -> T S [1e-8] | T [0.99999999]\nT -> 'a' [.75] | 'b' [.25]");
  for (const int length : {1, 2, 3, 60, 101}) {
    Word word;
    for (int i = 0; i < length; ++i) word.push_back(i % 3 == 0);
    for (const int size : {1, 4})
      expect_log(log_probability(grammar, word),
                 inside_by_teams(grammar, {word}, size, size / 2 + size % 2)[0],
                 std::to_string(length));
  }
  const auto extreme = grammar_of("S -> 'a' S [1e-200] | 'b' [1]\n");
  expect_log(log_probability(extreme, {0, 0, 1}), inside_by_teams(extreme, {{0, 0, 1}}, 1, 1)[0],
             "a weight that is no ordinary number");
}

TEST(DeviceInside, LongStrings) {
  const auto grammar =
      grammar_of("S -> '(' S ')' S [.3] | '[' S ']' S [.2] | 'x' [.25] | 'x' S [.25]");
  const LengthTable table(grammar, 150);
  Random random(11);
  const Word word = table.sample(150, random);
  expect_log(log_probability(grammar, word), inside_by_teams(grammar, {word}, 2, 1)[0], "150");
}

TEST(DeviceLengths, EveryNonterminal) {
  const auto all = grammars();
  constexpr int kLongest = 9;
  for (const auto& [size, lanes] : {std::pair{1, 1}, {4, 2}, {64, 32}}) {
    const auto got = lengths_by_teams(all, kLongest, size, lanes);
    std::size_t next = 0;
    for (const Grammar& grammar : all) {
      const auto& form = grammar.normal_form();
      for (int a = 0; a < form.size; ++a)
        for (int l = 0; l <= kLongest; ++l, ++next) {
          if (l == 0 && a != grammar.start()) {
            EXPECT_TRUE(std::isinf(got[next]));
          } else if (a == grammar.start()) {
            expect_log(LengthTable(grammar, l).log_mass(l), got[next], "start symbol");
          } else if (a < static_cast<int>(grammar.nonterminals().size()) && size == 1) {
            const double start = std::exp(LengthTable(grammar, l).log_mass(l));
            EXPECT_NEAR(mean_mass(grammar, a, l), (start + std::exp(got[next])) / 2, 1e-14)
                << grammar.nonterminals()[a];
          }
        }
    }
    EXPECT_EQ(next, got.size());
  }
}

TEST(DeviceLengths, AThousand) {
  const auto grammar =
      grammar_of("S -> '(' S ')' S [.3] | '[' S ']' S [.2] | 'x' [.25] | 'x' S [.25]");
  const auto small = grammar_of("S -> T S [1e-8] | T [0.99999999]\nT -> 'a'");
  const auto got = lengths_by_teams({grammar, small}, 1000, 2, 2);
  const LengthTable table(grammar, 1000), other(small, 1000);
  const auto& form = grammar.normal_form();
  for (int l = 0; l <= 1000; ++l) {
    expect_log(table.log_mass(l), got[form.start * 1001 + l], std::to_string(l));
    expect_log(other.log_mass(l), got[(form.size + small.normal_form().start) * 1001 + l], "small");
  }
}

TEST(DeviceLengths, RefuseNegativeLengths) {
  EXPECT_THROW(LengthBatch(grammars(), -1), std::invalid_argument);
}

TEST(DeviceInside, RefusesInvalidSymbols) {
  const Grammar grammar = grammars().front();
  EXPECT_THROW(InsideBatch(grammar, {{0, 99}}), std::invalid_argument);
}

TEST(DeviceInside, WithoutADevice) {
  std::string reason;
  if (!cuda_devices(reason).empty()) GTEST_SKIP() << "there is a CUDA device";
  EXPECT_THROW(device_log_probabilities(grammars().front(), {{0}}), std::runtime_error);
  EXPECT_THROW(device_length_masses(grammars(), 3), std::runtime_error);
}

TEST(DeviceInside, OnTheDevice) {
  std::string reason;
  if (cuda_devices(reason).empty()) GTEST_SKIP() << "no CUDA device: " << reason;
  for (const Grammar& grammar : grammars()) {
    auto words = oracle::all_words(grammar.alphabet().size(), 5);
    words.push_back({});
    const auto got = device_log_probabilities(grammar, words);
    EXPECT_EQ(got, device_log_probabilities(grammar, words));
    for (std::size_t k = 0; k < words.size(); ++k)
      expect_log(log_probability(grammar, words[k]), got[k], grammar.alphabet().text(words[k]));
  }
  const auto masses = device_length_masses(grammars(), 200);
  for (std::size_t k = 0; k < masses.size(); ++k) {
    const Grammar grammar = grammars()[k];
    const LengthTable table(grammar, 200);
    for (int l = 0; l <= 200; ++l)
      expect_log(table.log_mass(l), masses[k][grammar.start() * 201 + l], std::to_string(l));
  }
}

}  // namespace
}  // namespace pushdown::device_inside_test
