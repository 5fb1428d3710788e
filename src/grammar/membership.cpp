#include "grammar/membership.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/memory.h"
#include "base/stopping.h"
#include "grammar/inside.h"
#include "grammar/normal_form.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "grammar.membership";

// The rules of at most two symbols without weights; terminals follow the nonterminals.
struct PlainRules {
  struct Pair {
    int left, first, second;
  };

  explicit PlainRules(const Grammar& grammar)
      : nonterminals(grammar.normal_form().size),
        symbols(nonterminals + grammar.alphabet().size()),
        nullable(symbols),
        productive(symbols),
        unary(symbols) {
    const auto& form = grammar.normal_form();
    for (int s = nonterminals; s < symbols; ++s) productive[s] = true;
    std::vector<const ShortRule*> rules;
    for (const auto& rule : form.short_rules)
      if (rule.weight > 0) rules.push_back(&rule);
    spread(rules, nullable);
    spread(rules, productive);
    for (const auto* rule : rules) {
      if (!all(*rule, productive) || rule->right.empty()) continue;
      const int first = id(rule->right[0]);
      if (rule->right.size() == 1) {
        unary[first].insert(rule->left);
        continue;
      }
      const int second = id(rule->right[1]);
      pairs.push_back({rule->left, first, second});
      if (nullable[second]) unary[first].insert(rule->left);
      if (nullable[first]) unary[second].insert(rule->left);
    }
  }

  int id(Symbol symbol) const { return symbol.terminal ? nonterminals + symbol.id : symbol.id; }

  int nonterminals, symbols;
  std::vector<bool> nullable, productive;
  std::vector<Pair> pairs;
  std::vector<std::set<int>> unary;  // [X]: all A with A -> X

 private:
  bool all(const ShortRule& rule, const std::vector<bool>& holds) const {
    return std::all_of(rule.right.begin(), rule.right.end(),
                       [&](Symbol symbol) { return holds[id(symbol)]; });
  }
  // Computes the least set that contains a left side whenever it contains all of one of its right
  // sides.
  void spread(const std::vector<const ShortRule*>& rules, std::vector<bool>& holds) const {
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto* rule : rules)
        if (!holds[rule->left] && all(*rule, holds)) changed = holds[rule->left] = true;
    }
  }
};

// Returns, for each node, all nodes reachable in one step or more, except the node itself.
std::vector<std::vector<int>> transitive(const std::vector<std::set<int>>& edges) {
  const StopCheck stop;
  std::vector<std::vector<int>> reached(edges.size());
  for (std::size_t from = 0; from < edges.size(); ++from) {
    stop();
    std::set<int> seen;
    std::vector<int> open{static_cast<int>(from)};
    while (!open.empty()) {
      const int node = open.back();
      open.pop_back();
      for (const int next : edges[node])
        if (seen.insert(next).second) open.push_back(next);
    }
    seen.erase(static_cast<int>(from));
    reached[from].assign(seen.begin(), seen.end());
  }
  return reached;
}

// The distinct strings of each symbol and length, at most `most` of each. The limit loses nothing:
// different pairs of parts with the same split give different strings, so a set built from a
// truncated set is itself full.
class StringTable {
 public:
  StringTable(const Grammar& grammar, std::size_t most)
      : rules_(grammar), most_(most), below_(rules_.symbols), pairs_(rules_.symbols) {
    std::vector<std::set<int>> down(rules_.symbols);
    for (int s = 0; s < rules_.symbols; ++s)
      for (const int left : rules_.unary[s]) down[left].insert(s);
    below_ = transitive(down);
    for (const auto& pair : rules_.pairs) pairs_[pair.left].push_back({pair.first, pair.second});
  }

  const std::vector<Word>& strings(int symbol, int length) {
    const auto found = table_.find({symbol, length});
    if (found != table_.end()) return found->second;
    std::set<Word> words;
    add_own(symbol, length, words);
    for (const int other : below_[symbol]) add_own(other, length, words);
    constexpr double kOverhead = 100;  // bytes of a small vector and of its node
    check_memory(kWhere, fmt::format("the table of strings of {} symbols", length),
                 static_cast<double>(words.size()) * (kOverhead + sizeof(int) * length));
    return table_[{symbol, length}] = std::vector<Word>(words.begin(), words.end());
  }

 private:
  // Adds the strings of the symbol's own pair rules, or the terminal itself.
  void add_own(int symbol, int length, std::set<Word>& words) {
    if (symbol >= rules_.nonterminals && length == 1 && words.size() < most_)
      words.insert({symbol - rules_.nonterminals});
    const StopCheck stop;
    for (const auto& [first, second] : pairs_[symbol])
      for (int k = 1; k < length && words.size() < most_; ++k) {
        stop();
        if (strings(first, k).empty() || strings(second, length - k).empty()) continue;
        for (const auto& left : strings(first, k))
          for (const auto& right : strings(second, length - k)) {
            stop();
            if (words.size() >= most_) return;
            auto word = left;
            word.insert(word.end(), right.begin(), right.end());
            words.insert(std::move(word));
          }
      }
  }

  PlainRules rules_;
  std::size_t most_;
  std::vector<std::vector<int>> below_;
  std::vector<std::vector<std::pair<int, int>>> pairs_;
  std::map<std::pair<int, int>, std::vector<Word>> table_;
};

bool has(const std::uint64_t* set, int i) { return (set[i / 64] >> (i % 64) & 1) != 0; }
void add(std::uint64_t* set, int i) { set[i / 64] |= std::uint64_t{1} << (i % 64); }

}  // namespace

Membership::Membership(Grammar grammar) : grammar_(std::move(grammar)) {
  const PlainRules rules(grammar_);
  nonterminals_ = rules.nonterminals;
  symbols_ = rules.symbols;
  empty_ = rules.nullable[grammar_.normal_form().start];
  productive_ = rules.productive[grammar_.normal_form().start];
  splits_.resize(symbols_);
  auto prefix_edges = rules.unary;
  for (const auto& pair : rules.pairs) {
    splits_[pair.second].push_back({pair.left, pair.first});
    prefix_edges[pair.first].insert(pair.left);
  }
  whole_up_ = transitive(rules.unary);
  prefix_up_ = transitive(prefix_edges);
}

// Makes room for `length` symbols and reads the previous symbols again into the new columns.
void Membership::reserve(int length) {
  if (length <= capacity_) return;
  capacity_ = std::max({length, 2 * capacity_, 63});
  words_ = capacity_ / 64 + 1;
  check_memory(kWhere, fmt::format("a string of {} symbols", capacity_),
               8.0 * static_cast<double>(capacity_ + 1) * static_cast<double>(column_size()));
  whole_.assign((capacity_ + 1) * column_size(), 0);
  const Word word = std::exchange(word_, {});
  for (const int symbol : word) push(symbol);
}

void Membership::push(int symbol) {
  check_word(kWhere, grammar_.alphabet(), {symbol});
  reserve(static_cast<int>(word_.size()) + 1);
  word_.push_back(symbol);
  complete(whole(static_cast<int>(word_.size())), whole_up_);
}

// Computes the column at the end of the string read, from short to long spans, so every set is
// complete when it is used. any_ contains the starts of any symbol.
void Membership::complete(std::uint64_t* column, const Closure& up) {
  std::fill_n(column, column_size(), 0);
  any_.assign(words_, 0);
  const StopCheck stop;
  const int last = static_cast<int>(word_.size()) - 1;
  add(column + static_cast<std::size_t>(nonterminals_ + word_.back()) * words_, last);
  add(any_.data(), last);
  for (int w = last / 64; w >= 0; --w) {
    auto below = ~std::uint64_t{0};
    while (const auto starts = any_[w] & below) {
      const int bit = std::bit_width(starts) - 1;
      below = (std::uint64_t{1} << bit) - 1;
      stop();
      close_and_split(column, up, 64 * w + bit);
    }
  }
}

void Membership::close_and_split(std::uint64_t* column, const Closure& up, int start) {
  const auto set_of = [&](int symbol) {
    return column + static_cast<std::size_t>(symbol) * words_;
  };
  active_.clear();
  for (int s = 0; s < symbols_; ++s)
    if (has(set_of(s), start)) active_.push_back(s);
  for (std::size_t a = 0, own = active_.size(); a < own; ++a)
    for (const int left : up[active_[a]]) {
      if (has(set_of(left), start)) continue;
      add(set_of(left), start);
      active_.push_back(left);
    }
  if (start == 0) return;
  const int used = (start + 63) / 64;
  for (const int second : active_)
    for (const auto& [left, first] : splits_[second]) {
      auto* to = set_of(left);
      const auto* from = whole(start) + static_cast<std::size_t>(first) * words_;
      for (int w = 0; w < used; ++w) {
        to[w] |= from[w];
        any_[w] |= from[w];
      }
    }
}

void Membership::pop() {
  check(!word_.empty(), kWhere, "there is no symbol to remove");
  word_.pop_back();
}

bool Membership::accepts() const {
  if (word_.empty()) return empty_;
  const auto start = static_cast<std::size_t>(grammar_.normal_form().start);
  return has(whole(static_cast<int>(word_.size())) + start * words_, 0);
}

bool Membership::viable() {
  if (word_.empty()) return productive_;
  prefix_.resize(column_size());
  complete(prefix_.data(), prefix_up_);
  const auto start = static_cast<std::size_t>(grammar_.normal_form().start);
  return has(prefix_.data() + start * words_, 0);
}

bool Membership::contains(const Word& word) {
  check_word(kWhere, grammar_.alphabet(), word);
  clear();
  for (const int symbol : word) {
    push(symbol);
    // Often enough to leave a hopeless string early, and rarely enough to cost little.
    if (word_.size() % 8 == 0 && !viable()) return false;
  }
  return accepts();
}

std::vector<Word> strings_of_length(const Grammar& grammar, int length, std::int64_t most) {
  check(length >= 0, kWhere, "length must be at least 0, got {}", length);
  check(most >= 1, kWhere, "most must be at least 1, got {}", most);
  if (length == 0)
    return Membership(grammar).accepts() ? std::vector<Word>{{}} : std::vector<Word>{};
  return StringTable(grammar, static_cast<std::size_t>(most))
      .strings(grammar.normal_form().start, length);
}

std::vector<Word> strings_up_to(const Grammar& grammar, int longest, std::int64_t limit) {
  constexpr std::string_view kPlace = "grammar.strings";
  check(longest >= 0, kPlace, "up_to must be at least 0, got {}", longest);
  check(limit >= 1, kPlace, "limit must be at least 1, got {}", limit);
  std::vector<Word> all;
  if (Membership(grammar).accepts()) all.push_back({});
  StringTable table(grammar, static_cast<std::size_t>(limit) + 1);
  for (int length = 1; length <= longest; ++length) {
    const auto& words = table.strings(grammar.normal_form().start, length);
    check(all.size() + words.size() <= static_cast<std::size_t>(limit), kPlace,
          "there are more than {} strings of up to {} symbols ({} of up to {}): lower up_to or "
          "raise limit",
          limit, longest, all.size(), length - 1);
    all.insert(all.end(), words.begin(), words.end());
  }
  return all;
}

}  // namespace pushdown
