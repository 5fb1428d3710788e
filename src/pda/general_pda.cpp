#include "pda/general_pda.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/check.h"
#include "base/stopping.h"
#include "grammar/useless_symbols.h"
#include "pda/from_grammar.h"
#include "pda/reachability.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "pda.load";

using Strings = std::vector<std::string>;

std::string shown_name(const GeneralPda& general) {
  return general.name.empty() ? "the file" : general.name;
}

// Describes the moves that never apply, because they pop what is never on the stack.
std::vector<std::string> impossible_moves(const GeneralPda& general) {
  std::set<std::string> on_stack{general.bottom};
  const auto missing = [&](const GeneralMove& move) {
    return std::find_if(move.pop.begin(), move.pop.end(),
                        [&](const auto& symbol) { return !on_stack.contains(symbol); });
  };
  for (std::size_t known = 0; known < on_stack.size();) {
    known = on_stack.size();
    for (const auto& move : general.moves)
      if (missing(move) == move.pop.end()) on_stack.insert(move.push.begin(), move.push.end());
  }
  std::vector<std::string> lines;
  for (const auto& move : general.moves)
    if (const auto symbol = missing(move); symbol != move.pop.end())
      lines.push_back(fmt::format(
          "{}: the transition pops '{}', which is never on the stack; the stack begins with {}",
          move.origin.empty() ? shown_name(general) : move.origin, *symbol, general.bottom));
  return lines;
}

// The conversion that keeps states and stack symbols.
class DirectConversion {
 public:
  explicit DirectConversion(const GeneralPda& general) : general_(general) {
    tops_.insert(general.bottom);
    for (const auto& move : general.moves) {
      tops_.insert(move.pop.begin(), move.pop.end());
      tops_.insert(move.push.begin(), move.push.end());
      by_state_[move.state].push_back(&move);
    }
    empty_ = "\xE2\x8A\xA5";  // the top of an empty stack
    while (tops_.contains(empty_)) empty_ += "'";
  }

  std::optional<Pda> run() {
    for (const auto& move : general_.moves)
      if (!is_direct(move)) return std::nullopt;
    if (is_emptied_) tops_.insert(empty_);
    PdaSource source;
    source.name = general_.name;
    source.start = general_.start;
    source.bottom = general_.bottom;
    source.stack_symbols = {general_.bottom};
    for (const auto& top : tops_)
      if (top != general_.bottom) source.stack_symbols.push_back(top);
    add_transitions(source);
    if (source.transitions.empty()) return std::nullopt;
    Strings symbols;
    for (const auto& t : source.transitions)
      if (std::find(symbols.begin(), symbols.end(), t.symbol) == symbols.end())
        symbols.push_back(t.symbol);
    source.symbols = std::move(symbols);
    return accepting(source) ? std::optional(Pda(source)) : std::nullopt;
  }

 private:
  bool is_direct(const GeneralMove& move) {
    const auto& [state, next, read, pop, push, origin] = move;
    if (read.size() > 1 || pop.size() > 1) return false;
    const auto& bottom = general_.bottom;
    // Nothing happens after a pop of the bottom into a state without moves.
    const bool only_ends = pop == Strings{bottom} && push.empty() && !by_state_.contains(next);
    if (read.empty()) return pop == push || only_ends;
    if (pop.empty()) return push.empty() || (push.size() == 1 && push[0] != bottom);
    if (push.empty()) {
      is_emptied_ = is_emptied_ || pop[0] == bottom;
      return true;
    }
    if (push.size() > 2 || (push.size() == 2 && push[1] != pop[0])) return false;
    // The symbol at the bottom stays there, and is nowhere else.
    if (push.size() == 2) return push[0] != bottom;
    return (push[0] == bottom) == (pop[0] == bottom);
  }

  // Returns the states that moves without input lead to while this symbol is the top.
  const Strings& closure(const std::string& state, const std::string& top) {
    auto& found = closures_[{state, top}];
    if (!found.empty()) return found;
    found = {state};
    for (std::size_t k = 0; k < found.size(); ++k)  // found grows
      for (const auto* move : by_state_[found[k]])
        if (move->read.empty() && (move->pop.empty() || move->pop[0] == top) &&
            std::find(found.begin(), found.end(), move->next) == found.end())
          found.push_back(move->next);
    return found;
  }

  void add_transitions(PdaSource& source) {
    std::set<
        std::tuple<std::string, std::string, std::string, std::string, StackAction, std::string>>
        seen;
    Strings states{general_.start};
    const StopCheck stop;
    for (std::size_t k = 0; k < states.size(); ++k)  // states grows
      for (const auto& top : source.stack_symbols)
        for (const auto& from : closure(states[k], top))
          for (const auto* move : by_state_[from]) {
            stop();
            if (move->read.empty() || (!move->pop.empty() && move->pop[0] != top)) continue;
            auto t = transition(*move, states[k], top);
            if (!seen.emplace(t.state, t.top, t.symbol, t.next, t.action, t.pushed).second)
              continue;
            if (std::find(states.begin(), states.end(), t.next) == states.end())
              states.push_back(t.next);
            source.transitions.push_back(std::move(t));
          }
    source.states = states;
  }

  TransitionPattern transition(const GeneralMove& move, const std::string& state,
                               const std::string& top) const {
    TransitionPattern t{state, top, move.read[0], move.next};
    t.origin = move.origin;
    if (move.push.size() > move.pop.size()) {
      t.action = StackAction::push;
      t.pushed = move.push[0];
    } else if (move.push.size() == move.pop.size()) {
      t.action = StackAction::replace;
      t.pushed = move.push.empty() ? top : move.push[0];
    } else if (top == general_.bottom) {
      t.action = StackAction::replace;
      t.pushed = empty_;
    }
    return t;
  }

  // Returns whether a run may end in this state with this top.
  bool may_end(const std::string& state, const std::string& top) {
    const auto& ends = closure(state, top);
    if (!general_.by_empty_stack)
      return std::any_of(ends.begin(), ends.end(), [&](const std::string& end) {
        return std::find(general_.final.begin(), general_.final.end(), end) != general_.final.end();
      });
    if (top == empty_ || top != general_.bottom) return top == empty_;
    return std::any_of(ends.begin(), ends.end(), [&](const std::string& end) {
      const auto& moves = by_state_[end];
      return std::any_of(moves.begin(), moves.end(), [&](const GeneralMove* move) {
        return move->read.empty() && move->pop == Strings{top} && move->push.empty();
      });
    });
  }

  // Finds the accepting states, which may depend on the top only in being at the bottom.
  bool accepting(PdaSource& source) {
    source.accepting = {{general_.start, 1}};  // any, until they are known
    const Pda pda(source);
    std::map<std::string, std::set<bool>> answers;
    std::set<std::string> at_bottom;
    bool elsewhere = false;
    for (const auto& [q, x] : reachable(pda).pairs) {
      const auto &state = pda.states()[q], &top = pda.stack_symbols()[x];
      const bool accepts = may_end(state, top);
      answers[state].insert(accepts);
      if (accepts && x == 0) at_bottom.insert(state);
      elsewhere = elsewhere || (accepts && x != 0);
    }
    const bool depends = std::any_of(answers.begin(), answers.end(),
                                     [](const auto& entry) { return entry.second.size() == 2; });
    if (depends && elsewhere) return false;
    source.at_bottom = depends;
    source.accepting.clear();
    for (const auto& state : source.states)
      if (depends ? at_bottom.contains(state) : answers[state].contains(true))
        source.accepting.emplace_back(state, 1.0);
    return !source.accepting.empty();
  }

  const GeneralPda& general_;
  std::map<std::string, std::vector<const GeneralMove*>> by_state_;
  std::set<std::string> tops_;
  std::string empty_;
  bool is_emptied_ = false;
  std::map<std::pair<std::string, std::string>, Strings> closures_;
};

// The conversion through a grammar. Moves are divided into steps that read at most one symbol and
// push or pop at most one.
class GrammarConversion {
 public:
  // `warnings`: those of impossible_moves(), for messages.
  GrammarConversion(const GeneralPda& general, const std::vector<std::string>& warnings)
      : general_(general), warnings_(warnings) {
    std::map<std::string, int> numbers;
    const auto number = [&](const std::string& state) {
      const auto [place, is_new] = numbers.try_emplace(state, states_);
      if (is_new) whole_.insert(states_++);
      return place->second;
    };
    const int begin = states_++;
    steps_.push_back({begin, number(general.start), "", general.bottom, Kind::push});
    for (const auto& move : general.moves) divide(move, number(move.state), number(move.next));
    for (const auto& state : general.final) final_.insert(number(state));
  }

  Pda run() {
    find_pairs();
    make_rules();
    std::vector<std::string> removed;
    const bool none = source_.rules.empty() ||
                      std::none_of(source_.rules.begin(), source_.rules.end(),
                                   [&](const auto& rule) { return rule.left == source_.start; });
    std::optional<Grammar> grammar;
    if (!none) grammar = productive(removed);
    check(grammar || warnings_.empty(), kWhere, "{}, so the automaton accepts no string",
          warnings_.empty() ? "" : warnings_.front());
    check(grammar.has_value(), kWhere, "{}: the automaton accepts no string", shown_name(general_));
    check(
        grammar->alphabet().size() > 0, kWhere,
        "{}: the automaton accepts only the empty string, and every transition must read a symbol",
        shown_name(general_));
    auto source = from(*grammar).source();
    source.name = general_.name;
    for (auto& t : source.transitions) t.weight = 1;
    for (auto& [state, weight] : source.accepting) weight = 1;
    return Pda(source);
  }

 private:
  enum class Kind { neutral, push, pop };
  struct Step {
    int from, to;
    std::string read;    // empty: none
    std::string symbol;  // pushed or popped
    Kind kind;
  };

  void divide(const GeneralMove& move, int from, int to) {
    std::vector<std::pair<Kind, std::string>> parts;
    for (const auto& symbol : move.pop) parts.emplace_back(Kind::pop, symbol);
    for (auto symbol = move.push.rbegin(); symbol != move.push.rend(); ++symbol)
      parts.emplace_back(Kind::push, *symbol);
    while (parts.size() < std::max<std::size_t>(move.read.size(), 1))
      parts.emplace_back(Kind::neutral, "");
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const int next = k + 1 == parts.size() ? to : states_++;
      steps_.push_back(
          {from, next, k < move.read.size() ? move.read[k] : "", parts[k].second, parts[k].first});
      from = next;
    }
  }

  // Finds all (p, r) for which B[p,r] derives a string.
  void find_pairs() {
    std::map<int, std::vector<const Step*>> neutral_into, push_into, pop_from;
    for (const auto& step : steps_) {
      if (step.kind == Kind::neutral) neutral_into[step.to].push_back(&step);
      if (step.kind == Kind::push) push_into[step.to].push_back(&step);
      if (step.kind == Kind::pop) pop_from[step.from].push_back(&step);
    }
    std::vector<std::pair<int, int>> open;
    std::size_t count = 0;
    const auto add = [&](int p, int r) {
      if (!pairs_[p].insert(r).second) return;
      open.emplace_back(p, r);
      check_size(++count);
    };
    std::map<int, std::set<int>> jumps_into;  // by a push and its pop
    for (int p = 0; p < states_; ++p) add(p, p);
    const StopCheck stop;
    while (!open.empty()) {
      stop();
      const auto [p, r] = open.back();
      open.pop_back();
      for (const auto* step : neutral_into[p]) add(step->from, r);
      for (const int from : std::set<int>(jumps_into[p])) add(from, r);
      for (const auto* push : push_into[p])
        for (const auto* pop : pop_from[r]) {
          if (push->symbol != pop->symbol) continue;
          jumps_into[pop->to].insert(push->from);
          for (const int end : std::set<int>(pairs_[pop->to])) add(push->from, end);
        }
    }
  }

  void check_size(std::size_t rules) const {
    constexpr std::size_t kMost = 200'000;
    check(rules < kMost, kWhere, "{}: the conversion needs a grammar of more than {} rules",
          shown_name(general_), kMost);
  }

  std::string pair_name(int p, int r) const { return fmt::format("B{}.{}", p, r); }
  std::string end_name(int p) const { return fmt::format("E{}", p); }

  void add(const std::string& left, const std::string& first, const std::string& middle,
           const std::string& second, const std::string& last) {
    check_size(source_.rules.size());
    NamedRule rule{left, {}};
    if (!first.empty()) rule.right.push_back({true, first});
    if (!middle.empty()) rule.right.push_back({false, middle});
    if (!second.empty()) rule.right.push_back({true, second});
    if (!last.empty()) rule.right.push_back({false, last});
    source_.rules.push_back(std::move(rule));
  }

  void make_rules() {
    source_.start = end_name(0);
    const StopCheck stop;
    for (int p = 0; p < states_; ++p) add(pair_name(p, p), "", "", "", "");
    if (general_.by_empty_stack) {
      for (const int r : pairs_[0])
        if (whole_.contains(r)) add(end_name(0), "", pair_name(0, r), "", "");
    } else {
      for (const int p : final_) add(end_name(p), "", "", "", "");
    }
    for (const auto& step : steps_) {
      stop();
      if (step.kind == Kind::pop) continue;
      if (!general_.by_empty_stack) add(end_name(step.from), step.read, "", "", end_name(step.to));
      if (step.kind == Kind::neutral)
        for (const int r : pairs_[step.to])
          add(pair_name(step.from, r), step.read, pair_name(step.to, r), "", "");
      if (step.kind != Kind::push) continue;
      for (const auto& pop : steps_) {
        if (pop.kind != Kind::pop || pop.symbol != step.symbol ||
            !pairs_[step.to].contains(pop.from))
          continue;
        const auto middle = pair_name(step.to, pop.from);
        if (!general_.by_empty_stack)
          add(end_name(step.from), step.read, middle, pop.read, end_name(pop.to));
        for (const int r : pairs_[pop.to])
          add(pair_name(step.from, r), step.read, middle, pop.read, pair_name(pop.to, r));
      }
    }
  }

  // Converts the grammar. Its errors say what the user asked for.
  Pda from(const Grammar& grammar) const {
    try {
      return pda_from_grammar(grammar);
    } catch (const std::invalid_argument& error) {
      fail(kWhere, "{}: the automaton cannot be converted through its grammar of {} rules: {}",
           shown_name(general_), grammar.rules().size(), error.what());
    }
  }

  // Returns the grammar, or nothing if its start symbol derives no string.
  std::optional<Grammar> productive(std::vector<std::string>& removed) {
    for (const auto& symbol : find_useless_symbols(source_).unproductive)
      if (symbol.name == source_.start) return std::nullopt;
    return Grammar(without_useless_symbols(source_, removed));
  }

  const GeneralPda& general_;
  const std::vector<std::string>& warnings_;
  int states_ = 0;
  std::set<int> whole_;  // states that are not inside of a move, without the one before the start
  std::vector<Step> steps_;
  std::set<int> final_;
  std::map<int, std::set<int>> pairs_;
  GrammarSource source_;
};

}  // namespace

ConvertedPda converted(const GeneralPda& general) {
  auto warnings = impossible_moves(general);
  if (auto direct = DirectConversion(general).run())
    return {*std::move(direct), true, std::move(warnings)};
  return {GrammarConversion(general, warnings).run(), false, std::move(warnings)};
}

}  // namespace pushdown
