#include "pda/minimisation.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/check.h"
#include "base/stopping.h"
#include "pda/reachability.h"

namespace pushdown {
namespace {

using Letter = std::pair<int, int>;                      // top, symbol
using Rows = std::vector<std::map<Letter, Transition>>;  // per state

Rows rows_of(const Pda& pda, std::string_view where) {
  check(pda.deterministic(), where, "the automaton{} must be deterministic",
        pda.name().empty() ? "" : " " + pda.name());
  Rows rows(pda.states().size());
  for (const auto& t : pda.transitions()) {
    if (t.weight == 0) continue;
    check(t.weight == 1, where, "weights must be 1, got {} in {}", t.weight,
          pda.transition_text(t));
    rows[t.state][{t.top, t.symbol}] = t;
  }
  return rows;
}

std::size_t transitions_in(const Rows& rows) {
  std::size_t count = 0;
  for (const auto& row : rows) count += row.size();
  return count;
}

Reachable reachable_in(const Rows& rows) {
  return reachable(0, [&](int state, int top) {
    std::vector<PushdownMove> moves;
    for (auto at = rows[state].lower_bound({top, 0});
         at != rows[state].end() && at->first.first == top; ++at)
      moves.push_back({at->second.next, at->second.action, at->second.pushed});
    return moves;
  });
}

// Returns the states from which transitions lead to an accepting state.
std::vector<bool> hopeful(const Rows& rows, const std::vector<bool>& accepting) {
  auto hope = accepting;
  const StopCheck stop;
  for (bool changed = true; changed;) {
    stop();
    changed = false;
    for (std::size_t q = 0; q < rows.size(); ++q)
      for (const auto& [letter, t] : rows[q])
        if (!hope[q] && hope[t.next]) hope[q] = changed = true;
  }
  return hope;
}

// Returns the class of each state, refined until it is stable.
std::vector<int> classes_of(const Rows& rows, const std::vector<int>& first) {
  const StopCheck stop;
  auto classes = first;
  for (std::size_t count = 0;;) {
    using Signature = std::vector<std::tuple<Letter, StackAction, int, int>>;
    std::map<std::pair<int, Signature>, int> numbers;
    std::vector<int> next(rows.size());
    for (std::size_t q = 0; q < rows.size(); ++q) {
      stop();
      Signature signature;
      for (const auto& [letter, t] : rows[q])
        signature.emplace_back(letter, t.action, t.pushed, classes[t.next]);
      next[q] = numbers.emplace(std::pair(classes[q], signature), numbers.size()).first->second;
    }
    classes = std::move(next);
    if (numbers.size() == count) return classes;
    count = numbers.size();
  }
}

// Returns the states reachable from the start state by transitions, in breadth-first order.
std::vector<int> walk(const Rows& rows) {
  std::vector<int> order{0};
  std::set<int> seen{0};
  for (std::size_t at = 0; at < order.size(); ++at)
    for (const auto& [letter, t] : rows[order[at]])
      if (seen.insert(t.next).second) order.push_back(t.next);
  return order;
}

// Merges states as long as no reachable situation distinguishes them: if two of them share a top,
// their transitions go to states that are merged as well.
class Grouping {
 public:
  static constexpr int kDead = 2;

  // `leaders`: the representative of each state so far; `answer`: 0 or 1, -1 if either would do,
  // kDead.
  template <class Answer>
  Grouping(const Rows& rows, const std::vector<int>& leaders, const std::vector<int>& order,
           const Answer& answer)
      : order_(order) {
    now_.leaders = leaders;
    now_.groups.resize(rows.size());
    now_.ranks.resize(rows.size());
    for (std::size_t i = 0; i < order.size(); ++i) now_.ranks[order[i]] = i;
    for (const int q : order) {
      auto& group = now_.groups[leaders[q]];
      group.rows.insert(rows[q].begin(), rows[q].end());
      if (answer(q) >= 0) group.answer = answer(q);
    }
  }
  // Records that the state occurs with this top.
  void see(int state, int top) { now_.groups.at(now_.leaders.at(state)).tops.insert(top); }
  int group(int state) const { return now_.leader(state); }

  // Returns the transitions of the first state of each group; all other rows are empty.
  Rows run() {
    std::vector<int> kept;
    for (const int q : order_) {
      if (now_.leader(q) != q) continue;
      const auto joins = [&](int other) {
        if (now_.leader(other) != other) return false;
        Partition attempt = now_;
        if (!attempt.join(other, q)) return false;
        now_ = std::move(attempt);
        return true;
      };
      if (order_.size() > kMostTried || std::none_of(kept.begin(), kept.end(), joins))
        kept.push_back(q);
    }
    Rows rows(now_.groups.size());
    for (std::size_t q = 0; q < rows.size(); ++q) {
      if (now_.leader(static_cast<int>(q)) != static_cast<int>(q)) continue;
      rows[q] = now_.groups[q].rows;
      for (auto& [letter, t] : rows[q]) t.next = now_.leader(t.next);
    }
    return rows;
  }

 private:
  static constexpr std::size_t kMostTried = 100;

  struct Group {
    std::set<int> tops;
    std::map<Letter, Transition> rows;
    int answer = -1;
  };
  struct Partition {
    std::vector<Group> groups;
    std::vector<int> leaders;
    std::vector<std::size_t> ranks;  // positions in breadth-first order; the first state leads

    int leader(int q) const {
      while (leaders.at(q) != q) q = leaders[q];
      return q;
    }
    // Returns false if they differ; the partition is then invalid.
    bool join(int a, int b) {
      a = leader(a);
      b = leader(b);
      if (a == b) return true;
      if (ranks[b] < ranks[a]) std::swap(a, b);
      Group& one = groups[a];
      const Group two = groups[b];
      if (one.answer >= 0 && two.answer >= 0 && one.answer != two.answer) return false;
      if ((one.answer == kDead) != (two.answer == kDead)) return false;
      std::vector<std::pair<int, int>> next;
      const auto covered = [](const Group& group, const Group& other) {
        return std::all_of(group.rows.begin(), group.rows.end(), [&](const auto& row) {
          return !other.tops.contains(row.first.first) || other.rows.contains(row.first);
        });
      };
      if (!covered(one, two) || !covered(two, one)) return false;
      for (const auto& [letter, t] : two.rows) {
        const auto found = one.rows.find(letter);
        if (found == one.rows.end()) continue;
        if (found->second.action != t.action || found->second.pushed != t.pushed) return false;
        next.emplace_back(found->second.next, t.next);
      }
      one.rows.insert(two.rows.begin(), two.rows.end());
      one.tops.insert(two.tops.begin(), two.tops.end());
      one.answer = std::max(one.answer, two.answer);
      leaders[b] = a;
      return std::all_of(next.begin(), next.end(),
                         [&](const auto& pair) { return join(pair.first, pair.second); });
    }
  };

  std::vector<int> order_;
  Partition now_;
};

}  // namespace

Pda minimal(const Pda& pda, bool keep_dead) {
  const auto all = rows_of(pda, "pda.minimal");
  auto rows = all;
  Reachable reached;
  std::vector<bool> accepting(rows.size()), hope;
  // Removing states can make others useless.
  for (std::size_t before = 0, after = 1; before != after;) {
    before = transitions_in(rows);
    reached = reachable_in(rows);
    for (std::size_t q = 0; q < rows.size(); ++q)
      accepting[q] = pda.accepting()[q] > 0 &&
                     (!pda.at_bottom() || reached.at_bottom.contains(static_cast<int>(q)));
    for (auto& row : rows)
      std::erase_if(row, [&](const auto& entry) {
        return !reached.pairs.contains({entry.second.state, entry.second.top});
      });
    hope = hopeful(rows, accepting);
    hope[0] = true;  // there must be a start state
    for (auto& row : rows)
      std::erase_if(row, [&](const auto& entry) { return !hope[entry.second.next]; });
    after = transitions_in(rows);
  }
  // An automaton needs a transition. If none leads to acceptance, keep those into the dead state.
  keep_dead = keep_dead || transitions_in(rows) == 0;
  int dead = -1;
  for (std::size_t q = 0; q < rows.size() && keep_dead; ++q)
    for (auto [letter, t] : all[q]) {
      if (rows[q].contains(letter) || !hope[q]) continue;
      if (!reached.pairs.contains({t.state, t.top})) continue;
      if (dead < 0) dead = t.next;
      // The stack no longer matters there.
      t.next = dead;
      t.action = StackAction::replace;
      t.pushed = t.top;
      rows[q][letter] = t;
    }
  std::vector<int> first(rows.size());
  for (std::size_t q = 0; q < rows.size(); ++q) {
    first[q] = static_cast<int>(q) == dead ? 2 : accepting[q];
    if (static_cast<int>(q) == dead) rows[q].clear();
  }
  const auto classes = classes_of(rows, first);
  std::vector<int> leader(rows.size(), -1);  // first state of each class in breadth-first order
  auto order = walk(rows);
  for (const int q : order)
    if (leader[classes[q]] < 0) leader[classes[q]] = q;
  std::vector<int> leaders(rows.size());
  for (std::size_t q = 0; q < rows.size(); ++q) {
    // If no state of the class is reachable, each represents itself and is removed.
    const int first_met = leader[classes[q]];
    leaders[q] = first_met >= 0 ? first_met : static_cast<int>(q);
  }
  Grouping grouping(rows, leaders, order, [&](int q) {
    if (q == dead) return Grouping::kDead;
    // Acceptance matters only there.
    const bool asked = !pda.at_bottom() || reached.at_bottom.contains(q);
    return asked ? static_cast<int>(accepting[q]) : -1;
  });
  for (const auto& [state, top] : reached.pairs) grouping.see(state, top);
  rows = grouping.run();
  for (const int q : order)
    if (accepting[q]) accepting[grouping.group(q)] = true;

  auto source = pda.source();
  const auto& names = pda.states();
  source.states.clear();
  source.transitions.clear();
  source.accepting.clear();
  source.dead.clear();
  source.start = names[0];
  order = walk(rows);
  std::stable_partition(order.begin(), order.end(), [&](int q) { return q != dead; });
  for (const int q : order) {
    source.states.push_back(names[q]);
    if (accepting[q]) source.accepting.emplace_back(names[q], 1.0);
    if (q == dead) source.dead.push_back(names[q]);
    for (const auto& [letter, t] : rows[q])
      source.transitions.push_back({names[q],
                                    pda.stack_symbols()[t.top],
                                    pda.alphabet().symbol(t.symbol),
                                    names[t.next],
                                    t.action,
                                    t.pushed < 0 ? "" : pda.stack_symbols()[t.pushed],
                                    1.0,
                                    {},
                                    t.origin});
  }
  check(!source.transitions.empty(), "pda.minimal",
        "no transition of the automaton{} is reachable from its start",
        pda.name().empty() ? "" : " " + pda.name());
  // An empty list would make all states accept.
  if (source.accepting.empty()) source.accepting.emplace_back(source.start, 0);
  return Pda(source);
}

bool isomorphic(const Pda& a, const Pda& b) {
  constexpr auto kWhere = "pda.isomorphic";
  const auto rows_a = rows_of(a, kWhere), rows_b = rows_of(b, kWhere);
  if (a.at_bottom() != b.at_bottom()) return false;
  // Symbols are compared by name; the bottom symbols are equal whatever their names.
  const auto stack_name = [](const Pda& pda, int symbol) {
    return symbol <= 0 ? std::string(symbol < 0 ? "-" : "") : pda.stack_symbols()[symbol];
  };
  using Named = std::map<std::pair<std::string, std::string>, const Transition*>;
  const auto named = [&](const Pda& pda, const std::map<Letter, Transition>& row) {
    Named result;
    for (const auto& [letter, t] : row)
      result[{stack_name(pda, t.top), pda.alphabet().symbol(t.symbol)}] = &t;
    return result;
  };
  std::map<int, int> image{{0, 0}}, preimage{{0, 0}};
  std::vector<int> order{0};
  for (std::size_t at = 0; at < order.size(); ++at) {
    const int q = order[at];
    if ((a.accepting()[q] > 0) != (b.accepting()[image[q]] > 0)) return false;
    const auto row_a = named(a, rows_a[q]), row_b = named(b, rows_b[image[q]]);
    if (row_a.size() != row_b.size()) return false;
    for (const auto& [letter, t] : row_a) {
      const auto other = row_b.find(letter);
      if (other == row_b.end() || t->action != other->second->action ||
          stack_name(a, t->pushed) != stack_name(b, other->second->pushed))
        return false;
      const auto [there, is_new] = image.emplace(t->next, other->second->next);
      const auto [back, is_new_back] = preimage.emplace(other->second->next, t->next);
      if (there->second != other->second->next || back->second != t->next) return false;
      if (is_new) order.push_back(t->next);
    }
  }
  return true;
}

Pda merged(const std::vector<Pda>& parts) {
  constexpr auto kWhere = "pda.merged";
  check(!parts.empty(), kWhere, "expected at least one automaton, got none");
  if (parts.size() == 1) return parts[0];
  PdaSource all = parts[0].source();
  // The weight 0 of source() means "no state accepts"; an unnamed accepting set stays open.
  all.name.clear();
  all.accepting.clear();
  const auto add = [](std::vector<std::string>& list, const std::vector<std::string>& more) {
    for (const auto& name : more)
      if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
  };
  std::map<std::string, double> accepting;
  bool named = false;
  std::set<std::tuple<std::string, std::string, std::string, std::string, int, std::string, double>>
      seen;
  all.transitions.clear();
  const Pda* first_strength = nullptr;
  for (const auto& part : parts) {
    const auto source = part.source();
    check(source.start == all.start && source.bottom == all.bottom, kWhere,
          "the automata must have the same start state and bottom symbol: {} has {} and {}, {} has "
          "{} and {}",
          parts[0].name(), all.start, all.bottom, part.name(), source.start, source.bottom);
    add(all.states, source.states);
    add(all.symbols, source.symbols);
    add(all.stack_symbols, source.stack_symbols);
    add(all.dead, source.dead);
    all.name += (all.name.empty() ? "" : "+") + source.name;
    all.at_bottom = all.at_bottom || source.at_bottom;
    if (part.names_accepting()) {
      std::map<std::string, double> own(source.accepting.begin(), source.accepting.end());
      check(!named || own == accepting, kWhere,
            "{} has different accepting states than the automata before it", part.name());
      accepting = own;
      named = true;
    }
    if (source.strength) {
      check(!first_strength || *first_strength->strength() == *source.strength, kWhere,
            "the automata must have the same strength: {} has {}, {} has {}",
            first_strength ? first_strength->name() : "",
            first_strength ? *first_strength->strength() : 0, part.name(), *source.strength);
      if (!first_strength) first_strength = &part;
      all.strength = source.strength;
    }
    for (const auto& t : source.transitions)
      if (seen.insert({t.state, t.top, t.symbol, t.next, static_cast<int>(t.action), t.pushed,
                       t.weight})
              .second)
        all.transitions.push_back(t);
  }
  all.accepting.assign(accepting.begin(), accepting.end());
  return Pda(all);
}

}  // namespace pushdown
