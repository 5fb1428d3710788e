#include "task/matched_negatives.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/stopping.h"
#include "task/seen_features.h"

namespace pushdown {
namespace {

constexpr int kMatchedRounds = 20;
constexpr int kRoundsInVain = 3;  // rounds in a row without progress before giving up
constexpr int kCandidates = 300;  // per negative
// Limit on replacing a partner for which no negative is found by another positive.
constexpr int kPartners = 50;
// Number of partners tried to replace a negative.
constexpr int kOtherPartners = 3;
// After this many negatives, the best rank so far counts as the best possible one.
constexpr int kRanked = 200;

// Quality of a candidate: the number of classifiers that distinguish it from its partner, and
// whether the symbol counts differ. Less is better.
using Rank = std::pair<int, bool>;

class Matching {
 public:
  Matching(const std::vector<Word>& positives, const MatchedOptions& options,
           const std::function<bool(const Word&)>& allowed, Random& random)
      : positives_(positives),
        options_(options),
        allowed_(allowed),
        random_(random),
        automata_(options.automata) {
    for (std::size_t i = 0; i < positives.size(); ++i) by_length_[positives[i].size()].push_back(i);
    for (const auto kind : feature_kinds()) {
      seen_.emplace_back(kind, options.symbols);
      for (const auto& word : std::set<Word>(positives.begin(), positives.end()))
        seen_.back().add(word);
    }
  }

  std::vector<Word> run() {
    std::vector<std::size_t> order;
    for (std::int64_t i = 0; i < options_.count; ++i) {
      if (order.empty()) {
        for (std::size_t p = 0; p < positives_.size(); ++p) order.push_back(p);
        random_.shuffle(order);
      }
      partners_.push_back(order.back());
      order.pop_back();
      if (!add(i)) return negatives_;
    }
    open_.assign(negatives_.size(), true);
    int in_vain = 0;
    for (int round = 0; round < kMatchedRounds && in_vain < kRoundsInVain; ++round)
      in_vain = learn(round) && improve() ? 0 : in_vain + 1;
    return negatives_;
  }

 private:
  struct Found {
    Rank rank;
    Word word;
  };

  // Learns an automaton from the open pairs; returns false if it distinguishes none.
  bool learn(int round) {
    std::vector<Word> words;
    std::vector<bool> labels;
    for (std::size_t i = 0; i < negatives_.size(); ++i)
      if (open_[i])
        for (const bool label : {true, false}) {
          words.push_back(label ? positives_[partners_[i]] : negatives_[i]);
          labels.push_back(label);
        }
    if (words.empty()) return false;
    auto automaton = learn_automaton(words, labels, options_.symbols, round);
    if (automaton.states() < 2) return false;
    automata_.push_back(std::move(automaton));
    best_ = std::nullopt;
    ranked_ = 0;
    return true;
  }

  // Replaces the negatives that the newest automaton distinguishes from their partners; returns
  // whether there were any. Closes pairs for which no better negative is found.
  bool improve() {
    const auto& automaton = automata_.back();
    bool any = false;
    for (std::size_t i = 0; i < negatives_.size(); ++i) {
      if (!open_[i] ||
          automaton.end_state(negatives_[i]) == automaton.end_state(positives_[partners_[i]]))
        continue;
      open_[i] = replace(i);
      any = any || open_[i];
    }
    return any;
  }

  bool add(std::int64_t i) {
    for (int k = 0; k < kPartners; ++k) {
      if (auto found = search(positives_[partners_[i]])) {
        if (options_.distinct) used_.insert(found->word);
        negatives_.push_back(std::move(found->word));
        return true;
      }
      partners_[i] = random_.below(positives_.size());
    }
    return false;
  }

  // Searches for a better rank, if necessary with another partner of the same length.
  bool replace(std::size_t i) {
    const auto before = rank(negatives_[i], positives_[partners_[i]], kWorst);
    const auto& same_length = by_length_[negatives_[i].size()];
    for (int k = 0; k < kOtherPartners; ++k) {
      const auto partner = k == 0 ? partners_[i] : same_length[random_.below(same_length.size())];
      auto found = search(positives_[partner]);
      if (!found || found->rank >= before) continue;
      if (options_.distinct) {
        used_.erase(negatives_[i]);
        used_.insert(found->word);
      }
      negatives_[i] = std::move(found->word);
      partners_[i] = partner;
      return true;
    }
    return false;
  }

  std::optional<Found> search(const Word& partner) {
    std::optional<Found> best;
    const StopCheck stop;
    for (int k = 0; k < kCandidates; ++k) {
      stop();
      auto word = changed(partner);
      const auto limit = best ? best->rank : kWorst;
      const auto rank_now = rank(word, partner, limit);
      if (rank_now >= limit || used_.contains(word) || !allowed_(word)) continue;
      best = Found{rank_now, std::move(word)};
      if (rank_now == Rank(0, false) || (ranked_ > kRanked && best_ && rank_now <= *best_)) break;
    }
    if (best && (!best_ || best->rank < *best_)) best_ = best->rank;
    ++ranked_;
    return best;
  }

  // Returns the rank, or any rank not below `limit` if it is not below `limit`.
  Rank rank(const Word& word, const Word& partner, const Rank& limit) const {
    Rank rank(0, false);
    for (const auto& automaton : automata_) {
      rank.first += automaton.end_state(word) != automaton.end_state(partner) ? 1 : 0;
      if (rank.first > limit.first) return limit;
    }
    for (const auto& seen : seen_) {
      rank.first += seen.accepts(word) ? 0 : 1;
      if (rank.first > limit.first) return limit;
    }
    rank.second = symbol_counts(word, options_.symbols) != symbol_counts(partner, options_.symbols);
    return rank;
  }

  // Returns a changed string of the same length.
  Word changed(Word word) {
    for (auto changes = 1 + random_.below(3); changes > 0 && !word.empty(); --changes) change(word);
    return word;
  }

  void change(Word& word) {
    const auto n = word.size();
    const auto& other = positives_[random_.below(positives_.size())];
    const auto place = [&](std::size_t i) { return word.begin() + static_cast<std::ptrdiff_t>(i); };
    const auto i = random_.below(n), j = random_.below(n);
    const auto from = std::min(i, j), to = std::max(i, j) + 1;  // a segment
    switch (random_.below(5)) {
      case 0: {  // Moves the segment to the left or the right within a larger one.
        const auto middle = from + random_.below(to - from);
        std::rotate(place(from), place(middle), place(to));
        return;
      }
      case 1: {
        if (other.size() < to - from) return;
        const auto start = random_.below(other.size() - (to - from) + 1);
        std::copy_n(other.begin() + static_cast<std::ptrdiff_t>(start), to - from, place(from));
        return;
      }
      case 2:
        if (other.size() >= n - i)
          std::copy(other.end() - static_cast<std::ptrdiff_t>(n - i), other.end(), place(i));
        return;
      case 3: std::swap(word[i], word[j]); return;
      default:
        word[i] = static_cast<int>(random_.below(static_cast<std::uint64_t>(options_.symbols)));
    }
  }

  static inline const Rank kWorst{1 << 20, true};

  const std::vector<Word>& positives_;
  const MatchedOptions& options_;
  const std::function<bool(const Word&)>& allowed_;
  Random& random_;
  std::vector<SmallAutomaton> automata_;
  std::vector<SeenFeatures> seen_;
  std::map<std::size_t, std::vector<std::size_t>> by_length_;  // of the positives
  std::vector<std::size_t> partners_;
  std::vector<bool> open_;  // a better negative may be found
  std::vector<Word> negatives_;
  std::set<Word> used_;
  std::optional<Rank> best_;
  int ranked_ = 0;
};

}  // namespace

std::vector<Word> matched_negatives(const std::vector<Word>& positives,
                                    const MatchedOptions& options,
                                    const std::function<bool(const Word&)>& allowed,
                                    Random& random) {
  return Matching(positives, options, allowed, random).run();
}

}  // namespace pushdown
