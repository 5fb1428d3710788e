#include "model/rule_encoding.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/check.h"
#include "base/options.h"

namespace pushdown {
namespace {

constexpr auto kWhere = "model.insert_rules";
// The output layer's weights: logits of +-kOutput / 2.
constexpr double kOutput = 8;

using Triple = std::tuple<int, int, int>;  // state, top, symbol

std::string origin_of(const Transition& t) { return t.origin.empty() ? "" : t.origin + ": "; }

// Returns the ids, in the network's alphabet, of the automaton's symbols.
std::vector<int> input_ids(const Pda& pda, const Alphabet& alphabet) {
  std::vector<int> ids;
  for (const auto& symbol : pda.alphabet().symbols()) {
    const auto id = alphabet.find(symbol);
    if (!id) {
      const auto near = nearest_names(symbol, alphabet.symbols());
      std::string at;
      for (const auto& t : pda.transitions())
        if (at.empty() && pda.alphabet().symbol(t.symbol) == symbol) at = origin_of(t);
      fail(kWhere, "{}the network does not know the symbol '{}'{}; its symbols are {}", at, symbol,
           near.empty() ? "" : ", did you mean " + near + "?", quoted_list(alphabet.symbols()));
    }
    ids.push_back(*id);
  }
  return ids;
}

class RuleMaker {
 public:
  RuleMaker(const Pda& pda, const Alphabet& alphabet, const RuleChoices& choices)
      : pda_(pda), choices_(choices), symbols_(alphabet.size()), inputs_(input_ids(pda, alphabet)) {
    for (std::size_t x = 0; x < pda.stack_symbols().size(); ++x)
      tops_.push_back(x == 0 ? symbols_ : alphabet.find(pda.stack_symbols()[x]).value_or(-1));
  }

  RuleSet run() {
    name_states();
    set_.refusals.resize(pda_.transitions().size());
    for (std::size_t i = 0; i < pda_.transitions().size(); ++i) take(static_cast<int>(i));
    if (made_.empty()) {
      const auto& t = pda_.transitions()[0];
      fail(kWhere, "none of the {} transitions can be encoded; the first one, {}{}: {}",
           pda_.transitions().size(), origin_of(t), pda_.transition_text(t), set_.refusals[0]);
    }
    for (int q = 0; q < own_states_ && choices_.missing_trap; ++q)
      for (int k = 0; k <= symbols_; ++k)
        for (int l = 0; l < symbols_; ++l)
          if (!seen_.contains({q, k, l})) made_[{q, k, l}] = {q, k, l};
    if (set_.dead >= 0)
      for (int k = 0; k <= symbols_; ++k)
        for (int l = 0; l < symbols_ + choices_.end_symbol; ++l)
          made_[{set_.dead, k, l}] = {set_.dead, k, l,
                                      l < symbols_ ? set_.dead : EncodedRule::kTrap};
    add_acceptance();
    for (const auto& [triple, rule] : made_) set_.rules.push_back(rule);
    return set_;
  }

 private:
  bool acceptance_known() const { return pda_.names_accepting() || pda_.at_bottom(); }

  void name_states() {
    for (std::size_t q = 0; q < pda_.states().size(); ++q) {
      number_.push_back(pda_.dead()[q] ? EncodedRule::kTrap : static_cast<int>(set_.states.size()));
      if (!pda_.dead()[q]) set_.states.push_back(pda_.states()[q]);
    }
    own_states_ = static_cast<int>(set_.states.size());
    if (acceptance_known() && choices_.end_symbol) {
      set_.accepted = static_cast<int>(set_.states.size());
      set_.states.push_back("(accepted)");
    }
    const auto dead = std::find(pda_.dead().begin(), pda_.dead().end(), true);
    if (choices_.dead_neuron && dead != pda_.dead().end()) {
      set_.dead = static_cast<int>(set_.states.size());
      set_.states.push_back(pda_.states()[dead - pda_.dead().begin()]);
    }
  }

  // Returns why the transition cannot be encoded, or an empty text.
  std::string refusal(const Transition& t) const {
    const auto& stack = pda_.stack_symbols();
    if (t.weight == 0) return "its weight is 0, which disables it";
    if (t.weight != 1)
      return fmt::format("its weight is {}; a network supports only weight 1", t.weight);
    if (tops_[t.top] < 0)
      return fmt::format(
          "the stack symbol '{0}' is not an input symbol, so it is never on the stack; if it means "
          "any top, write: for all {0}",
          stack[t.top]);
    if (pda_.dead()[t.next]) return "";
    if (t.action == StackAction::pop && t.top == 0) return "the bottom symbol cannot be popped";
    if (t.action == StackAction::push &&
        (t.pushed == 0 || stack[t.pushed] != pda_.alphabet().symbol(t.symbol)))
      return fmt::format("it pushes '{}', but only the symbol that is read, '{}', can be pushed",
                         stack[t.pushed], pda_.alphabet().symbol(t.symbol));
    if (t.action == StackAction::replace && t.pushed != t.top)
      return fmt::format("it replaces '{}' by '{}', but the top can only be kept or popped",
                         stack[t.top], stack[t.pushed]);
    return "";
  }

  void take(int place) {
    const auto& t = pda_.transitions()[place];
    if (pda_.dead()[t.state]) {  // transitions within the trap need no rule
      set_.refusals[place] = t.weight == 0 ? "its weight is 0, which disables it" : "";
      return;
    }
    set_.refusals[place] = refusal(t);
    const Triple triple{number_[t.state], tops_[t.top], inputs_[t.symbol]};
    if (t.weight > 0 && tops_[t.top] >= 0) {
      const auto [entry, is_new] = seen_.emplace(triple, place);
      if (!is_new) {
        const auto& other = pda_.transitions()[entry->second];
        const bool both_dead = pda_.dead()[t.next] && pda_.dead()[other.next];
        check(both_dead, kWhere, "{}{} contradicts {}{}", origin_of(t), pda_.transition_text(t),
              origin_of(other), pda_.transition_text(other));
        return;
      }
    }
    if (!set_.refusals[place].empty()) return;
    const auto [q, k, l] = triple;
    EncodedRule rule{q, k, l, number_[t.next], EncodedRule::Action::any, place};
    if (pda_.dead()[t.next])
      rule.next = set_.dead;  // -1 if it has no neuron of its own: the trap
    else
      rule.action = t.action == StackAction::push  ? EncodedRule::Action::push
                    : t.action == StackAction::pop ? EncodedRule::Action::pop
                                                   : EncodedRule::Action::nothing;
    made_[triple] = rule;
  }

  void add_acceptance() {
    if (!acceptance_known()) {
      set_.output_refusal = "the hint does not define acceptance";
      return;
    }
    if (choices_.end_symbol) {
      for (int q = 0; q < own_states_; ++q)
        for (int k = 0; k <= symbols_; ++k) {
          const bool yes =
              pda_.accepting()[original(q)] > 0 && (!pda_.at_bottom() || k == symbols_);
          made_[{q, k, symbols_}] = {q, k, symbols_, yes ? set_.accepted : EncodedRule::kTrap};
        }
      set_.valid = {set_.accepted};
      set_.output = true;
    } else if (pda_.at_bottom()) {
      set_.output_refusal = "testing for an empty stack needs an end symbol (end_symbol = true)";
    } else {
      for (int q = 0; q < own_states_; ++q)
        if (pda_.accepting()[original(q)] > 0) set_.valid.push_back(q);
      set_.output = true;
    }
  }

  int original(int q) const {
    return static_cast<int>(std::find(number_.begin(), number_.end(), q) - number_.begin());
  }

  const Pda& pda_;
  RuleChoices choices_;
  int symbols_, own_states_ = 0;
  std::vector<int> inputs_, tops_;  // ids in the network
  std::vector<int> number_;         // for each state of the automaton, its index in the rules
  RuleSet set_;
  std::map<Triple, int> seen_;
  std::map<Triple, EncodedRule> made_;
};

using Rectangle = std::pair<std::vector<int>, std::vector<int>>;  // tops, inputs

// Returns the pairs as disjoint products of sets: grouped by tops with the same inputs or by inputs
// with the same tops, whichever gives fewer.
std::vector<Rectangle> rectangles(const std::vector<std::pair<int, int>>& pairs) {
  std::map<int, std::vector<int>> by_top, by_input;
  for (const auto& [k, l] : pairs) {
    by_top[k].push_back(l);
    by_input[l].push_back(k);
  }
  const auto grouped = [](const std::map<int, std::vector<int>>& sets) {
    std::map<std::vector<int>, std::vector<int>> groups;
    for (auto [one, others] : sets) {
      std::sort(others.begin(), others.end());
      groups[others].push_back(one);
    }
    return groups;
  };
  const auto tops = grouped(by_top), inputs = grouped(by_input);
  std::vector<Rectangle> result;
  if (tops.size() <= inputs.size())
    for (const auto& [l, k] : tops) result.emplace_back(k, l);
  else
    for (const auto& [k, l] : inputs) result.emplace_back(k, l);
  return result;
}

class Encoder {
 public:
  Encoder(const RuleSet& rules, const NetworkShape& shape, double action_bias, bool inhibition)
      : rules_(rules), shape_(shape), action_bias_(action_bias), inhibition_(inhibition) {
    for (const auto& rule : rules.rules) of_state_[rule.state].push_back(rule);
    for (const auto& [q, list] : of_state_) {
      std::map<int, std::vector<std::pair<int, int>>> into;
      for (const auto& rule : list)
        if (rule.next != EncodedRule::kTrap) into[rule.next].emplace_back(rule.top, rule.symbol);
      for (const auto& [next, pairs] : into) cover_[{q, next}] = rectangles(pairs);
    }
  }

  Encoding run() {
    place_neurons();
    check(result_.needed <= shape_.states, kWhere,
          "the rules need {} state neurons, but the network has {}: make it with states = {} or "
          "more ({})",
          result_.needed, shape_.states, result_.needed, places());
    for (std::int64_t i = 0; i < shape_.states; ++i)
      set(Programmed::state_bias, i, shape_.third ? -0.5 : -1.5);
    for (const auto& [q, list] : of_state_)
      for (const int j : result_.neurons[q]) shape_.third ? third(j, list) : second(q, j, list);
    add_output();
    for (const auto& rule : rules_.rules) result_.targets.push_back(target(rule));
    for (const auto& [place, number] : numbers_) result_.numbers.push_back(number);
    return result_;
  }

 private:
  void place_neurons() {
    std::vector<std::size_t> count(rules_.states.size(), 1);
    if (!shape_.third)
      for (const auto& [states, list] : cover_)
        count[states.second] = std::max(count[states.second], list.size());
    for (const auto n : count) {
      result_.neurons.emplace_back();
      for (std::size_t m = 0; m < n; ++m) result_.neurons.back().push_back(result_.needed++);
    }
  }

  std::string places() const {
    std::string text;
    for (std::size_t q = 0; q < rules_.states.size(); ++q)
      text += fmt::format("{}{} for {}", q == 0 ? "" : ", ", result_.neurons[q].size(),
                          rules_.states[q]);
    return text;
  }

  int target(const EncodedRule& rule) const {
    if (rule.next == EncodedRule::kTrap) return -1;
    const auto& neurons = result_.neurons[rule.next];
    if (shape_.third) return neurons[0];
    const auto& covers = cover_.at({rule.state, rule.next});
    const auto holds = [&](const Rectangle& r) {
      return std::count(r.first.begin(), r.first.end(), rule.top) > 0 &&
             std::count(r.second.begin(), r.second.end(), rule.symbol) > 0;
    };
    return neurons[std::find_if(covers.begin(), covers.end(), holds) - covers.begin()];
  }

  void set(Programmed::Tensor tensor, std::int64_t index, double times, double plus = 0) {
    numbers_[{tensor, index}] = {tensor, index, times, plus};
  }

  // Returns the weight, in units of H, from neuron j to a neuron i that must not fire.
  double silent(int i, int j) const {
    const auto accepts = [&] {
      if (rules_.accepted < 0) return false;
      const auto& neurons = result_.neurons[rules_.accepted];
      return std::find(neurons.begin(), neurons.end(), i) != neurons.end();
    };
    return inhibition_ && (i == j || accepts()) ? -1 : 0;
  }

  void ask(int neuron) { set(Programmed::action_bias, neuron, 0, action_bias_); }

  void third(int j, const std::vector<EncodedRule>& list) {
    for (const auto& rule : list) {
      const int target = rule.next == EncodedRule::kTrap ? -1 : result_.neurons[rule.next][0];
      for (int i = 0; i < shape_.states; ++i)
        set(Programmed::state_weight, shape_.third_order(i, j, rule.top, rule.symbol),
            i == target ? 1 : silent(i, j));
      if (rule.action == EncodedRule::Action::any) continue;
      const auto act = [&](int neuron, double times) {
        if (neuron >= shape_.symbols) return;
        ask(neuron);
        set(Programmed::action_weight, shape_.third_order(neuron, j, rule.top, rule.symbol), times);
      };
      // The pop is programmed only if there is no push.
      if (rule.action != EncodedRule::Action::push) act(rule.top, 0);
      act(rule.symbol, rule.action == EncodedRule::Action::push);
      if (rule.action == EncodedRule::Action::pop) act(rule.top, -1);
    }
  }

  void second(int q, int j, const std::vector<EncodedRule>& list) {
    for (const auto& rule : list)
      for (int i = 0; i < shape_.states; ++i) {
        set(Programmed::state_weight, shape_.read(i, j, rule.top), silent(i, j));
        set(Programmed::state_weight, shape_.input(i, j, rule.symbol), silent(i, j));
      }
    for (std::size_t next = 0; next < rules_.states.size(); ++next) {
      const auto found = cover_.find({q, static_cast<int>(next)});
      if (found == cover_.end()) continue;
      for (std::size_t m = 0; m < found->second.size(); ++m) {
        const int i = result_.neurons[next][m];
        for (const int k : found->second[m].first)
          set(Programmed::state_weight, shape_.read(i, j, k), 1);
        for (const int l : found->second[m].second)
          set(Programmed::state_weight, shape_.input(i, j, l), 1);
      }
    }
    for (int y = 0; y < shape_.symbols; ++y) second_action(y, j, list);
  }

  // Programs the weights of action neuron y in the state of neuron j: f(top) + g(input).
  void second_action(int y, int j, const std::vector<EncodedRule>& list) {
    using Action = EncodedRule::Action;
    Action both = Action::any;  // when y is read with y on top
    bool pops = false;
    for (const auto& rule : list) {
      if (rule.top == y && rule.symbol == y) both = rule.action;
      pops = pops || (rule.top == y && rule.symbol != y && rule.action == Action::pop);
    }
    // If the row has a pop, the push at (y, y) must come from the input, otherwise from the top.
    const bool from_input = both == Action::push && pops;
    const double f_y = both == Action::push && !from_input ? 1 : both == Action::pop ? -1 : 0;
    const double g_y = from_input ? 1 : 0;
    bool asked = false;
    const auto f = [&](int k, double times) {
      asked = true;
      set(Programmed::action_weight, shape_.read(y, j, k), times);
    };
    const auto g = [&](int l, double times) {
      asked = true;
      set(Programmed::action_weight, shape_.input(y, j, l), times);
    };
    for (const auto& rule : list) {
      if (rule.action == Action::any || (rule.symbol != y && rule.top != y)) continue;
      if (rule.symbol == y) {
        g(y, g_y);
        // -2 clearly prevents the push: the input alone would push, and r is a little below 1.
        if (rule.top != y) f(rule.top, rule.action == Action::push ? 1 - g_y : -2 * g_y);
      }
      if (rule.top == y) {
        f(y, f_y);
        if (rule.symbol == y || rule.action == Action::push) continue;
        g(rule.symbol, rule.action == Action::pop ? (f_y < 0 ? 0 : -1) : (f_y < 0 ? 1 : 0));
      }
    }
    if (asked) ask(y);
  }

  void add_output() {
    if (rules_.output) {
      set(Programmed::output_bias, 0, 0, -kOutput / 2);
      // Without an end symbol, the string may end with any state's neuron active.
      if (rules_.accepted < 0)
        for (const auto& neurons : result_.neurons)
          for (const int i : neurons)
            set(Programmed::output_weight, i, 0, inhibition_ ? -kOutput : 0);
      for (const int q : rules_.valid)
        for (const int i : result_.neurons[q]) set(Programmed::output_weight, i, 0, kOutput);
    }
    if (rules_.dead >= 0)
      for (const int i : result_.neurons[rules_.dead])
        set(Programmed::output_weight, i, 0, -kOutput);
  }

  const RuleSet& rules_;
  NetworkShape shape_;
  double action_bias_;
  bool inhibition_;
  std::map<int, std::vector<EncodedRule>> of_state_;
  std::map<std::pair<int, int>, std::vector<Rectangle>> cover_;  // (state, next)
  Encoding result_;
  std::map<std::pair<Programmed::Tensor, std::int64_t>, Programmed> numbers_;
};

}  // namespace

RuleSet rules_of(const Pda& pda, const Alphabet& alphabet, const RuleChoices& choices) {
  return RuleMaker(pda, alphabet, choices).run();
}

Encoding encode(const RuleSet& rules, const NetworkShape& shape, double action_bias,
                bool inhibition) {
  return Encoder(rules, shape, action_bias, inhibition).run();
}

}  // namespace pushdown
