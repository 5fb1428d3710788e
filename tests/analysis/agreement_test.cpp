#include "analysis/agreement.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "support/message.h"

namespace pushdown::agreement_test {
namespace {

TEST(Agreement, TheMoreProbableFormDecides) {
  const LanguageModel model(Alphabet({"the", "cat", "cats", "purrs", "purr"}),
                            {{"controller", {{"kind", "lstm"}, {"hidden", 4}}},
                             {"stack", {{"kind", "none"}}},
                             {"end_symbol", true},
                             {"dtype", "float64"},
                             {"seed", 2}});
  Random random(3);
  std::vector<AgreementCase> cases;
  for (int i = 0; i < 50; ++i) {
    Word prefix(random.below(4));
    for (auto& id : prefix) id = static_cast<int>(random.below(5));
    cases.push_back({prefix, static_cast<int>(random.below(5)), static_cast<int>(random.below(5))});
  }
  const auto found = *judge_agreement(model, cases, 7, nullptr);
  int right = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto probability = [&](int form) {
      Word whole = cases[i].prefix;
      whole.push_back(form);
      const Tensor words =
          at::tensor(std::vector<std::int64_t>(whole.begin(), whole.end()), at::kLong)
              .view({1, -1});
      return model.logits(words)[0][static_cast<std::int64_t>(whole.size()) - 1]
          .log_softmax(0)[form]
          .item<double>();
    };
    EXPECT_EQ(found[i], probability(cases[i].right) > probability(cases[i].wrong)) << i;
    right += found[i];
  }
  EXPECT_GT(right, 5);
  EXPECT_LT(right, 45);
  EXPECT_FALSE(judge_agreement(model, cases, 7, [] { return true; }));
  EXPECT_EQ(testing_support::message([&] {
              judge_agreement(model, {{{0}, 1, 5}}, 1, nullptr);
            }),
            "[analysis.agreement] the forms of case 1 must be words of the vocabulary, 0 to 4, got "
            "5");
}

TEST(Agreement, ExamplesNeedTwoFormsThatTheVocabularyHas) {
  const Alphabet vocabulary({"<unk>", "the", "cats", "purr", "purrs", "is", "are"});
  NumberExample good{"the big cats", true}, unknown = good, same = good, none = good;
  good.verb = "purr", good.other = "purrs";
  unknown.verb = "run", unknown.other = "runs";
  same.verb = same.other = "purr";
  const auto found = agreement_cases({unknown, good, none, same, good}, vocabulary);
  EXPECT_EQ(found.examples, (std::vector<std::size_t>{1, 4}));
  EXPECT_EQ(found.cases[0].prefix, (Word{1, 0, 2}));
  EXPECT_EQ(found.cases[0].right, 3);
  EXPECT_EQ(found.cases[0].wrong, 4);
}

}  // namespace
}  // namespace pushdown::agreement_test
