// Number agreement judged by a language model (Linzen, Dupoux and Goldberg 2016): behind a prefix
// of a sentence the verb can stand in the singular or in the plural, and the model is right when it
// gives the form of the right number the greater probability.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "model/language_model.h"
#include "task/number_prediction.h"

namespace pushdown {

struct AgreementCase {
  Word prefix;           // ids of words
  int right, wrong = 0;  // the two forms of the verb
};

// Those of the examples whose two forms are known and are two words of the vocabulary, and which
// examples these are.
struct AgreementCases {
  std::vector<AgreementCase> cases;
  std::vector<std::size_t> examples;  // their numbers, from 0
};
AgreementCases agreement_cases(const NumberExamples& examples, const Alphabet& vocabulary);

// Whether the model is right, for each case; equal probabilities are wrong. Nothing when
// should_stop said so. std::invalid_argument for a form that is not of the vocabulary.
std::optional<std::vector<bool>> judge_agreement(const LanguageModel& model,
                                                 const std::vector<AgreementCase>& cases,
                                                 std::int64_t batch,
                                                 const std::function<bool()>& should_stop);

}  // namespace pushdown
