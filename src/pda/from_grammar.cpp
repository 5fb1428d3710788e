#include "pda/from_grammar.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/check.h"
#include "base/stopping.h"
#include "grammar/equal_nonterminals.h"

namespace pushdown {
namespace {

constexpr int kEnd = -1;  // the accepting state
constexpr auto kBottom = "\xE2\x8A\xA5";

class Converter {
 public:
  using List = std::vector<int>;  // nonterminals; empty: the bottom symbol

  explicit Converter(const GreibachForm& form) : form_(form), by_left_(form.names.size()) {
    for (const auto& rule : form.rules) by_left_[rule.left].push_back(&rule);
  }

  // Only pairs of state and top that can occur together get transitions.
  void run(const Grammar& grammar) {
    constexpr std::size_t kMost = 300'000;
    const StopCheck stop;
    meet(form_.start, {});
    for (std::size_t k = 0; k < pairs_.size(); ++k) {  // pairs_ grows
      const auto [state, top] = pairs_[k];
      for (const auto* rule : by_left_[state]) {
        stop();
        follow(*rule, top);
        check(
            steps_.size() <= kMost, "pda.from_grammar",
            "the automaton of the grammar{}, of {} rules and {} in Greibach normal form, has more "
            "than {} transitions; the grammar itself answers grammar:contains, log_probability "
            "and strings",
            grammar.name().empty() ? "" : " " + grammar.name(), grammar.rules().size(),
            form_.rules.size(), kMost);
      }
    }
  }

  struct Step {
    const GreibachRule* rule;
    List top;
    int next;
    StackAction action;
    List pushed;
  };
  const std::vector<Step>& steps() const { return steps_; }

 private:
  void follow(const GreibachRule& rule, const List& top) {
    const auto& rest = rule.rest;
    if (rest.size() >= 2) {
      const List after(rest.begin() + 1, rest.end());
      steps_.push_back({&rule, top, rest[0], StackAction::push, after});
      put(after, top);
      meet(rest[0], after);
    } else if (rest.size() == 1) {
      steps_.push_back({&rule, top, rest[0], StackAction::replace, top});
      meet(rest[0], top);
    } else if (top.empty()) {
      steps_.push_back({&rule, top, kEnd, StackAction::replace, {}});
    } else if (top.size() >= 2) {
      const List after(top.begin() + 1, top.end());
      steps_.push_back({&rule, top, top[0], StackAction::replace, after});
      meet(top[0], after);
      // Everything below `top` is now also below `after`.
      if (shorter_[top].insert(after).second)
        for (const auto& below : std::set<List>(below_[top])) put(after, below);
    } else {
      steps_.push_back({&rule, top, top[0], StackAction::pop, {}});
      if (popped_.insert(top).second)
        for (const auto& below : below_[top]) meet(top[0], below);
    }
  }

  // Records that `list` may be directly above `below`.
  void put(const List& list, const List& below) {
    if (!below_[list].insert(below).second) return;
    StopCheck()();
    if (popped_.contains(list)) meet(list[0], below);
    for (const auto& after : std::set<List>(shorter_[list])) put(after, below);
  }

  void meet(int state, const List& top) {
    if (seen_.emplace(state, top).second) pairs_.emplace_back(state, top);
  }

  const GreibachForm& form_;
  std::vector<std::vector<const GreibachRule*>> by_left_;
  std::vector<std::pair<int, List>> pairs_;
  std::set<std::pair<int, List>> seen_;
  std::map<List, std::set<List>> below_, shorter_;
  std::set<List> popped_;
  std::vector<Step> steps_;
};

}  // namespace

Pda pda_from_grammar(const Grammar& grammar) {
  auto form = greibach_form(grammar);
  merge_equal_nonterminals(form);
  Converter converter(form);
  converter.run(grammar);
  check(!converter.steps().empty(), "pda.from_grammar",
        "the grammar{} derives only the empty string, and an automaton needs a symbol to read",
        grammar.name().empty() ? "" : " " + grammar.name());

  PdaSource source;
  source.name = grammar.name();
  source.bottom = kBottom;
  source.symbols = grammar.alphabet().symbols();
  source.start = form.names[form.start];
  source.at_bottom = true;
  std::string end = "end";
  while (std::find(form.names.begin(), form.names.end(), end) != form.names.end()) end += "'";
  source.accepting.emplace_back(end, 1.0);
  if (form.empty_mass > 0) source.accepting.emplace_back(source.start, form.empty_mass);

  // Lists of different nonterminals could give the same text if a name contains a dot.
  std::map<Converter::List, std::string> names;
  std::set<std::string> taken;
  const auto stack_name = [&](const Converter::List& list) -> const std::string& {
    auto& name = names[list];
    if (!name.empty()) return name;
    for (const int id : list) name += (name.empty() ? "" : ".") + form.names[id];
    if (list.empty()) name = kBottom;
    while (!taken.insert(name).second) name += "'";
    source.stack_symbols.push_back(name);
    return name;
  };
  stack_name({});
  const StopCheck stop;
  for (const auto& step : converter.steps()) {
    stop();
    TransitionPattern t;
    t.state = form.names[step.rule->left];
    t.top = stack_name(step.top);
    t.symbol = grammar.alphabet().symbol(step.rule->terminal);
    t.next = step.next == kEnd ? end : form.names[step.next];
    t.action = step.action;
    if (t.action != StackAction::pop) t.pushed = stack_name(step.pushed);
    t.weight = step.rule->weight;
    source.transitions.push_back(std::move(t));
  }
  return Pda(source);
}

}  // namespace pushdown
