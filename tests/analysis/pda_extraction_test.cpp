// Automata extracted from networks: an inserted automaton is recovered, and a network with random
// weights agrees with its automaton on all short strings.
#include "analysis/pda_extraction.h"

#include <gtest/gtest.h>

#include "model/rule_insertion.h"
#include "model/state_pushdown.h"
#include "pda/deterministic_run.h"
#include "pda/minimisation.h"
#include "pda/notation.h"
#include "support/decisions.h"
#include "support/encodable_pda.h"
#include "support/message.h"

namespace pushdown::pda_extraction_test {
namespace {

using namespace testing_support;

std::unique_ptr<Recognizer> make(const Alphabet& alphabet, const char* order, int states,
                                 const Json& more = Json::object()) {
  Json options{{"architecture", "nspda"}, {"order", order}, {"states", states}, {"seed", 3}};
  options.update(more);
  return std::make_unique<Recognizer>(alphabet, options);
}

TEST(PdaExtraction, TheInsertedAutomatonIsRecovered) {
  for (const auto& pda : {marked_palindrome(), equal_counts()})
    for (const auto* order : {"third", "second"}) {
      auto model = make(pda.alphabet(), order, 8);
      insert_rules(*model, pda);
      const auto found = extract_pda(*model);
      EXPECT_TRUE(isomorphic(found.pda, minimal(pda))) << to_text(found.pda);
      EXPECT_EQ(found.pda.at_bottom(), true);
      EXPECT_EQ(found.end_marks, 0);
      EXPECT_EQ(found.agreed, 400);
      EXPECT_GT(found.accepted, 40);
      const auto dead = extract_pda(*model, {.keep_dead = true}).pda;
      EXPECT_EQ(dead.states().size(), minimal(pda).states().size() + 1);
      EXPECT_EQ(std::count(dead.dead().begin(), dead.dead().end(), true), 1);
    }
}

TEST(PdaExtraction, RandomAutomataAreRecovered) {
  int same = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Pda pda = encodable_pda(3, 2, 0.7, seed % 2 == 0, seed);
    auto model = make(pda.alphabet(), seed % 2 ? "third" : "second", 40, {{"seed", seed}});
    insert_rules(*model, pda);
    const auto found = extract_pda(*model);
    EXPECT_EQ(found.agreed, found.strings);
    const DeterministicRun inserted(pda), extracted(found.pda);
    for (const auto& word : all_words(2, 9)) {
      Word read = word;
      for (int k = 0; k < found.end_marks; ++k)
        read.push_back(found.pda.alphabet().id(found.end_mark));
      EXPECT_EQ(inserted.accepts(word), extracted.accepts(read));
    }
    same += isomorphic(found.pda, minimal(pda));
  }
  EXPECT_GT(same, 5);
}

TEST(PdaExtraction, ARandomNetworkAndItsAutomatonAgree) {
  int marks[3] = {};
  std::int64_t accepted = 0, words_in_all = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const Json options{{"seed", seed},
                       {"range", 2.0},
                       {"end_symbol", seed % 3 != 0},
                       {"evaluation_passes", seed % 2 ? 3 : 1},
                       {"carry", seed % 8 < 6 ? "last" : "first"},
                       {"reading", seed % 5 == 4 ? "action" : "top"},
                       {"discrete", seed % 4 < 2 ? "never" : "evaluation"}};
    auto model = make(Alphabet({"a", "b"}), seed % 4 < 3 ? "third" : "second", 6, options);
    {
      at::NoGradGuard guard;
      Random random(seed);
      for (const auto& [name, tensor] : model->parameters())
        for (std::int64_t i = 0; i < tensor.numel(); ++i)
          tensor.view(-1)[i].fill_(random.uniform(-1.5, 1.5));
      // Some triples are hinted, so that passes are left out.
      const auto& network = dynamic_cast<const StatePushdown&>(model->network());
      Tensor hints = at::zeros_like(network.hints());
      for (std::int64_t i = 0; i < hints.numel(); ++i)
        hints.data_ptr<bool>()[i] = random.uniform() < 0.3;
      network.set_hints(hints);
    }
    const auto found = extract_pda(*model, {.strings = 100});
    ++marks[found.end_marks];
    EXPECT_EQ(found.agreed, 100) << seed << ": " << found.disagreement;
    const auto words = all_words(2, 7);
    const auto decided = decisions_of(*model, words);
    const DeterministicRun run(found.pda);
    int wrong = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
      Word read = words[i];
      for (int k = 0; k < found.end_marks; ++k)
        read.push_back(found.pda.alphabet().id(found.end_mark));
      wrong += run.accepts(read) != decided[i];
      accepted += decided[i];
      ++words_in_all;
    }
    EXPECT_EQ(wrong, 0) << seed << "\n" << to_text(found.pda);
  }
  EXPECT_GT(marks[0], 5);
  EXPECT_GT(marks[1], 5);
  EXPECT_GT(marks[2], 0);
  EXPECT_GT(accepted, words_in_all / 10);
  EXPECT_LT(accepted, words_in_all * 9 / 10);
}

TEST(PdaExtraction, Errors) {
  auto model = make(Alphabet({"a", "b"}), "third", 4);
  const auto fails = [](const char* expected, const auto& action) {
    EXPECT_CONTAINS(message<std::invalid_argument>(action), expected);
  };
  insert_rules(*model, equal_counts());
  fails("more than 2 control states", [&] { extract_pda(*model, {.limit = 2}); });
  fails("limit must be at least 1", [&] { extract_pda(*model, {.limit = 0}); });
  fails("must be at least 0", [&] { extract_pda(*model, {.strings = -1}); });
  const Recognizer plain(Alphabet({"a"}), Json::object());
  fails("'nspda'", [&] { extract_pda(plain); });
}

}  // namespace
}  // namespace pushdown::pda_extraction_test
