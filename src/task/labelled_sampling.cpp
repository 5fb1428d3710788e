#include "task/labelled_sampling.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/check.h"
#include "base/options.h"
#include "base/stopping.h"
#include "grammar/length_table.h"
#include "grammar/membership.h"
#include "task/matched_negatives.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "task.labelled";
// After this many failures in a row, the strings of a length are listed instead of drawn.
constexpr int kPositiveTries = 100;
constexpr int kNegativeTries = 1000;
// After this many failures in a row, there are no more difficult negatives.
constexpr int kDifficultTries = 10000;
// Lengths with more strings over the alphabet than this are not listed.
constexpr double kListed = 1 << 20;

// Lengths with weights; a length is removed when its strings run out.
class Lengths {
 public:
  void add(int length, double weight) { weights_[length] += weight; }
  void remove(int length) { weights_.erase(length); }
  bool empty() const { return weights_.empty(); }
  int draw(Random& random) const {
    double whole = 0;
    for (const auto& [length, weight] : weights_) whole += weight;
    double spot = random.uniform() * whole;
    for (const auto& [length, weight] : weights_)
      if ((spot -= weight) < 0) return length;
    return weights_.rbegin()->first;
  }

 private:
  std::map<int, double> weights_;
};

class Maker {
 public:
  Maker(const Grammar& grammar, const LabelledOptions& options,
        const std::vector<LabelledDatasetPtr>& exclude)
      : grammar_(grammar),
        options_(options),
        table_(grammar, options.longest),
        oracle_(grammar),
        symbols_(grammar.alphabet().size()) {
    for (const auto& dataset : exclude) {
      check_same_alphabet(kWhere, "an excluded dataset and the grammar", dataset->alphabet(),
                          grammar.alphabet());
      used_.insert(dataset->words().begin(), dataset->words().end());
      if (options.negative_kind == "matched")
        automata_.push_back(learn_automaton(dataset->words(), dataset->labels(), symbols_));
    }
    excluded_ = used_.size();
  }

  LabelledDataset run() {
    Random random(options_.seed, "positives");
    if (options_.positives > 0) add_positives(random);
    random = Random(options_.seed, "negatives");
    if (options_.negative_kind == "matched") {
      add_matched(random);
      return shuffled();
    }
    const double share = options_.difficult_low +
                         random.uniform() * (options_.difficult_high - options_.difficult_low);
    const auto difficult = std::llround(share * static_cast<double>(options_.negatives));
    for (std::int64_t i = 0; i < difficult; ++i) add_difficult(i, difficult, random);
    if (difficult < options_.negatives) add_negatives(options_.negatives - difficult, random);
    return shuffled();
  }

 private:
  // The unused strings of one length, in random order.
  struct Pool {
    std::vector<Word> words;
    bool complete = false;  // the list has all of them
  };
  using Pools = std::map<int, Pool>;

  void add_positives(Random& random) {
    Lengths lengths;
    double largest = -INFINITY;
    for (int l = options_.shortest; l <= options_.longest; ++l)
      largest = std::max(largest, table_.log_mass(l));
    check(largest > -INFINITY, kWhere, "the language has no strings of {}",
          length_text(options_.shortest, options_.longest));
    for (int l = options_.shortest; l <= options_.longest; ++l)
      if (table_.has_strings(l))
        lengths.add(l, options_.positive_lengths == "uniform"
                           ? 1.0
                           : std::max(std::exp(table_.log_mass(l) - largest), 1e-300));
    const bool distinct = options_.distinct == "all";
    Pools pools;
    const StopCheck stop;
    while (static_cast<std::int64_t>(positives_.size()) < options_.positives) {
      stop();
      check(!lengths.empty(), kWhere,
            "requested {} positives of {}, but the language has only {}{}{}", options_.positives,
            length_text(options_.shortest, options_.longest), positives_.size(), others(),
            distinct ? "; ask for fewer, for other lengths, or for distinct = 'negatives'" : "");
      const int length = lengths.draw(random);
      auto word = next_positive(length, distinct, pools, random);
      if (!word) {
        lengths.remove(length);
        continue;
      }
      if (distinct) used_.insert(*word);
      positives_.push_back(*std::move(word));
    }
  }

  std::optional<Word> next_positive(int length, bool distinct, Pools& pools, Random& random) {
    const auto found = pools.find(length);
    if (found == pools.end())
      for (int i = 0; i < kPositiveTries; ++i)
        if (auto word = table_.sample(length, random); !used_.contains(word)) return word;
    auto& pool = pools[length];
    if (pool.words.empty() && !pool.complete) {
      const auto most = 2 * used_of(length) + 100;
      auto words = strings_of_length(grammar_, length, most);
      pool.complete = static_cast<std::int64_t>(words.size()) < most;
      fill(pool, std::move(words), random);
    }
    return take(pool, distinct, random);
  }

  void add_negatives(std::int64_t count, Random& random) {
    Lengths lengths;
    if (options_.negative_lengths == "positives" && !positives_.empty())
      for (const auto& word : positives_) lengths.add(static_cast<int>(word.size()), 1);
    else
      for (int l = options_.shortest; l <= options_.longest; ++l) lengths.add(l, 1);
    const bool distinct = options_.distinct != "none";
    Pools pools;
    const StopCheck stop;
    for (std::int64_t made = 0; made < count;) {
      stop();
      check(!lengths.empty(), kWhere,
            "requested {} random negatives with the lengths of {}, but there are only {}{}{}; ask "
            "for fewer{}",
            count,
            options_.negative_lengths == "positives" && !positives_.empty() ? "the positives"
                                                                            : "the interval",
            made, unlisted_ ? fmt::format(" in {} tries for one", kNegativeTries) : "", others(),
            distinct ? ", for other lengths, or for distinct = 'none'" : " or for other lengths");
      const int length = lengths.draw(random);
      auto word = next_negative(length, distinct, pools, random);
      if (!word) {
        lengths.remove(length);
        continue;
      }
      if (distinct) used_.insert(*word);
      negatives_.push_back(*std::move(word));
      ++made;
    }
  }

  std::optional<Word> next_negative(int length, bool distinct, Pools& pools, Random& random) {
    const auto found = pools.find(length);
    if (found == pools.end()) {
      const StopCheck stop;
      for (int i = 0; i < kNegativeTries; ++i) {
        stop();
        Word word(length);
        for (auto& symbol : word) symbol = static_cast<int>(random.below(symbols_));
        if (!used_.contains(word) && !oracle_.contains(word)) return word;
      }
      if (std::pow(static_cast<double>(symbols_), length) > kListed) {
        unlisted_ = true;
        return std::nullopt;
      }
    }
    auto& pool = pools[length];
    if (!pool.complete) {
      pool.complete = true;
      std::vector<Word> words;
      oracle_.clear();
      list_negatives(length, words);
      fill(pool, std::move(words), random);
    }
    return take(pool, distinct, random);
  }

  void list_negatives(int length, std::vector<Word>& words) {
    StopCheck()();
    if (static_cast<int>(oracle_.word().size()) == length) {
      if (!oracle_.accepts()) words.push_back(oracle_.word());
      return;
    }
    for (int s = 0; s < symbols_; ++s) {
      oracle_.push(s);
      list_negatives(length, words);
      oracle_.pop();
    }
  }

  void fill(Pool& pool, std::vector<Word> words, Random& random) const {
    for (auto& word : words)
      if (!used_.contains(word)) pool.words.push_back(std::move(word));
    random.shuffle(pool.words);
  }

  std::optional<Word> take(Pool& pool, bool distinct, Random& random) const {
    if (pool.words.empty()) return std::nullopt;
    if (!distinct) return pool.words[random.below(pool.words.size())];
    auto word = std::move(pool.words.back());
    pool.words.pop_back();
    return word;
  }

  void add_difficult(std::int64_t made, std::int64_t count, Random& random) {
    const bool distinct = options_.distinct != "none";
    const StopCheck stop;
    for (int i = 0; i < kDifficultTries; ++i) {
      stop();
      const auto word = edited(positives_[random.below(positives_.size())], random);
      if (!word || used_.contains(*word) || oracle_.contains(*word)) continue;
      if (distinct) used_.insert(*word);
      negatives_.push_back(*word);
      return;
    }
    fail(kWhere,
         "requested {} difficult negatives, but after {} none was found in {} tries{}; lower "
         "difficult, or allow other swaps or edits{}",
         count, made, kDifficultTries, others(), distinct ? ", or distinct = 'none'" : "");
  }

  void add_matched(Random& random) {
    if (options_.negatives == 0) return;
    const bool distinct = options_.distinct != "none";
    negatives_ = matched_negatives(
        positives_, {options_.negatives, symbols_, distinct, automata_},
        [&](const Word& word) { return !used_.contains(word) && !oracle_.contains(word); }, random);
    check(std::ssize(negatives_) == options_.negatives, kWhere,
          "requested {} matched negatives with the lengths of the positives, but after {} no other "
          "invalid string of such a length was found{}; ask for fewer, or for other lengths{}",
          options_.negatives, negatives_.size(), others(),
          distinct ? ", or for distinct = 'none'" : "");
  }

  // Returns nothing if an edit cannot be made or the length leaves the interval.
  std::optional<Word> edited(Word word, Random& random) const {
    const int swaps = options_.swaps[random.below(options_.swaps.size())];
    for (int i = 0; i < swaps; ++i)
      if (!edit(options_.edits[random.below(options_.edits.size())], word, random))
        return std::nullopt;
    const auto length = static_cast<int>(word.size());
    if (length < options_.shortest || length > options_.longest) return std::nullopt;
    return word;
  }

  bool edit(const std::string& kind, Word& word, Random& random) const {
    if (kind == "insert") {
      const auto at = static_cast<std::ptrdiff_t>(random.below(word.size() + 1));
      word.insert(word.begin() + at, static_cast<int>(random.below(symbols_)));
      return true;
    }
    if (word.empty()) return false;
    const auto at = random.below(word.size());
    if (kind == "delete") {
      word.erase(word.begin() + static_cast<std::ptrdiff_t>(at));
      return true;
    }
    if (kind == "replace") {
      if (symbols_ < 2) return false;
      const int other = static_cast<int>(random.below(symbols_ - 1));
      word[at] = other < word[at] ? other : other + 1;
      return true;
    }
    std::vector<std::size_t> different;
    for (std::size_t i = 0; i < word.size(); ++i)
      if (word[i] != word[at]) different.push_back(i);
    if (different.empty()) return false;
    std::swap(word[at], word[different[random.below(different.size())]]);
    return true;
  }

  LabelledDataset shuffled() const {
    std::vector<std::pair<Word, bool>> rows;
    for (const auto& word : positives_) rows.emplace_back(word, true);
    for (const auto& word : negatives_) rows.emplace_back(word, false);
    Random random(options_.seed, "order");
    random.shuffle(rows);
    std::vector<Word> words;
    std::vector<bool> labels;
    for (auto& [word, label] : rows) {
      words.push_back(std::move(word));
      labels.push_back(label);
    }
    return LabelledDataset(grammar_.alphabet(), std::move(words), std::move(labels));
  }

  std::int64_t used_of(int length) const {
    return std::count_if(used_.begin(), used_.end(),
                         [&](const Word& word) { return static_cast<int>(word.size()) == length; });
  }

  std::string others() const {
    return excluded_ > 0 ? fmt::format(" beside the {} excluded strings", excluded_) : "";
  }

  const Grammar& grammar_;
  const LabelledOptions& options_;
  LengthTable table_;
  Membership oracle_;
  int symbols_;
  std::vector<SmallAutomaton> automata_;  // one from each excluded set
  std::set<Word> used_;                   // excluded, or used and not to be repeated
  std::size_t excluded_ = 0;
  bool unlisted_ = false;  // a length was removed without listing its strings
  std::vector<Word> positives_, negatives_;
};

void check_choice(std::string_view key, const std::string& value,
                  const std::vector<std::string>& choices) {
  check(std::find(choices.begin(), choices.end(), value) != choices.end(), kWhere,
        "{} must be one of {}, got '{}'", key, quoted_list(choices), value);
}

void check_options(const LabelledOptions& options) {
  check(options.positives >= 0 && options.negatives >= 0, kWhere,
        "positives and negatives must be at least 0, got {} and {}", options.positives,
        options.negatives);
  check(options.positives + options.negatives > 0, kWhere,
        "positives and negatives must not both be 0");
  check(options.shortest >= 0 && options.shortest <= options.longest, kWhere,
        "lengths must be {{lowest, highest}} with 0 <= lowest <= highest, got {{{}, {}}}",
        options.shortest, options.longest);
  check(options.difficult_low >= 0 && options.difficult_low <= options.difficult_high &&
            options.difficult_high <= 1,
        kWhere, "difficult must be a share or {{lowest, highest}} between 0 and 1, got {} to {}",
        options.difficult_low, options.difficult_high);
  check(options.difficult_high == 0 || options.positives > 0, kWhere,
        "difficult negatives are made from positives: positives must be at least 1");
  check(!options.swaps.empty(), kWhere, "swaps must list at least one number");
  for (const int swaps : options.swaps)
    check(swaps >= 1, kWhere, "the numbers of swaps must be at least 1, got {}", swaps);
  check(!options.edits.empty(), kWhere, "edits must list at least one of {}",
        quoted_list(labelled_edits()));
  for (const auto& edit : options.edits) check_choice("edits", edit, labelled_edits());
  check_choice("distinct", options.distinct, {"all", "negatives", "none"});
  check_choice("positive_lengths", options.positive_lengths, {"uniform", "grammar"});
  check_choice("negative_lengths", options.negative_lengths, {"positives", "uniform"});
  check_choice("negative_kind", options.negative_kind, {"usual", "matched"});
  if (options.negative_kind == "usual") return;
  check(options.positives > 0, kWhere,
        "matched negatives are made from positives: positives must be at least 1");
  check(options.difficult_high == 0, kWhere,
        "matched negatives include no difficult ones: omit difficult or negative_kind");
  check(options.negative_lengths == "positives", kWhere,
        "matched negatives have the lengths of the positives: omit negative_lengths or "
        "negative_kind");
}

}  // namespace

const std::vector<std::string>& labelled_edits() {
  static const std::vector<std::string> edits{"replace", "transpose", "insert", "delete"};
  return edits;
}

LabelledDataset make_labelled(const Grammar& grammar, const LabelledOptions& options,
                              const std::vector<LabelledDatasetPtr>& exclude) {
  check_options(options);
  return Maker(grammar, options, exclude).run();
}

}  // namespace pushdown
