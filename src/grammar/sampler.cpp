#include "grammar/sampler.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "base/memory.h"
#include "base/stopping.h"
#include "grammar/inside.h"
#include "grammar/prefix_probability.h"
#include "grammar/semiring.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "grammar.sampler";

// Message for an interval without strings: names the nearest lengths that have some.
std::string nearest_lengths(const Grammar& grammar, int shortest, int longest) {
  const LengthTable table(grammar, longest + std::max(100, longest));
  std::vector<std::string> near;
  for (int l = shortest - 1; l >= 0; --l)
    if (table.has_strings(l)) {
      near.push_back(std::to_string(l));
      break;
    }
  for (int l = longest + 1; l <= table.max_length(); ++l)
    if (table.has_strings(l)) {
      near.push_back(std::to_string(l));
      break;
    }
  if (near.empty())
    return fmt::format("; there are none up to length {} either", table.max_length());
  return fmt::format("; the nearest length{} with strings {} {}", near.size() > 1 ? "s" : "",
                     near.size() > 1 ? "are" : "is", fmt::join(near, " and "));
}

}  // namespace

Sampler::Sampler(Grammar grammar, int shortest, int longest)
    : shortest_(shortest), longest_(longest) {
  check(shortest >= 0 && shortest <= longest, kWhere,
        "lengths must be {{lowest, highest}} with 0 <= lowest <= highest, got {{{}, {}}}", shortest,
        longest);
  table_ = std::make_shared<const LengthTable>(std::move(grammar), longest);
  for (int l = shortest; l <= longest; ++l)
    if (table_->has_strings(l)) lengths_.push_back(l);
  check(!lengths_.empty(), kWhere, "there are no strings of {}{}", length_text(shortest, longest),
        lengths_.empty() ? nearest_lengths(this->grammar(), shortest, longest) : "");
}

int Sampler::sample_length(Random& random) const { return lengths_[random.below(lengths_.size())]; }

void Sampler::check_length(int length) const {
  check(std::binary_search(lengths_.begin(), lengths_.end(), length), kWhere,
        "there are no strings of length {} in the interval {} to {}", length, shortest_, longest_);
}

Word Sampler::sample_of_length(int length, Random& random) const {
  check_length(length);
  return table_->sample(length, random);
}

std::vector<int> Sampler::derivation_of_length(int length, Random& random) const {
  check_length(length);
  return table_->sample_derivation(length, random);
}

std::vector<Word> Sampler::sample_batches(std::int64_t count, std::int64_t batch,
                                          std::uint64_t seed) const {
  check(count >= 1, kWhere, "count must be at least 1, got {}", count);
  check(batch >= 1, kWhere, "batch must be at least 1, got {}", batch);
  Random random(seed, "strings");
  std::vector<Word> words;
  check_memory(kWhere, fmt::format("a list of {} strings", count),
               static_cast<double>(count) *
                   static_cast<double>(sizeof(Word) + sizeof(int) * lengths_.front()));
  words.reserve(count);
  const StopCheck stop;
  for (int length = 0; static_cast<std::int64_t>(words.size()) < count;) {
    stop();
    if (words.size() % batch == 0) length = sample_length(random);
    words.push_back(table_->sample(length, random));
  }
  return words;
}

double Sampler::log_probability(const Word& word, bool end_symbol) const {
  check_word(kWhere, grammar().alphabet(), word);
  const int length = static_cast<int>(word.size());
  if (!std::binary_search(lengths_.begin(), lengths_.end(), length)) return kMinusInfinity;
  const double of_string = pushdown::log_probability(grammar(), word);
  if (end_symbol || of_string == kMinusInfinity)
    return of_string - table_->log_mass(length) - std::log(static_cast<double>(lengths_.size()));
  const auto of_symbols = next_symbol_log_probabilities(*table_, lengths_, word);
  return std::accumulate(of_symbols.begin(), of_symbols.end(), 0.0);
}

double Sampler::lower_bound(const std::vector<Word>& words, bool end_symbol) const {
  double sum = 0, symbols = 0;
  for (const auto& word : words) {
    const double log_p = log_probability(word, end_symbol);
    check(log_p > kMinusInfinity, kWhere, "the sampler cannot draw '{}' (length {})",
          grammar().alphabet().text(word), word.size());
    sum -= log_p;
    symbols += static_cast<double>(word.size());
  }
  check(symbols > 0, kWhere, "a lower bound per symbol needs at least one symbol");
  return sum / symbols;
}

std::vector<double> Sampler::length_entropies() const {
  check(grammar().unambiguous(), kWhere,
        "the exact entropy needs a grammar that is declared unambiguous; for this one, estimate it "
        "from strings");
  return table_->derivation_entropies();
}

double Sampler::entropy() const {
  const auto by_length = length_entropies();
  double sum = 0;
  for (const int l : lengths_) sum += by_length[l];
  const auto count = static_cast<double>(lengths_.size());
  return std::log(count) + sum / count;
}

double Sampler::mean_length() const {
  return std::accumulate(lengths_.begin(), lengths_.end(), 0.0) /
         static_cast<double>(lengths_.size());
}

double Sampler::expected_lower_bound() const {
  check(longest_ > 0, kWhere, "a lower bound per symbol needs nonempty strings");
  return entropy() / mean_length();
}

Sampler::Estimate Sampler::estimate_entropy(std::int64_t strings, std::uint64_t seed) const {
  check(strings >= 2, kWhere, "an estimate needs at least 2 strings, got {}", strings);
  Random random(seed, "entropy");
  double mean = 0, squares = 0;
  for (std::int64_t i = 1; i <= strings; ++i) {
    const double value = -log_probability(sample(random));
    const double change = value - mean;
    mean += change / static_cast<double>(i);
    squares += change * (value - mean);
  }
  const auto n = static_cast<double>(strings);
  return {mean, std::sqrt(squares / (n - 1) / n)};
}

FreeSampler::FreeSampler(Grammar grammar)
    : grammar_(std::move(grammar)), choices_(grammar_.nonterminals().size()) {
  const auto& ends = grammar_.termination_probabilities();
  for (std::size_t r = 0; r < grammar_.rules().size(); ++r) {
    const auto& rule = grammar_.rules()[r];
    double share = rule.weight;
    for (const auto symbol : rule.right)
      if (!symbol.terminal) share *= ends[symbol.id];
    if (share <= 0) continue;
    auto& choices = choices_[rule.left];
    choices.emplace_back(static_cast<int>(r),
                         share + (choices.empty() ? 0 : choices.back().second));
  }
}

std::optional<std::vector<int>> FreeSampler::derivation(Random& random,
                                                        std::int64_t max_length) const {
  std::vector<int> rules;
  std::int64_t symbols = 0;
  std::vector<int> open{grammar_.start()};
  const StopCheck stop;
  while (!open.empty()) {
    stop();
    const auto& choices = choices_[open.back()];
    open.pop_back();
    const double spot = random.uniform() * choices.back().second;
    auto found =
        std::upper_bound(choices.begin(), choices.end(), spot,
                         [](double value, const auto& choice) { return value < choice.second; });
    if (found == choices.end()) --found;
    rules.push_back(found->first);
    const auto& right = grammar_.rules()[found->first].right;
    for (auto symbol = right.rbegin(); symbol != right.rend(); ++symbol) {
      if (symbol->terminal)
        ++symbols;
      else
        open.push_back(symbol->id);
    }
    if (symbols > max_length || static_cast<std::int64_t>(rules.size()) > 10 * max_length)
      return std::nullopt;
  }
  return rules;
}

Word FreeSampler::sample(Random& random, std::int64_t max_length) const {
  const auto rules = derivation(random, max_length);
  check(rules.has_value(), "grammar.sample",
        "a derivation exceeded {} symbols; give a length, or use a sampler with lengths",
        max_length);
  return yield_of(grammar_, *rules);
}

Word yield_of(const Grammar& grammar, const std::vector<int>& derivation) {
  Word word;
  auto next = derivation.begin();
  std::vector<Symbol> stack{{false, grammar.start()}};
  const StopCheck stop;
  while (!stack.empty()) {
    stop();
    const auto symbol = stack.back();
    stack.pop_back();
    if (symbol.terminal) {
      word.push_back(symbol.id);
      continue;
    }
    check(next != derivation.end() && *next >= 0 &&
              *next < static_cast<int>(grammar.rules().size()) &&
              grammar.rules()[*next].left == symbol.id,
          "grammar.derivation", "these rules do not form a leftmost derivation");
    const auto& right = grammar.rules()[*next++].right;
    stack.insert(stack.end(), right.rbegin(), right.rend());
  }
  check(next == derivation.end(), "grammar.derivation",
        "these rules do not form a leftmost derivation");
  return word;
}

}  // namespace pushdown
