// Number agreement as judged by a language model (Linzen, Dupoux and Goldberg 2016): after a prefix
// of a sentence, the verb can be singular or plural, and the model is correct if it gives the form
// of the right number the greater probability.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "model/language_model.h"
#include "task/number_prediction.h"

namespace pushdown {

struct AgreementCase {
  Word prefix;           // ids of words
  int right, wrong = 0;  // the two forms of the verb
};

// The examples whose two forms are known and are two different words of the vocabulary, with their
// indices.
struct AgreementCases {
  std::vector<AgreementCase> cases;
  std::vector<std::size_t> examples;  // their indices, from 0
};
AgreementCases agreement_cases(const NumberExamples& examples, const Alphabet& vocabulary);

// Returns for each case whether the model is correct; equal probabilities count as incorrect.
// Returns nothing if should_stop returned true. Throws std::invalid_argument for a form that is not
// in the vocabulary.
std::optional<std::vector<bool>> judge_agreement(const LanguageModel& model,
                                                 const std::vector<AgreementCase>& cases,
                                                 std::int64_t batch,
                                                 const std::function<bool()>& should_stop);

// How many cases a model judged right.
struct AgreementShare {
  std::int64_t judged = 0, right = 0;
  double percent() const {
    return 100.0 * static_cast<double>(right) / static_cast<double>(judged);
  }
};
struct AgreementResult {
  AgreementShare all;
  std::map<int, AgreementShare> by_attractors;  // without examples whose number is not known
  std::vector<std::size_t> wrong;               // examples, from 0
};
// `right`: what judge_agreement() says of these cases of the examples.
AgreementResult agreement_result(const NumberExamples& examples, const AgreementCases& cases,
                                 const std::vector<bool>& right);

}  // namespace pushdown
