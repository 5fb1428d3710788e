#include "analysis/agreement.h"

#include <numeric>

#include "base/check.h"
#include "task/dataset.h"
#include "task/number_words.h"

namespace pushdown {

AgreementCases agreement_cases(const NumberExamples& examples, const Alphabet& vocabulary) {
  AgreementCases found;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const auto form = [&](const std::string& word) {
      return word.empty() ? std::nullopt : vocabulary.find(word);
    };
    const auto right = form(examples[i].verb), wrong = form(examples[i].other);
    if (!right || !wrong || *right == *wrong) continue;
    found.cases.push_back({prefix_ids(examples[i], vocabulary), *right, *wrong});
    found.examples.push_back(i);
  }
  return found;
}

std::optional<std::vector<bool>> judge_agreement(const LanguageModel& model,
                                                 const std::vector<AgreementCase>& cases,
                                                 std::int64_t batch,
                                                 const std::function<bool()>& should_stop) {
  constexpr auto kWhere = "analysis.agreement";
  const auto words = model.alphabet().size();
  for (std::size_t i = 0; i < cases.size(); ++i)
    for (const int form : {cases[i].right, cases[i].wrong})
      check(form >= 0 && form < words, kWhere,
            "the forms of case {} must be words of the vocabulary, 0 to {}, got {}", i + 1,
            words - 1, form);
  at::NoGradGuard no_grad;
  std::vector<std::int64_t> all(cases.size());
  std::iota(all.begin(), all.end(), std::int64_t{0});
  const auto length = [&](std::int64_t i) { return std::ssize(cases[i].prefix); };
  std::vector<bool> right(cases.size());
  for (const auto& numbers : equal_length_batches(all, batch, length)) {
    if (should_stop && should_stop()) return std::nullopt;
    const auto count = std::ssize(numbers);
    Tensor prefixes = at::empty({count, length(numbers.front())}, at::kLong);
    Tensor forms = at::empty({count, 2}, at::kLong);
    auto* prefix = prefixes.data_ptr<std::int64_t>();
    auto* form = forms.data_ptr<std::int64_t>();
    for (const auto i : numbers) {
      prefix = std::copy(cases[i].prefix.begin(), cases[i].prefix.end(), prefix);
      *form++ = cases[i].right;
      *form++ = cases[i].wrong;
    }
    const Tensor logits = model.outcome_logits(prefixes, forms).to(at::kCPU, at::kDouble);
    const auto* value = logits.contiguous().data_ptr<double>();
    for (std::int64_t k = 0; k < count; ++k) right[numbers[k]] = value[2 * k] > value[2 * k + 1];
  }
  return right;
}

AgreementResult agreement_result(const NumberExamples& examples, const AgreementCases& cases,
                                 const std::vector<bool>& right) {
  AgreementResult result;
  const auto add = [](AgreementShare& share, bool correct) {
    ++share.judged;
    share.right += correct;
  };
  for (std::size_t i = 0; i < right.size(); ++i) {
    const auto number = cases.examples[i];
    const int attractors = examples[number].attractors;
    add(result.all, right[i]);
    if (attractors >= 0) add(result.by_attractors[attractors], right[i]);
    if (!right[i]) result.wrong.push_back(number);
  }
  return result;
}

}  // namespace pushdown
