#include "pda/pda.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "base/check.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/stopping.h"
#include "grammar/symbol_text.h"
#include "pda/names.h"

namespace pushdown {

struct Pda::Data {
  std::string name;
  Alphabet alphabet;
  std::vector<std::string> states, stack_symbols;
  std::vector<Transition> transitions;
  std::vector<double> accepting;
  bool all_accepting = true;
  bool at_bottom = false;
  std::vector<bool> dead;
  std::optional<double> strength;
  std::vector<std::string> warnings;
};

namespace {

// Roles of a name in a pattern.
enum Role { kState, kInput, kStack, kRoles };
constexpr const char* kRoleNames[] = {"state", "input symbol", "stack symbol"};

struct Place {
  Role role;
  const std::string* name;
};

std::vector<Place> places(const TransitionPattern& t) {
  std::vector<Place> list{
      {kState, &t.state}, {kStack, &t.top}, {kInput, &t.symbol}, {kState, &t.next}};
  if (t.action != StackAction::pop) list.push_back({kStack, &t.pushed});
  return list;
}

using Variables = std::vector<std::pair<std::string, std::vector<std::string>>>;

const std::vector<std::string>* range_of(const Variables& variables, const std::string& name) {
  for (const auto& [variable, range] : variables)
    if (variable == name) return &range;
  return nullptr;
}

class Builder {
 public:
  explicit Builder(const PdaSource& source)
      : source_(source), where_(source.name.empty() ? "pda" : "pda " + source.name) {}

  void run(std::string& start, std::vector<std::string> (&names)[kRoles],
           std::vector<TransitionPattern>& plain) {
    if (source_.transitions.empty()) stop("", "an automaton needs at least one transition");
    if (source_.bottom.empty()) stop("", "the bottom symbol is missing; name it with 'bottom'");
    for (const auto& pattern : source_.transitions) check_pattern(pattern);
    start = source_.start;
    if (start.empty()) {
      const auto& first = source_.transitions.front();
      start = first.state;
      if (range_of(first.variables, start))
        stop(first.origin,
             "the start state is missing, and the first transition has a variable instead of a "
             "state");
    }
    collect(kState, source_.states, start, "start state", names[kState]);
    collect(kInput, source_.symbols, "", "", names[kInput]);
    collect(kStack, source_.stack_symbols, source_.bottom, "bottom symbol", names[kStack]);
    for (int role = 0; role < kRoles; ++role)
      for (const auto& name : names[role]) ids_[role].emplace(name, ids_[role].size());
    check_size(names);
    for (const auto& pattern : source_.transitions) expand(marked(pattern), names, plain);
    if (source_.stack_symbols.empty()) check_pushed(plain);
  }

  // Returns a warning for each transition that pops the bottom symbol, by name and in vain.
  std::vector<std::string> warnings(const std::vector<TransitionPattern>& plain) const {
    std::vector<std::string> texts;
    const auto& bottom = source_.bottom;
    const bool is_pushed = std::any_of(plain.begin(), plain.end(), [&](const auto& t) {
      return t.pushed == bottom && (t.action == StackAction::push || t.top != bottom);
    });
    for (const auto& t : source_.transitions)
      if (!is_pushed && t.action == StackAction::pop && t.top == bottom &&
          range_of(t.variables, bottom) == nullptr)
        texts.push_back(fmt::format(
            "{}the transition from {}, {} that reads {} never fires: the last element of the stack "
            "cannot be popped, and no transition pushes {}",
            t.origin.empty() ? "" : t.origin + ": ", t.state, t.top, t.symbol, bottom));
    return texts;
  }

  // Returns the id of a name in one of the lists that run() has filled.
  int id_of(const std::vector<std::string>& names, Role role, const std::string& name,
            const std::string& origin) const {
    const auto found = ids_[role].find(name);
    if (found == ids_[role].end()) unknown(names, role, name, origin);
    return static_cast<int>(found->second);
  }

  template <class... Args>
  [[noreturn]] void stop(const std::string& origin, fmt::format_string<Args...> format,
                         Args&&... args) const {
    fail(where_, "{}{}", origin.empty() ? "" : origin + ": ",
         fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  [[noreturn]] void unknown(const std::vector<std::string>& names, Role role,
                            const std::string& name, const std::string& origin) const {
    const auto near = nearest_names(name, names);
    stop(origin, "{} '{}' is not in the list of {}s{}", kRoleNames[role], name, kRoleNames[role],
         near.empty() ? "" : ", did you mean " + near + "?");
  }

  // A few lines with variables may expand to more transitions than fit into memory.
  void check_size(const std::vector<std::string> (&names)[kRoles]) const {
    constexpr double kBytes = sizeof(TransitionPattern) + 2 * sizeof(Transition);
    double count = 0;
    for (const auto& pattern : source_.transitions) {
      double choices = 1;
      for (const auto& [variable, range] : pattern.variables) {
        std::size_t values = range.size();
        for (const auto& [role, name] : places(pattern))
          if (range.empty() && *name == variable)
            values = values == 0 ? names[role].size() : std::min(values, names[role].size());
        choices *= static_cast<double>(values);
      }
      count += choices;
    }
    check_memory(where_, fmt::format("an automaton of {:.0f} transitions", count), kBytes * count);
  }

  // An automaton of another notation must not be read as a different one.
  void check_meaning(Role role, const std::string& name, const std::string& origin) const {
    if (role == kState || !means_no_symbol(name) || name == source_.bottom) return;
    if (role == kInput)
      stop(origin,
           "'{}' as an input symbol: every transition reads a symbol, and moves without input are "
           "not supported; if '{}' is a symbol, list it in symbols",
           name, name);
    stop(origin,
         "'{}' as a stack symbol: every transition has one symbol as the top, and removes it with "
         "pop; if '{}' is a symbol, list it in stack_symbols",
         name, name);
  }

  void check_pushed(const std::vector<TransitionPattern>& plain) const {
    std::set<std::string> known{source_.bottom};
    for (const auto& t : plain) known.insert(t.top);
    for (const auto& t : plain)
      if (t.action != StackAction::pop && !known.contains(t.pushed) &&
          looks_like_several(t.pushed, t.top, known))
        stop(t.origin,
             "'{}' puts one symbol on the stack, which is the top of no transition: a transition "
             "pushes one symbol; if {} is one, list it in stack_symbols",
             action_text(t.action, t.pushed), t.pushed);
  }

  void check_name(Role role, const std::string& name, const std::string& origin) const {
    if (const auto reason = pda_name_error(name); !reason.empty())
      stop(origin, "the name of a {} {}", kRoleNames[role], reason);
  }

  void check_pattern(const TransitionPattern& pattern) const {
    for (const auto& [role, name] : places(pattern)) check_name(role, *name, pattern.origin);
    if (!std::isfinite(pattern.weight) || pattern.weight < 0)
      stop(pattern.origin, "the weight of a transition must be a number of at least 0, got {}",
           pattern.weight);
    std::set<std::string> seen;
    for (const auto& [variable, range] : pattern.variables) {
      if (!seen.insert(variable).second)
        stop(pattern.origin, "variable {} has two ranges", variable);
      const auto all = places(pattern);
      if (std::none_of(all.begin(), all.end(), [&](const Place& p) { return *p.name == variable; }))
        stop(pattern.origin, "variable {} does not appear in the transition", variable);
    }
  }

  // Collects the names of one role: the listed ones, otherwise the used ones, with `first` in
  // front.
  void collect(Role role, const std::vector<std::string>& listed, const std::string& first,
               const char* what, std::vector<std::string>& names) const {
    std::set<std::string> seen;
    const auto add = [&](const std::string& name, const std::string& origin) {
      check_name(role, name, origin);
      if (seen.insert(name).second) return names.push_back(name), true;
      return false;
    };
    if (!first.empty()) add(first, "");
    if (!listed.empty()) {
      if (!first.empty() && std::find(listed.begin(), listed.end(), first) == listed.end())
        unknown(listed, role, first, "");
      std::set<std::string> once;
      for (const auto& name : listed) {
        if (!once.insert(name).second) stop("", "{} '{}' is listed twice", kRoleNames[role], name);
        add(name, "");
      }
      return;
    }
    const auto use = [&](const std::string& name, const std::string& origin) {
      if (add(name, origin)) check_meaning(role, name, origin);
    };
    for (const auto& pattern : source_.transitions)
      for (const auto& [place, name] : places(pattern)) {
        if (place != role) continue;
        if (const auto* range = range_of(pattern.variables, *name))
          for (const auto& value : *range) use(value, pattern.origin);
        else
          use(*name, pattern.origin);
      }
    if (role == kState) {
      for (const auto& [state, weight] : source_.accepting) add(state, "");
      for (const auto& state : source_.dead) add(state, "");
    }
    if (names.empty()) stop("", "no transition names an {}", kRoleNames[role]);
  }

  // Renames the variables of the pattern, so that no value is mistaken for another variable.
  static TransitionPattern marked(TransitionPattern pattern) {
    for (auto& [variable, range] : pattern.variables) {
      for (auto* name : named(pattern))
        if (*name == variable) *name = '\n' + variable;
      variable = '\n' + variable;
    }
    return pattern;
  }

  static std::array<std::string*, 5> named(TransitionPattern& t) {
    return {&t.state, &t.top, &t.symbol, &t.next, &t.pushed};
  }

  // Adds one pattern without variables for every combination of their values.
  void expand(const TransitionPattern& pattern, const std::vector<std::string> (&names)[kRoles],
              std::vector<TransitionPattern>& plain) const {
    if (pattern.variables.empty()) return plain.push_back(pattern);
    const auto& [variable, given] = pattern.variables.front();
    std::vector<std::string> range = given;
    if (range.empty()) {
      bool first = true;
      for (const auto& [role, name] : places(pattern)) {
        if (*name != variable) continue;
        if (first) range = names[role];
        std::erase_if(range, [&, r = role](const auto& value) { return !ids_[r].contains(value); });
        first = false;
      }
      if (range.empty())
        stop(pattern.origin, "variable {} has no value: no name is possible in all its positions",
             variable.substr(1));
    }
    const StopCheck stop;
    for (const auto& value : range) {
      stop();
      TransitionPattern one = pattern;
      one.variables.erase(one.variables.begin());
      for (auto* name : named(one))
        if (*name == variable) *name = value;
      expand(one, names, plain);
    }
  }

  const PdaSource& source_;
  std::string where_;
  std::unordered_map<std::string, std::size_t> ids_[kRoles];
};

auto key_of(const Transition& t) {
  return std::tuple(t.state, t.top, t.symbol, t.next, t.action, t.pushed);
}

}  // namespace

Pda::Pda(const PdaSource& source) {
  Builder builder(source);
  std::string start;
  std::vector<std::string> names[kRoles];
  std::vector<TransitionPattern> plain;
  builder.run(start, names, plain);
  auto data = std::make_shared<Data>();
  data->name = source.name;
  data->states = names[kState];
  data->stack_symbols = names[kStack];
  data->alphabet = Alphabet(names[kInput]);
  data->at_bottom = source.at_bottom;
  data->warnings = builder.warnings(plain);
  data_ = data;
  const StopCheck stop;
  for (const auto& t : plain) {
    stop();
    const auto id = [&](Role role, const std::string& name) {
      return builder.id_of(names[role], role, name, t.origin);
    };
    data->transitions.push_back(
        {id(kState, t.state), id(kStack, t.top), id(kInput, t.symbol), id(kState, t.next), t.action,
         t.action == StackAction::pop ? -1 : id(kStack, t.pushed), t.weight, t.origin});
  }
  std::map<decltype(key_of({})), const Transition*> seen;
  for (const auto& t : data->transitions) {
    stop();
    if (const auto [entry, is_new] = seen.emplace(key_of(t), &t); !is_new)
      builder.stop(t.origin, "the transition {} is given twice{}", transition_text(t),
                   entry->second->origin.empty() || entry->second->origin == t.origin
                       ? ""
                       : ", first at " + entry->second->origin);
  }
  data->all_accepting = source.accepting.empty();
  data->accepting.assign(data->states.size(), data->all_accepting ? 1.0 : 0.0);
  std::set<int> given;
  for (const auto& [state, weight] : source.accepting) {
    const int id = builder.id_of(data->states, kState, state, "");
    if (!std::isfinite(weight) || weight < 0)
      builder.stop("",
                   "the weight of the accepting state {} must be a number of at least 0, got {}",
                   state, weight);
    if (!given.insert(id).second) builder.stop("", "the accepting state {} is given twice", state);
    data->accepting[id] = weight;
  }
  data->dead.assign(data->states.size(), false);
  for (const auto& state : source.dead) {
    const int id = builder.id_of(data->states, kState, state, "");
    if (data->dead[id]) builder.stop("", "the dead state {} is given twice", state);
    if (given.contains(id) && data->accepting[id] > 0)
      builder.stop("", "the state {} is both dead and accepting", state);
    data->dead[id] = true;
    data->accepting[id] = 0;
  }
  if (data->dead[0]) builder.stop("", "the start state {} must not be dead", data->states[0]);
  for (const auto& t : data->transitions)
    if (data->dead[t.state] && !data->dead[t.next] && t.weight > 0)
      builder.stop(t.origin, "{} is dead, but the transition {} leaves it", data->states[t.state],
                   transition_text(t));
  if (source.strength && !(std::isfinite(*source.strength) && *source.strength > 0))
    builder.stop("", "the strength must be a number above 0, got {}", *source.strength);
  data->strength = source.strength;
}

const std::string& Pda::name() const { return data_->name; }
const Alphabet& Pda::alphabet() const { return data_->alphabet; }
const std::vector<std::string>& Pda::states() const { return data_->states; }
const std::vector<std::string>& Pda::stack_symbols() const { return data_->stack_symbols; }
const std::vector<Transition>& Pda::transitions() const { return data_->transitions; }
const std::vector<double>& Pda::accepting() const { return data_->accepting; }
bool Pda::at_bottom() const { return data_->at_bottom; }
bool Pda::names_accepting() const { return !data_->all_accepting; }
const std::vector<bool>& Pda::dead() const { return data_->dead; }
std::optional<double> Pda::strength() const { return data_->strength; }
const std::vector<std::string>& Pda::warnings() const { return data_->warnings; }

bool Pda::deterministic() const {
  std::set<std::tuple<int, int, int>> seen;
  for (const auto& t : data_->transitions)
    if (t.weight > 0 && !seen.insert({t.state, t.top, t.symbol}).second) return false;
  return true;
}

Pda Pda::normalized() const {
  auto data = std::make_shared<Data>(*data_);
  std::map<std::tuple<int, int, int>, double> sums;
  for (const auto& t : data->transitions) sums[{t.state, t.top, t.symbol}] += t.weight;
  for (auto& t : data->transitions)
    if (const double sum = sums[{t.state, t.top, t.symbol}]; sum > 0) t.weight /= sum;
  Pda pda;
  pda.data_ = data;
  return pda;
}

std::string action_text(StackAction action, const std::string& pushed) {
  switch (action) {
    case StackAction::push: return "push " + pushed;
    case StackAction::replace: return "replace " + pushed;
    default: return "pop";
  }
}

std::string Pda::transition_text(const Transition& t) const {
  const auto& states = data_->states;
  const auto& stack = data_->stack_symbols;
  return fmt::format(
      "{}, {} --{}{}--> {}, {}", pda_name_text(states[t.state]), pda_name_text(stack[t.top]),
      pda_name_text(data_->alphabet.symbol(t.symbol)),
      t.weight == 1 ? "" : fmt::format("/{}", t.weight), pda_name_text(states[t.next]),
      action_text(t.action, t.pushed < 0 ? std::string() : pda_name_text(stack[t.pushed])));
}

PdaSource Pda::source() const {
  PdaSource source;
  source.name = data_->name;
  source.start = data_->states[0];
  source.bottom = data_->stack_symbols[0];
  source.states = data_->states;
  source.symbols = data_->alphabet.symbols();
  source.stack_symbols = data_->stack_symbols;
  source.at_bottom = data_->at_bottom;
  source.strength = data_->strength;
  for (std::size_t q = 0; q < data_->states.size(); ++q)
    if (data_->dead[q]) source.dead.push_back(data_->states[q]);
  if (!data_->all_accepting)
    for (std::size_t q = 0; q < data_->states.size(); ++q)
      if (data_->accepting[q] > 0)
        source.accepting.emplace_back(data_->states[q], data_->accepting[q]);
  // An empty list would make all states accept.
  if (!data_->all_accepting && source.accepting.empty())
    source.accepting.emplace_back(source.start, 0);
  for (const auto& t : data_->transitions)
    source.transitions.push_back({data_->states[t.state],
                                  data_->stack_symbols[t.top],
                                  data_->alphabet.symbol(t.symbol),
                                  data_->states[t.next],
                                  t.action,
                                  t.pushed < 0 ? "" : data_->stack_symbols[t.pushed],
                                  t.weight,
                                  {},
                                  t.origin});
  return source;
}

}  // namespace pushdown
