#include "grammar/source_forest.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "base/check.h"
#include "base/stopping.h"
#include "grammar/inside.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "grammar.synchronous";
constexpr std::size_t kMostWays = 2'000'000, kLongest = 2000;

}  // namespace

SourceForest::SourceForest(const SynchronousGrammar& grammar, const Word& word)
    : length_(static_cast<int>(word.size())), words_(word.size() / 64 + 1) {
  check_word(kWhere, grammar.source_alphabet(), word);
  check(word.size() <= kLongest, kWhere, "a source must have at most {} symbols, got {}", kLongest,
        word.size());
  derive(grammar, word);
  if (derives(grammar.start(), 0, length_)) grow(grammar, word);
  group();
  derives_ = {};
}

// Goes from the last position to the first and repeats each position until nothing changes, because
// the first symbols of a rule may be empty.
void SourceForest::derive(const SynchronousGrammar& grammar, const Word& word) {
  const StopCheck stop;
  derives_.assign(grammar.nonterminals().size() * (length_ + 1) * words_, 0);
  using Places = std::vector<std::uint64_t>;
  const auto holds = [](const Places& places, int j) { return places[j / 64] >> (j % 64) & 1; };
  Places ends(words_), next(words_);  // possible ends of a part of a rule that begins at i
  for (int i = length_; i >= 0; --i) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& rule : grammar.rules()) {
        if (rule.weight == 0) continue;
        stop();
        std::fill(ends.begin(), ends.end(), 0);
        ends[i / 64] |= std::uint64_t{1} << (i % 64);
        bool any = true;
        for (const auto symbol : rule.source) {
          std::fill(next.begin(), next.end(), 0);
          for (int j = i; j <= length_; ++j) {
            if (!holds(ends, j)) continue;
            if (!symbol.terminal) {
              const auto* more = row(symbol.id, j);
              for (std::size_t k = 0; k < words_; ++k) next[k] |= more[k];
            } else if (j < length_ && word[j] == symbol.id) {
              next[(j + 1) / 64] |= std::uint64_t{1} << ((j + 1) % 64);
            }
          }
          std::swap(ends, next);
          any = std::any_of(ends.begin(), ends.end(), [](std::uint64_t bits) { return bits != 0; });
          if (!any) break;
        }
        if (!any) continue;
        auto* known = row(rule.left, i);
        for (std::size_t k = 0; k < words_; ++k) {
          changed = changed || (ends[k] & ~known[k]) != 0;
          known[k] |= ends[k];
        }
      }
    }
  }
}

// Grows from the whole word down, so that only spans of complete derivations become nodes.
void SourceForest::grow(const SynchronousGrammar& grammar, const Word& word) {
  std::unordered_map<std::int64_t, int> numbers;
  const auto node = [&](int nonterminal, int begin, int end) {
    const std::int64_t width = length_ + 1;
    const auto [found, is_new] = numbers.emplace((nonterminal * width + begin) * width + end,
                                                 static_cast<int>(nodes_.size()));
    if (is_new) nodes_.push_back({nonterminal, begin, end, {}});
    return found->second;
  };
  std::vector<std::vector<int>> rules(grammar.nonterminals().size());
  for (std::size_t r = 0; r < grammar.rules().size(); ++r)
    if (grammar.rules()[r].weight > 0)
      rules[grammar.rules()[r].left].push_back(static_cast<int>(r));

  const StopCheck stop;
  std::size_t count = 0;
  node(grammar.start(), 0, length_);
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const auto [nonterminal, begin, end, unused] = nodes_[n];
    std::vector<Way> ways;
    for (const int r : rules[nonterminal]) {
      const auto& side = grammar.rules()[r].source;
      std::vector<std::array<int, 3>> parts;  // nonterminal, begin, end
      // Matches the symbols from `s` on with word[at .. end).
      const auto place = [&](const auto& self, std::size_t s, int at) -> void {
        stop();
        if (s == side.size()) {
          if (at != end) return;
          check(++count <= kMostWays, kWhere,
                "a source of {} symbols has more than {} million derivations", length_,
                kMostWays / 1'000'000);
          Way way{r, {}};
          for (const auto& part : parts) way.children.push_back(node(part[0], part[1], part[2]));
          ways.push_back(std::move(way));
        } else if (side[s].terminal) {
          if (at < end && word[at] == side[s].id) self(self, s + 1, at + 1);
        } else {
          const bool last = s + 1 == side.size();
          for (int to = last ? end : at; to <= end; ++to)
            if (derives(side[s].id, at, to)) {
              parts.push_back({side[s].id, at, to});
              self(self, s + 1, to);
              parts.pop_back();
            }
        }
      };
      place(place, 0, begin);
    }
    nodes_[n].ways = std::move(ways);
  }
}

void SourceForest::group() {
  std::map<std::array<int, 2>, Group> spans;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const auto& node = nodes_[n];
    auto& group = spans[{node.end - node.begin, node.begin}];
    group.nodes.push_back(static_cast<int>(n));
    for (const auto& way : node.ways)
      for (const int child : way.children)
        if (nodes_[child].begin == node.begin && nodes_[child].end == node.end) group.repeat = true;
  }
  for (auto& [span, group] : spans) groups_.push_back(std::move(group));
}

}  // namespace pushdown
