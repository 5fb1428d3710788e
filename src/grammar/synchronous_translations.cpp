#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "base/check.h"
#include "base/stopping.h"
#include "grammar/source_forest.h"
#include "grammar/synchronous_parse.h"

namespace pushdown {
namespace {

// Upper limit of target lengths; a node with longer targets counts as endless.
constexpr std::int64_t kEndless = std::numeric_limits<std::int32_t>::max();

using Words = std::map<std::int64_t, std::set<Word>>;  // by length

// The targets of the nodes of a forest, computed in order of length. The targets of length l of a
// node come from the ways in which its children share l.
class Targets {
 public:
  // Keeps at most `most` words per length and node. This is enough to tell whether the root has
  // that many, because different words stay different inside the same context.
  Targets(const SynchronousGrammar& grammar, const SourceForest& forest, std::size_t most)
      : grammar_(grammar), forest_(forest), most_(most), words_(forest.nodes().size()) {
    // A node's shortest target is found after as many rounds as its group has nodes. The longest is
    // found as well, unless a way from a node to itself adds symbols.
    shortest_.assign(words_.size(), kEndless);
    longest_.assign(words_.size(), -1);
    for (const auto& group : forest_.groups()) {
      const std::size_t rounds = group.repeat ? group.nodes.size() : 1;
      for (std::size_t round = 0; round < rounds; ++round)
        for (const int node : group.nodes) measure(node);
      if (!group.repeat) continue;
      for (bool changed = true; changed;) {
        changed = false;
        for (const int node : group.nodes)
          if (measure(node)) {
            longest_[node] = kEndless;
            changed = true;
          }
      }
    }
  }

  // Finds all words of the root of the next length; returns false if there are no more lengths.
  bool next(std::vector<Word>& found) {
    if (words_.empty() || length_ > longest_[0]) return false;
    for (const auto& group : forest_.groups())
      for (bool changed = true; changed;) {
        changed = false;
        for (const int node : group.nodes) changed = extend(node) || changed;
        changed = changed && group.repeat;
      }
    if (const auto words = words_[0].find(length_); words != words_[0].end())
      found.insert(found.end(), words->second.begin(), words->second.end());
    ++length_;
    return true;
  }

 private:
  // Updates the shortest and longest target length of a node from its children; returns true if the
  // longest grew.
  bool measure(int node) {
    const auto before = longest_[node];
    for (const auto& way : forest_.nodes()[node].ways) {
      const auto& rule = grammar_.rules()[way.rule];
      auto low = static_cast<std::int64_t>(rule.target.size() - rule.links.size()), high = low;
      bool known = true;
      for (const int child : way.children) {
        known = known && longest_[child] >= 0;
        low = std::min(kEndless, low + shortest_[child]);
        high = std::min(kEndless, high + longest_[child]);
      }
      if (!known) continue;
      shortest_[node] = std::min(shortest_[node], low);
      longest_[node] = std::max(longest_[node], high);
    }
    return longest_[node] > before;
  }

  // Adds the node's words of the current length that its children give now; returns true if one is
  // new.
  bool extend(int node) {
    StopCheck()();
    if (length_ < shortest_[node] || length_ > longest_[node]) return false;
    auto& words = words_[node][length_];
    const auto before = words.size();
    for (const auto& way : forest_.nodes()[node].ways) {
      const auto& rule = grammar_.rules()[way.rule];
      // Shortest and longest length of the target side from each symbol on.
      std::vector<std::int64_t> low(rule.target.size() + 1), high(rule.target.size() + 1);
      std::size_t nonterminal = rule.links.size();
      for (auto s = rule.target.size(); s-- > 0;) {
        const int child = rule.target[s].terminal ? -1 : way.children[rule.links[--nonterminal]];
        low[s] = low[s + 1] + (child < 0 ? 1 : shortest_[child]);
        high[s] = std::min(kEndless, high[s + 1] + (child < 0 ? 1 : longest_[child]));
      }
      if (length_ < low[0] || length_ > high[0]) continue;
      Words prefixes{{0, {Word{}}}};
      nonterminal = 0;
      for (std::size_t s = 0; s < rule.target.size() && !prefixes.empty(); ++s) {
        const auto symbol = rule.target[s];
        const Words single{{1, {Word{symbol.id}}}};
        const auto& next =
            symbol.terminal ? single : words_[way.children[rule.links[nonterminal++]]];
        prefixes = joined(prefixes, next, length_ - high[s + 1], length_ - low[s + 1]);
      }
      for (const auto& one : prefixes[length_])
        if (words.size() < most_) words.insert(one);
    }
    return words.size() > before;
  }

  // Concatenations of a word of `left` and a word of `right`, of lengths from low to high.
  Words joined(const Words& left, const Words& right, std::int64_t low, std::int64_t high) const {
    Words result;
    const StopCheck stop;
    for (const auto& [length, words] : left)
      for (auto row = right.lower_bound(low - length);
           row != right.end() && row->first <= high - length; ++row) {
        auto& whole = result[length + row->first];
        for (const auto& word : words)
          for (const auto& part : row->second) {
            if (whole.size() == most_) break;
            stop();
            Word longer = word;
            longer.insert(longer.end(), part.begin(), part.end());
            whole.insert(std::move(longer));
          }
      }
    return result;
  }

  const SynchronousGrammar& grammar_;
  const SourceForest& forest_;
  std::size_t most_;
  std::vector<Words> words_;                      // per node
  std::vector<std::int64_t> shortest_, longest_;  // of the targets of each node
  std::int64_t length_ = 0;
};

}  // namespace

Translations translations(const SynchronousGrammar& grammar, const Word& source,
                          std::int64_t limit) {
  check(limit >= 1 && limit <= 1'000'000, "grammar.synchronous",
        "limit must be 1 to 1,000,000, got {}", limit);
  const SourceForest forest(grammar, source);
  Translations result;
  Targets targets(grammar, forest, limit + 1);
  auto& found = result.targets;
  while (static_cast<std::int64_t>(found.size()) <= limit && targets.next(found)) {
  }
  result.complete = static_cast<std::int64_t>(found.size()) <= limit;
  if (!result.complete) found.resize(limit);
  return result;
}

}  // namespace pushdown
