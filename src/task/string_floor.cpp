#include "task/string_floor.h"

#include <cmath>
#include <map>
#include <set>

#include "base/check.h"
#include "base/options.h"
#include "task/seen_features.h"
#include "task/small_automaton.h"

namespace pushdown {
namespace {

using Answers = std::vector<bool>;

// The answers of a classifier for the training and the test strings.
struct Judged {
  std::string name;
  Answers train, test;
};

double error_of(const Answers& answers, const std::vector<bool>& labels) {
  double wrong = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) wrong += answers[i] != labels[i] ? 1 : 0;
  return 100 * wrong / static_cast<double>(labels.size());
}

template <class Accepts>
Judged judged(std::string_view name, const LabelledDataset& train, const LabelledDataset& test,
              Accepts accepts) {
  Judged result{std::string(name), {}, {}};
  for (const auto& word : train.words()) result.train.push_back(accepts(word));
  for (const auto& word : test.words()) result.test.push_back(accepts(word));
  return result;
}

Judged by_length(const LabelledDataset& train, const LabelledDataset& test) {
  std::map<std::size_t, std::pair<double, double>> counts;  // all, invalid - valid
  for (std::int64_t i = 0; i < train.size(); ++i) {
    auto& [all, more] = counts[train.words()[i].size()];
    all += 1;
    more += train.labels()[i] ? -1 : 1;
  }
  return judged("length", train, test, [&](const Word& word) {
    const auto found = counts.find(word.size());
    return found == counts.end() || found->second.second <= 3 * std::sqrt(found->second.first);
  });
}

// A valid training string is judged by the other training strings only.
Judged by_features(FeatureKind kind, const LabelledDataset& train, const LabelledDataset& test) {
  std::set<Word> valid;
  for (std::int64_t i = 0; i < train.size(); ++i)
    if (train.labels()[i]) valid.insert(train.words()[i]);
  SeenFeatures seen(kind, train.alphabet().size());
  for (const auto& word : valid) seen.add(word);
  Judged result{std::string(name_of(kind)), {}, {}};
  for (const auto& word : train.words())
    result.train.push_back(seen.accepts(word, valid.contains(word) ? 2 : 1));
  for (const auto& word : test.words()) result.test.push_back(seen.accepts(word));
  return result;
}

Answers both(const Answers& a, const Answers& b) {
  Answers result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = a[i] && b[i];
  return result;
}

Judged conjunction(const std::vector<Judged>& parts, const std::vector<bool>& labels) {
  Judged whole{"conjunction", Answers(parts[0].train.size(), true),
               Answers(parts[0].test.size(), true)};
  double error = error_of(whole.train, labels);
  for (;;) {
    const Judged* best = nullptr;
    for (const auto& part : parts)
      if (const double e = error_of(both(whole.train, part.train), labels); e < error) {
        error = e;
        best = &part;
      }
    if (best == nullptr) return whole;
    whole.train = both(whole.train, best->train);
    whole.test = both(whole.test, best->test);
  }
}

}  // namespace

StringFloor string_floor(const LabelledDataset& train, const LabelledDataset& test) {
  check_same_alphabet("task.floor", "the training set and the test set", train.alphabet(),
                      test.alphabet());
  const bool frequent = train.positives() >= train.negatives();
  std::vector<Judged> parts{judged("constant", train, test, [&](const Word&) { return frequent; }),
                            by_length(train, test)};
  for (const auto kind : feature_kinds())
    if (kind != FeatureKind::counts_compared) parts.push_back(by_features(kind, train, test));
  const auto automaton = learn_automaton(train.words(), train.labels(), train.alphabet().size());
  parts.push_back(
      judged("automaton", train, test, [&](const Word& word) { return automaton.accepts(word); }));
  parts.push_back(conjunction(parts, train.labels()));

  StringFloor floor;
  for (const auto& part : parts) {
    const double error = error_of(part.test, test.labels());
    floor.errors.emplace_back(part.name, error);
    if (error >= floor.error && !floor.classifier.empty()) continue;
    floor.error = error;
    floor.classifier = part.name;
  }
  const auto compared = by_features(FeatureKind::counts_compared, train, test);
  floor.errors.emplace_back(compared.name, error_of(compared.test, test.labels()));
  return floor;
}

}  // namespace pushdown
