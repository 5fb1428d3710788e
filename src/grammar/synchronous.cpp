#include "grammar/synchronous.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/options.h"
#include "grammar/text.h"

namespace pushdown {

struct SynchronousGrammar::Data {
  Grammar source, target;
  std::vector<SynchronousRule> rules;
};

namespace {

constexpr std::size_t kMostSymbols = 1000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "[grammar NAME] ORIGIN: in RULE: ..."
class RuleReport {
 public:
  RuleReport(const SynchronousSource& source, const NamedSynchronousRule& rule)
      : where_(source.name.empty() ? "grammar" : "grammar " + source.name), rule_(rule) {}

  template <class... Args>
  [[noreturn]] void stop(fmt::format_string<Args...> format, Args&&... args) const {
    fail(where_, "{}{}in {}: {}", rule_.origin, rule_.origin.empty() ? "" : ": ", rule_text(rule_),
         fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  std::string where_;
  const NamedSynchronousRule& rule_;
};

std::string shown(const LinkedSymbol& symbol) {
  const auto name = nonterminal_text(symbol.name);
  return symbol.index > 0 ? fmt::format("{}{}", name, symbol.index) : name;
}

const LinkedSymbol* find_index(const std::vector<LinkedSymbol>& side, int index) {
  for (const auto& symbol : side)
    if (!symbol.terminal && symbol.index == index) return &symbol;
  return nullptr;
}

void check_indices(const std::vector<LinkedSymbol>& side, const char* name,
                   const std::vector<LinkedSymbol>& other_side, const char* other,
                   const RuleReport& report) {
  for (const auto& symbol : side) {
    if (symbol.terminal) continue;
    if (symbol.index < 1)
      report.stop("{} on the {} side has no index; write {}1 to link it, or {} for a terminal",
                  symbol.name, name, symbol.name, quoted_terminal(symbol.name));
    if (const auto* first = find_index(side, symbol.index); first != &symbol)
      report.stop("index {} occurs twice on the {} side, at {} and at {}", symbol.index, name,
                  shown(*first), shown(symbol));
    const auto* linked = find_index(other_side, symbol.index);
    if (linked == nullptr)
      report.stop("{} of the {} side has no nonterminal of index {} on the {} side", shown(symbol),
                  name, symbol.index, other);
    if (linked->name != symbol.name)
      report.stop("index {} is {} on the {} side and {} on the {} side", symbol.index, symbol.name,
                  name, linked->name, other);
  }
}

void check_rules(const SynchronousSource& source) {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const auto& rule : source.rules)
    if (known.insert(rule.left).second) names.push_back(rule.left);
  for (const auto& rule : source.rules) {
    const RuleReport report(source, rule);
    if (!rule.left.empty() && is_digit(rule.left.back()))
      report.stop("nonterminal {} must not end in a digit; final digits are an index", rule.left);
    for (const auto* side : {&rule.source, &rule.target}) {
      // The parser recurses over the symbols of a side.
      if (side->size() > kMostSymbols)
        report.stop("a side must have at most {} symbols, got {}", kMostSymbols, side->size());
      for (const auto& symbol : *side) {
        if (symbol.terminal) {
          if (known.contains(symbol.name))
            report.stop("{} is a terminal here but a nonterminal elsewhere",
                        quoted_terminal(symbol.name));
        } else if (!known.contains(symbol.name)) {
          const auto near = nearest_names(symbol.name, names);
          report.stop("nonterminal {} has no rules{}; write terminals in quotes", symbol.name,
                      near.empty() ? "" : ", did you mean " + near + "?");
        }
      }
    }
    check_indices(rule.source, "source", rule.target, "target", report);
    check_indices(rule.target, "target", rule.source, "source", report);
  }
}

GrammarSource projection(const SynchronousSource& source,
                         std::vector<LinkedSymbol> NamedSynchronousRule::*side,
                         const std::vector<std::string>& symbols) {
  GrammarSource result;
  result.name = source.name;
  result.start = source.start;
  result.symbols = symbols;
  for (const auto& rule : source.rules) {
    NamedRule named{rule.left, {}, rule.weight, rule.origin};
    for (const auto& symbol : rule.*side) named.right.push_back({symbol.terminal, symbol.name});
    result.rules.push_back(std::move(named));
  }
  return result;
}

std::vector<int> links_of(const NamedSynchronousRule& rule) {
  std::vector<int> links;
  for (const auto& target : rule.target) {
    if (target.terminal) continue;
    int place = 0;
    for (const auto& symbol : rule.source) {
      if (symbol.terminal) continue;
      if (symbol.index == target.index) links.push_back(place);
      ++place;
    }
  }
  return links;
}

// A derivation as a tree: for each of its rules, the indices of its child rules in the order of the
// source side.
using Children = std::vector<std::vector<int>>;

Children tree_of(const std::vector<SynchronousRule>& rules, int start,
                 const std::vector<int>& derivation) {
  const auto bad = [] {
    fail("grammar.derivation", "these rules do not form a leftmost derivation");
  };
  Children children(derivation.size());
  std::vector<int> open;      // rules that still need children
  std::vector<int> expected;  // expected left sides; the next one is last
  expected.push_back(start);
  for (int place = 0; place < static_cast<int>(derivation.size()); ++place) {
    const int r = derivation[place];
    if (expected.empty() || r < 0 || r >= static_cast<int>(rules.size()) ||
        rules[r].left != expected.back())
      bad();
    expected.pop_back();
    if (!open.empty()) children[open.back()].push_back(place);
    open.push_back(place);
    const auto& side = rules[r].source;
    for (auto symbol = side.rbegin(); symbol != side.rend(); ++symbol)
      if (!symbol->terminal) expected.push_back(symbol->id);
    while (!open.empty() &&
           children[open.back()].size() == rules[derivation[open.back()]].links.size())
      open.pop_back();
  }
  if (!expected.empty()) bad();
  return children;
}

}  // namespace

std::string rule_text(const NamedSynchronousRule& rule) {
  std::string text = nonterminal_text(rule.left) + " ->";
  const auto add = [&](const std::vector<LinkedSymbol>& side) {
    for (const auto& symbol : side)
      text += " " + (symbol.terminal ? quoted_terminal(symbol.name) : shown(symbol));
  };
  add(rule.source);
  text += " |";
  add(rule.target);
  return text;
}

SynchronousGrammar::SynchronousGrammar(const SynchronousSource& source) {
  check_rules(source);
  Grammar left(projection(source, &NamedSynchronousRule::source, source.source_symbols));
  Grammar right(projection(source, &NamedSynchronousRule::target, source.target_symbols));
  std::vector<SynchronousRule> rules;
  for (std::size_t r = 0; r < source.rules.size(); ++r)
    rules.push_back({left.rules()[r].left, left.rules()[r].right, right.rules()[r].right,
                     links_of(source.rules[r]), left.rules()[r].weight});
  data_ = std::make_shared<const Data>(Data{std::move(left), std::move(right), std::move(rules)});
}

const std::vector<SynchronousRule>& SynchronousGrammar::rules() const { return data_->rules; }
const Grammar& SynchronousGrammar::source_side() const { return data_->source; }
const Grammar& SynchronousGrammar::target_side() const { return data_->target; }

Pair SynchronousGrammar::pair_of(const std::vector<int>& derivation) const {
  const auto children = tree_of(rules(), start(), derivation);
  // Depth first without recursion: (index of the rule, next symbol, nonterminals so far).
  struct Frame {
    int place, symbol = 0, nonterminals = 0;
  };
  const auto yield = [&](bool of_target) {
    Word word;
    std::vector<Frame> stack{{0}};
    while (!stack.empty()) {
      auto& frame = stack.back();
      const auto& rule = rules()[derivation[frame.place]];
      const auto& side = of_target ? rule.target : rule.source;
      if (frame.symbol == static_cast<int>(side.size())) {
        stack.pop_back();
        continue;
      }
      const auto symbol = side[frame.symbol++];
      if (symbol.terminal) {
        word.push_back(symbol.id);
        continue;
      }
      const int nth = frame.nonterminals++;
      stack.push_back({children[frame.place][of_target ? rule.links[nth] : nth]});
    }
    return word;
  };
  return {yield(false), yield(true)};
}

SynchronousSource SynchronousGrammar::source() const {
  SynchronousSource result;
  result.name = name();
  result.start = nonterminals()[start()];
  result.source_symbols = source_alphabet().symbols();
  result.target_symbols = target_alphabet().symbols();
  for (std::size_t r = 0; r < rules().size(); ++r) {
    const auto& rule = rules()[r];
    NamedSynchronousRule named{
        nonterminals()[rule.left], {}, {}, rule.weight, source_side().rules()[r].origin};
    int count = 0;
    for (const auto symbol : rule.source)
      named.source.push_back(
          {symbol.terminal, source_side().symbol_name(symbol), symbol.terminal ? 0 : ++count});
    count = 0;
    for (const auto symbol : rule.target)
      named.target.push_back({symbol.terminal, target_side().symbol_name(symbol),
                              symbol.terminal ? 0 : rule.links[count++] + 1});
    result.rules.push_back(std::move(named));
  }
  return result;
}

}  // namespace pushdown
