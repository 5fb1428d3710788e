// Inside weights by the source of the CUDA kernels, in teams of processor threads, compared with
// inside.h. If there is a device, the kernels run there, too.
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

TEST(DeviceInside, RefusesInvalidSymbols) {
  const Grammar grammar = grammars().front();
  EXPECT_THROW(InsideBatch(grammar, {{0, 99}}), std::invalid_argument);
}

TEST(DeviceInside, WithoutADevice) {
  std::string reason;
  if (!cuda_devices(reason).empty()) GTEST_SKIP() << "there is a CUDA device";
  EXPECT_THROW(device_log_probabilities(grammars().front(), {{0}}), std::runtime_error);
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
}

}  // namespace
}  // namespace pushdown::device_inside_test
