#include "pda/string_automaton.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/stopping.h"
#include "grammar/inside.h"
#include "grammar/semiring.h"

namespace pushdown {
namespace {

void apply(const Move& move, std::vector<int>& stack) {
  if (move.action != StackAction::push) stack.pop_back();
  if (move.action != StackAction::pop) stack.push_back(move.pushed);
}

bool possible(const StringAutomaton& automaton, const Move& move, int state,
              const std::vector<int>& stack) {
  if (move.configuration != state * automaton.symbols() + stack.back()) return false;
  const std::size_t lowest = automaton.reexposed ? 1 : 2;
  if (move.action == StackAction::push) return true;
  return stack.size() >= (move.action == StackAction::replace ? lowest : lowest + 1);
}

}  // namespace

StringAutomaton on_string(const Pda& pda, const Word& word, bool reexposed) {
  check_word("pda", pda.alphabet(), word);
  StringAutomaton automaton;
  automaton.states = pda.states();
  automaton.stack_symbols = pda.stack_symbols();
  automaton.accepting = pda.accepting();
  automaton.at_bottom = pda.at_bottom();
  automaton.reexposed = reexposed;
  std::vector<std::vector<Move>> by_symbol(pda.alphabet().size());
  for (const auto& t : pda.transitions())
    if (t.weight > 0)
      by_symbol[t.symbol].push_back(
          {t.state * automaton.symbols() + t.top, t.next, t.action, t.pushed, std::log(t.weight)});
  for (const int symbol : word) {
    automaton.input.push_back(pda.alphabet().symbol(symbol));
    automaton.moves.push_back(by_symbol[symbol]);
  }
  return automaton;
}

std::vector<std::vector<int>> stacks_of(const StringAutomaton& automaton,
                                        const std::vector<Move>& moves) {
  std::vector<std::vector<int>> stacks{{0}};
  for (const auto& move : moves) {
    stacks.push_back(stacks.back());
    apply(move, stacks.back());
  }
  return stacks;
}

double log_accepting(const StringAutomaton& automaton, int state, const std::vector<int>& stack) {
  const bool ends = !automaton.at_bottom || stack == std::vector<int>{0};
  return ends ? std::log(automaton.accepting[state]) : kMinusInfinity;
}

// Depth first with an explicit stack of choices, because a string may be long.
std::vector<Run> all_runs(const StringAutomaton& automaton, bool accepted, std::int64_t limit) {
  check(limit >= 1, "pda.all_runs", "limit must be at least 1, got {}", limit);
  std::vector<Run> runs;
  std::vector<Move> moves;                    // taken
  std::vector<std::vector<int>> stacks{{0}};  // after each move
  std::vector<std::size_t> next{0};           // the next move to try at each time
  std::vector<double> weights{0};
  // For every stack element, the time at which the element below it was the top.
  std::vector<std::vector<int>> since{{-1}};
  std::int64_t tried = 0;
  const StopCheck stop;
  while (!next.empty()) {
    stop();
    const std::size_t time = moves.size();
    const int state = time == 0 ? 0 : moves.back().state;
    const bool whole = static_cast<int>(time) == automaton.length();
    if (whole) {
      double weight = weights.back();
      if (accepted) weight += log_accepting(automaton, state, stacks.back());
      if (weight > kMinusInfinity) runs.push_back({weight, moves});
    } else {
      const auto& choices = automaton.moves[time];
      while (next.back() < choices.size() &&
             !possible(automaton, choices[next.back()], state, stacks.back()))
        ++next.back();
      if (next.back() < choices.size()) {
        check(++tried <= limit, "pda.all_runs",
              "more than {} moves were tried; give a shorter string or a higher limit", limit);
        const auto& move = choices[next.back()++];
        auto after = since.back();
        if (move.action == StackAction::push) after.push_back(static_cast<int>(time));
        if (move.action == StackAction::pop) after.pop_back();
        const int reach = static_cast<int>(time) + 1 - after.back();
        if (automaton.window > 0 && reach > automaton.window) continue;
        since.push_back(std::move(after));
        moves.push_back(move);
        stacks.push_back(stacks.back());
        apply(move, stacks.back());
        weights.push_back(weights.back() + move.log_weight);
        next.push_back(0);
        continue;
      }
    }
    next.pop_back();
    stacks.pop_back();
    since.pop_back();
    weights.pop_back();
    if (!moves.empty()) moves.pop_back();
  }
  return runs;
}

}  // namespace pushdown
