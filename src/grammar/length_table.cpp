#include "grammar/length_table.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/memory.h"
#include "base/stopping.h"
#include "grammar/normal_form.h"
#include "grammar/semiring.h"

namespace pushdown {

LengthTable::LengthTable(Grammar grammar, int max_length)
    : grammar_(std::move(grammar)), max_length_(max_length) {
  check(max_length >= 0, "grammar.length_table", "a length must be at least 0, got {}", max_length);
  const auto& form = grammar_.normal_form();
  left_sides_.resize(form.size);
  const auto index = [&](const auto& rules, auto member) {
    for (std::size_t r = 0; r < rules.size(); ++r)
      (left_sides_[rules[r].left].*member).push_back(static_cast<int>(r));
  };
  index(form.lexical, &LeftSide::lexical);
  index(form.terminal_pairs, &LeftSide::terminal_pairs);
  index(form.terminal_left, &LeftSide::terminal_left);
  index(form.terminal_right, &LeftSide::terminal_right);
  index(form.short_rules, &LeftSide::whole);
  for (std::size_t p = 0; p < form.pairs.size(); ++p)
    for (const auto& [left, weight] : form.pairs[p].lefts)
      left_sides_[left].pairs.emplace_back(static_cast<int>(p), weight);
  RangeWatch watch;
  fill<Real>();
  logarithms_ = watch.left_range();
  if (logarithms_) fill<Log>();
}

template <class S>
__attribute__((noinline)) void LengthTable::fill() {
  const auto& form = grammar_.normal_form();
  const std::size_t cells = static_cast<std::size_t>(form.size) * (max_length_ + 1);
  const double all = 3.0 * cells + static_cast<double>(form.pairs.size()) * (max_length_ + 1);
  check_memory("grammar.lengths", fmt::format("a table of lengths up to {}", max_length_), 8 * all);
  before_.assign(cells, S::zero());
  after_.assign(cells, S::zero());
  pair_mass_.assign(form.pairs.size() * (max_length_ + 1), S::zero());
  // A copy of T[C, l] in descending order of l, so that a convolution is a dot product of two
  // contiguous ranges.
  std::vector<double> reversed(cells, S::zero());
  const auto weight_of = [](double weight) { return S::from_weight(weight); };
  const StopCheck stop;
  for (int l = 1; l <= max_length_; ++l) {
    stop();
    const auto add = [&](int left, double value) {
      before_[at(left, l)] = S::plus(before_[at(left, l)], value);
    };
    if (l == 1)
      for (const auto& r : form.lexical) add(r.left, weight_of(r.weight));
    if (l == 2)
      for (const auto& r : form.terminal_pairs) add(r.left, weight_of(r.weight));
    for (const auto& r : form.terminal_left)
      add(r.left, S::times(weight_of(r.weight), after_[at(r.nonterminal, l - 1)]));
    for (const auto& r : form.terminal_right)
      add(r.left, S::times(weight_of(r.weight), after_[at(r.nonterminal, l - 1)]));
    for (std::size_t p = 0; p < form.pairs.size(); ++p) {
      stop();
      const auto& pair = form.pairs[p];
      const double mass = S::dot(&after_[at(pair.first, 1)],
                                 &reversed[at(pair.second, max_length_ - l + 1)], l - 1);
      pair_mass_[at(static_cast<int>(p), l)] = mass;
      if (mass == S::zero()) continue;
      for (const auto& [left, weight] : pair.lefts) add(left, S::times(weight_of(weight), mass));
    }
    for (int a = 0; a < form.size; ++a) {
      double value = S::zero();
      for (const auto& entry : form.closure[a])
        value = S::plus(value, S::times(weight_of(entry.weight), before_[at(entry.from, l)]));
      after_[at(a, l)] = reversed[at(a, max_length_ - l)] = value;
    }
  }
}

double LengthTable::log_mass(int length) const {
  check(length >= 0 && length <= max_length_, "grammar.length_table",
        "length must be 0 to {}, got {}", max_length_, length);
  const auto& form = grammar_.normal_form();
  if (length == 0) return std::log(form.empty_mass);
  const double mass = after_[at(form.start, length)];
  return logarithms_ ? mass : std::log(mass);
}

bool LengthTable::has_strings(int length) const { return log_mass(length) > kMinusInfinity; }

Word LengthTable::sample(int length, Random& random) const {
  check(has_strings(length), "grammar.sample", "there are no strings of length {}", length);
  if (length == 0) return {};
  return logarithms_ ? draw<Log>(length, random) : draw<Real>(length, random);
}

namespace {}  // namespace

// Subtracts the shares of successive choices from a uniform number in [0, 1) until it is used up.
// If rounding leaves a remainder after the last choice, the last choice with a positive share is
// taken.
class Wheel {
 public:
  explicit Wheel(double spot) : left_(spot) {}
  // Returns true if the number is used up within this share.
  bool stops_at(double share) {
    if (share <= 0) return false;
    left_ -= share;
    return left_ < 0;
  }

 private:
  double left_;
};

template <class S>
int LengthTable::draw_left(int nonterminal, int length, Random& random) const {
  const auto& closure = grammar_.normal_form().closure[nonterminal];
  if (closure.size() == 1) return closure[0].from;
  const double whole = after_[at(nonterminal, length)];
  Wheel wheel(random.uniform());
  int left = -1;
  for (const auto& entry : closure) {
    const double share =
        S::ratio(S::times(S::from_weight(entry.weight), before_[at(entry.from, length)]), whole);
    if (share > 0) left = entry.from;
    if (wheel.stops_at(share)) break;
  }
  return left;
}

template <class S>
int LengthTable::draw_split(int pair, int length, Random& random) const {
  const auto& sides = grammar_.normal_form().pairs[pair];
  const double whole = pair_mass_[at(pair, length)];
  Wheel wheel(random.uniform());
  int split = 0;
  for (int k = 1; k < length; ++k) {
    const double share =
        S::ratio(S::times(after_[at(sides.first, k)], after_[at(sides.second, length - k)]), whole);
    if (share > 0) split = k;
    if (wheel.stops_at(share)) break;
  }
  return split;
}

template <class S>
LengthTable::Expansion LengthTable::draw_rule(int left, int length, Random& random) const {
  const auto& form = grammar_.normal_form();
  const auto& side = left_sides_[left];
  const double whole = before_[at(left, length)];
  const double one = S::from_weight(1.0);
  const auto terminal = [](int id) { return Part{{true, id}, 1}; };
  const auto rest = [&](int id) { return Part{{false, id}, length - 1}; };
  Wheel wheel(random.uniform());
  Expansion chosen;
  int pair = -1;
  // Returns true once the wheel stops; until then `chosen` is the last choice with a positive
  // share.
  const auto consider = [&](double weight, double below, Part first, Part second) {
    const double share = S::ratio(S::times(S::from_weight(weight), below), whole);
    if (share > 0) chosen = {first, second};
    return wheel.stops_at(share);
  };
  if (length == 1) {
    for (const int r : side.lexical)
      if (consider(form.lexical[r].weight, one, terminal(form.lexical[r].symbol), {})) break;
    return chosen;
  }
  if (length == 2)
    for (const int r : side.terminal_pairs) {
      const auto& rule = form.terminal_pairs[r];
      if (consider(rule.weight, one, terminal(rule.first), terminal(rule.second))) return chosen;
    }
  for (const int r : side.terminal_left) {
    const auto& rule = form.terminal_left[r];
    if (consider(rule.weight, after_[at(rule.nonterminal, length - 1)], terminal(rule.terminal),
                 rest(rule.nonterminal)))
      return chosen;
  }
  for (const int r : side.terminal_right) {
    const auto& rule = form.terminal_right[r];
    if (consider(rule.weight, after_[at(rule.nonterminal, length - 1)], rest(rule.nonterminal),
                 terminal(rule.terminal)))
      return chosen;
  }
  for (const auto& [p, weight] : side.pairs) {
    const double share =
        S::ratio(S::times(S::from_weight(weight), pair_mass_[at(p, length)]), whole);
    if (share > 0) pair = p;
    if (wheel.stops_at(share)) break;
  }
  if (pair < 0) return chosen;
  const int split = draw_split<S>(pair, length, random);
  return {{{false, form.pairs[pair].first}, split},
          {{false, form.pairs[pair].second}, length - split}};
}

template <class S>
Word LengthTable::draw(int length, Random& random) const {
  Word word;
  word.reserve(length);
  std::vector<Part> stack{{{false, grammar_.start()}, length}};
  const StopCheck stop;
  while (!stack.empty()) {
    stop();
    const auto part = stack.back();
    stack.pop_back();
    if (part.symbol.terminal) {
      word.push_back(part.symbol.id);
      continue;
    }
    const int left = draw_left<S>(part.symbol.id, part.length, random);
    const auto expansion = draw_rule<S>(left, part.length, random);
    if (expansion.second.length > 0) stack.push_back(expansion.second);
    stack.push_back(expansion.first);
  }
  return word;
}

template <class S>
double LengthTable::mass_of(Symbol symbol, int length) const {
  if (symbol.terminal) return length == 1 ? S::from_weight(1.0) : S::zero();
  if (length > 0) return after_[at(symbol.id, length)];
  return S::from_weight(grammar_.normal_form().nullable[symbol.id]);
}

// Draws top-down. The masses solve T[A,l] = sum over the rules of A and over the lengths of their
// parts, including epsilon and unary rules, so each choice is drawn in proportion to its summand.
template <class S>
std::vector<int> LengthTable::derive(int length, Random& random) const {
  const auto& form = grammar_.normal_form();
  std::vector<int> derivation;
  std::vector<Part> stack{{{false, form.start}, length}};
  const StopCheck stop;
  while (!stack.empty()) {
    stop();
    const auto [symbol, l] = stack.back();
    stack.pop_back();
    if (symbol.terminal) continue;
    const double whole = mass_of<S>(symbol, l);
    Wheel wheel(random.uniform());
    const ShortRule* chosen = nullptr;
    int split = 0;  // length of the first part
    // Returns true once the wheel stops; until then the last choice with a positive share is kept.
    const auto consider = [&](const ShortRule& rule, int first, double below) {
      const double share = S::ratio(S::times(S::from_weight(rule.weight), below), whole);
      if (share > 0) chosen = &rule, split = first;
      return wheel.stops_at(share);
    };
    const auto walk = [&] {
      for (const int r : left_sides_[symbol.id].whole) {
        const auto& rule = form.short_rules[r];
        if (rule.right.empty()) {
          if (l == 0 && consider(rule, 0, S::from_weight(1.0))) return;
        } else if (rule.right.size() == 1) {
          if (consider(rule, l, mass_of<S>(rule.right[0], l))) return;
        } else {
          const int low = rule.right[0].terminal ? 1 : rule.right[1].terminal ? l - 1 : 0;
          const int high = rule.right[0].terminal ? 1 : rule.right[1].terminal ? l - 1 : l;
          for (int k = std::max(0, low); k <= std::min(high, l); ++k)
            if (consider(rule, k,
                         S::times(mass_of<S>(rule.right[0], k), mass_of<S>(rule.right[1], l - k))))
              return;
        }
      }
    };
    walk();
    check(chosen != nullptr, "grammar.sample",
          "the weights of length {} are outside the floating-point range", length);
    if (chosen->rule >= 0) derivation.push_back(chosen->rule);
    if (chosen->right.size() == 2) stack.push_back({chosen->right[1], l - split});
    if (!chosen->right.empty()) stack.push_back({chosen->right[0], split});
  }
  return derivation;
}

std::vector<int> LengthTable::sample_derivation(int length, Random& random) const {
  check(has_strings(length), "grammar.sample", "there are no strings of length {}", length);
  return logarithms_ ? derive<Log>(length, random) : derive<Real>(length, random);
}

std::vector<double> LengthTable::derivation_entropies() const {
  return logarithms_ ? entropies<Log>() : entropies<Real>();
}

// Computes the mean of log weight(d) over the derivations of each (nonterminal, length), in the
// same order as the masses: a choice of share q adds q (log of its weight + means of its parts).
template <class S>
std::vector<double> LengthTable::entropies() const {
  const auto& form = grammar_.normal_form();
  const std::size_t cells = static_cast<std::size_t>(form.size) * (max_length_ + 1);
  std::vector<double> before(cells, 0.0), after(cells, 0.0);
  std::vector<double> result(max_length_ + 1, 0.0);
  const StopCheck stop;
  for (int l = 1; l <= max_length_; ++l) {
    const auto add = [&](int left, double weight, double below, double mean_below) {
      const double share = S::ratio(S::times(S::from_weight(weight), below), before_[at(left, l)]);
      if (share > 0) before[at(left, l)] += share * (std::log(weight) + mean_below);
    };
    const double one = S::from_weight(1.0);
    if (l == 1)
      for (const auto& r : form.lexical) add(r.left, r.weight, one, 0.0);
    if (l == 2)
      for (const auto& r : form.terminal_pairs) add(r.left, r.weight, one, 0.0);
    for (const auto& r : form.terminal_left)
      add(r.left, r.weight, after_[at(r.nonterminal, l - 1)], after[at(r.nonterminal, l - 1)]);
    for (const auto& r : form.terminal_right)
      add(r.left, r.weight, after_[at(r.nonterminal, l - 1)], after[at(r.nonterminal, l - 1)]);
    for (std::size_t p = 0; p < form.pairs.size(); ++p) {
      const auto& pair = form.pairs[p];
      const double whole = pair_mass_[at(static_cast<int>(p), l)];
      if (whole == S::zero()) continue;
      stop();
      double mean = 0;
      for (int k = 1; k < l; ++k) {
        const double share =
            S::ratio(S::times(after_[at(pair.first, k)], after_[at(pair.second, l - k)]), whole);
        if (share > 0) mean += share * (after[at(pair.first, k)] + after[at(pair.second, l - k)]);
      }
      for (const auto& [left, weight] : pair.lefts) add(left, weight, whole, mean);
    }
    for (int a = 0; a < form.size; ++a) {
      const double whole = after_[at(a, l)];
      if (whole == S::zero()) continue;
      for (const auto& entry : form.closure[a]) {
        const double below = before_[at(entry.from, l)];
        const double share = S::ratio(S::times(S::from_weight(entry.weight), below), whole);
        if (share > 0)
          after[at(a, l)] += share * (std::log(entry.weight) + before[at(entry.from, l)]);
      }
    }
    if (has_strings(l)) result[l] = std::max(0.0, log_mass(l) - after[at(form.start, l)]);
  }
  return result;
}

std::string length_text(std::int64_t shortest, std::int64_t longest) {
  return "length " + std::to_string(shortest) +
         (shortest == longest ? "" : " to " + std::to_string(longest));
}

}  // namespace pushdown
