#include "grammar/inside_outside.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "base/parallel.h"
#include "base/stopping.h"
#include "grammar/inside.h"
#include "grammar/semiring.h"

namespace pushdown {
namespace {

constexpr std::string_view kFit = "grammar.fit";

void check_likely(const Grammar& grammar, const SentenceCounts::Entry& entry,
                  double log_probability) {
  check(log_probability > kMinusInfinity, kFit, "sentence {}, '{}', is not in the language",
        entry.first + 1, grammar.alphabet().text(entry.word));
}

}  // namespace

SentenceCounts::SentenceCounts(const Alphabet& alphabet, const std::vector<Word>& sentences) {
  check(!sentences.empty(), kFit, "expected at least one sentence, got none");
  std::map<Word, std::size_t> places;
  for (std::size_t k = 0; k < sentences.size(); ++k) {
    check_word(kFit, alphabet, sentences[k]);
    const auto [place, is_new] = places.try_emplace(sentences[k], entries_.size());
    if (is_new) entries_.push_back({sentences[k], 0, k});
    ++entries_[place->second].count;
  }
}

double log_likelihood(const Grammar& grammar, const SentenceCounts& sentences) {
  std::vector<Word> words;
  for (const auto& entry : sentences.entries()) words.push_back(entry.word);
  const auto logs = log_probabilities(grammar, words);
  double sum = 0;
  for (std::size_t k = 0; k < logs.size(); ++k) {
    check_likely(grammar, sentences.entries()[k], logs[k]);
    sum += sentences.entries()[k].count * logs[k];
  }
  return sum;
}

std::pair<Grammar, double> reestimated(const Grammar& grammar, const SentenceCounts& sentences) {
  const auto& entries = sentences.entries();
  const auto& rules = grammar.rules();
  std::vector<double> counts(rules.size());
  double likelihood = 0;
  // Blocks bound the memory, and sums in the order of the sentences make the result reproducible.
  constexpr std::size_t kBlock = 256;
  for (std::size_t first = 0; first < entries.size(); first += kBlock) {
    const auto size = std::min(kBlock, entries.size() - first);
    std::vector<std::vector<double>> block(size);
    std::vector<double> logs(size);
    parallel_for(static_cast<std::int64_t>(size), [&](std::int64_t k) {
      const auto place = static_cast<std::size_t>(k);
      block[place] = expected_rule_counts(grammar, entries[first + place].word, logs[place]);
    });
    for (std::size_t k = 0; k < size; ++k) {
      const auto& entry = entries[first + k];
      check_likely(grammar, entry, logs[k]);
      likelihood += entry.count * logs[k];
      for (std::size_t r = 0; r < rules.size(); ++r)
        counts[r] += entry.count * std::max(block[k][r], 0.0);
    }
  }
  std::vector<double> totals(grammar.nonterminals().size());
  for (std::size_t r = 0; r < rules.size(); ++r) totals[rules[r].left] += counts[r];
  auto source = grammar.source();
  for (std::size_t r = 0; r < rules.size(); ++r)
    if (totals[rules[r].left] > 0) source.rules[r].weight = counts[r] / totals[rules[r].left];
  return {Grammar(source), likelihood};
}

}  // namespace pushdown
