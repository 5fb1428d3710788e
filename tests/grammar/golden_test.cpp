// Numbers made with the code published with DuSell and Chiang 2020; see tests/golden/README.md.
#include "grammar/golden.h"

#include <gtest/gtest.h>

#include <cmath>

#include "grammar/conditioned_removal.h"
#include "grammar/inside.h"
#include "grammar/sampler.h"
#include "grammar/semiring.h"

namespace pushdown::golden_test {
namespace {

void expect_close(double got, double expected) {
  if (std::isinf(expected)) {
    EXPECT_EQ(got, expected);
  } else {
    EXPECT_NEAR(got, expected, 1e-9 * std::max(1.0, std::fabs(expected)));
  }
}

class Golden : public testing::TestWithParam<std::string> {
 protected:
  nlohmann::json file_ = golden::load(GetParam());
  Grammar paper_{golden::source(file_, "rules_paper")};
  Grammar reference_{remove_rules_conditioned(golden::source(file_, "rules_code"))};

  const Grammar& grammar(const std::string& mode) { return mode == "paper" ? paper_ : reference_; }
};

TEST_P(Golden, LengthMasses) {
  for (const std::string mode : {"paper", "reference"}) {
    const LengthTable table(grammar(mode), 100);
    const auto& expected = file_["logG_length_" + mode];
    ASSERT_EQ(expected.size(), 100u);
    for (int l = 1; l <= 100; ++l) expect_close(table.log_mass(l), golden::number(expected[l - 1]));
  }
}

TEST_P(Golden, StringProbabilities) {
  for (const std::string mode : {"paper", "reference"}) {
    const Sampler sampler(grammar(mode), 10, 60);
    const LengthTable table(grammar(mode), 100);
    for (const auto& string : file_["strings"]) {
      SCOPED_TRACE(string["string"].get<std::string>());
      const Word word = string["ids"];
      const double log_g = log_probability(grammar(mode), word);
      expect_close(log_g, golden::number(string[mode]["logG"]));
      expect_close(log_g == kMinusInfinity ? log_g : log_g - table.log_mass(word.size()),
                   golden::number(string[mode]["logG_given_length"]));
      expect_close(sampler.log_probability(word),
                   golden::number(string[mode]["log_p_sample_10_60"]));
    }
  }
}

TEST_P(Golden, LowerBoundOfTheSampledStrings) {
  std::vector<Word> words;
  for (int i = 0; i < 40; ++i) words.push_back(file_["strings"][i]["ids"]);
  for (const std::string mode : {"paper", "reference"})
    expect_close(Sampler(grammar(mode), 10, 60).lower_bound(words),
                 file_["lower_bound_on_the_40_strings_10_60"][mode]);
}

TEST_P(Golden, Entropies) {
  for (const std::string mode : {"paper", "reference"}) {
    const auto& by_length = file_["conditional_entropy_nats"][mode];
    if (!by_length.is_array()) GTEST_SKIP() << "ambiguous";
    const auto got = Sampler(grammar(mode), 1, 100).length_entropies();
    for (int l = 1; l <= 100; ++l)
      if (!by_length[l - 1].is_null()) expect_close(got[l], by_length[l - 1]);
    for (const auto& bound : file_["cross_entropy_lower_bound_exact"][mode]) {
      const Sampler sampler(grammar(mode), bound["length_range"][0], bound["length_range"][1]);
      EXPECT_EQ(sampler.lengths().size(), bound["valid_lengths"].get<std::size_t>());
      expect_close(sampler.expected_lower_bound(), bound["nats_per_symbol"]);
    }
  }
}

TEST_P(Golden, ConditionedRemovalGivesThePublishedRules) {
  const auto rules_of = [](const Grammar& grammar) {
    std::map<std::string, double> rules;
    for (const auto& rule : grammar.rules()) rules[grammar.rule_text(rule)] += rule.weight;
    return rules;
  };
  const auto got = rules_of(reference_);
  const auto expected = rules_of(Grammar(golden::source(file_, "rules_reference_after_removal")));
  ASSERT_EQ(got.size(), expected.size());
  for (const auto& [rule, weight] : expected) {
    ASSERT_TRUE(got.contains(rule)) << rule;
    EXPECT_NEAR(got.at(rule), weight, 1e-14) << rule;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(golden::pcfg_files()),
                         [](const auto& info) { return info.param; });

TEST(ConditionedRemoval, DropsTheRootsOwnUseOfTheRule) {
  GrammarSource source;
  source.rules = {{"S", {{true, "a"}, {false, "S"}, {true, "a"}}, 0.75}, {"S", {}, 0.25}};
  const Grammar reference(remove_rules_conditioned(source));
  // S -> a S a with .75 and S -> a a with .25: the probabilities are conditioned on a non-empty
  // string.
  EXPECT_NEAR(log_probability(reference, {0, 0}), std::log(0.25), 1e-15);
  EXPECT_EQ(log_probability(reference, {}), kMinusInfinity);
}

TEST(ConditionedRemoval, RefusesGrammarsWithoutFiniteDerivations) {
  GrammarSource source;
  source.rules = {
      {"S", {{false, "S"}, {false, "S"}}, 0.25}, {"S", {{true, "a"}}, 0.5}, {"S", {}, 0.25}};
  EXPECT_THROW(remove_rules_conditioned(source), std::invalid_argument);
  source.rules = {{"S", {{true, "a"}, {false, "T"}}, 1}, {"T", {}, 1}};
  EXPECT_THROW(remove_rules_conditioned(source), std::invalid_argument);
}

}  // namespace
}  // namespace pushdown::golden_test
