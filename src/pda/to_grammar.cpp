#include "pda/to_grammar.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <set>

#include "base/check.h"
#include "base/stopping.h"
#include "grammar/fixed_point.h"
#include "grammar/symbol_text.h"
#include "pda/summaries.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "pda.grammar";

// What a nonterminal derives; next = -1: an accepted end instead of a pop.
struct Triple {
  int state, top, next;
  auto operator<=>(const Triple&) const = default;
};

class TripleConstruction {
 public:
  struct Production {
    int left, symbol;        // symbol -1: the empty string
    std::vector<int> parts;  // nonterminals after the symbol
    double weight;
  };

  explicit TripleConstruction(const Pda& pda) : pda_(pda), summaries_(pda) {
    moves_.resize(pda.states().size() * pda.stack_symbols().size());
    for (const auto& t : pda.transitions())
      if (t.weight > 0) moves_[index(t.state, t.top)].push_back(&t);
    check(summaries_.end_length(0, 0) < Summaries::kNone, kWhere,
          "the automaton{} accepts no string, and a grammar derives at least one",
          pda.name().empty() ? "" : " " + pda.name());
    number({0, 0, -1});
    const StopCheck stop;
    for (std::size_t n = 0; n < triples_.size(); ++n) {  // triples_ grows
      stop();
      expand(triples_[n], static_cast<int>(n));
    }
  }

  const std::vector<Triple>& triples() const { return triples_; }
  const std::vector<Production>& productions() const { return productions_; }

 private:
  std::size_t index(int state, int top) const {
    return static_cast<std::size_t>(state) * pda_.stack_symbols().size() +
           static_cast<std::size_t>(top);
  }
  bool is_used(const Triple& t) const {
    const int length = t.next < 0 ? summaries_.end_length(t.state, t.top)
                                  : summaries_.pop_length(t.state, t.top, t.next);
    return length < Summaries::kNone;
  }
  int number(const Triple& triple) {
    const auto [place, is_new] = numbers_.try_emplace(triple, static_cast<int>(triples_.size()));
    if (is_new) triples_.push_back(triple);
    return place->second;
  }

  void add(int left, const Transition& t, const std::vector<Triple>& parts) {
    if (!std::all_of(parts.begin(), parts.end(), [&](const Triple& p) { return is_used(p); }))
      return;
    constexpr std::size_t kMost = 1'000'000;
    check(productions_.size() < kMost, kWhere, "the grammar has more than {} rules", kMost);
    std::vector<int> numbers;
    for (const auto& part : parts) numbers.push_back(number(part));
    productions_.push_back({left, t.symbol, std::move(numbers), t.weight});
  }

  void expand(const Triple triple, int left) {
    const auto [q, x, r] = triple;
    const bool ends = r < 0;
    if (ends && pda_.accepting()[q] > 0 && (x == 0 || !pda_.at_bottom()))
      productions_.push_back({left, -1, {}, pda_.accepting()[q]});
    for (const auto* t : moves_[index(q, x)]) {
      if (t->action == StackAction::pop) {
        if (t->next == r) add(left, *t, {});
      } else if (t->action == StackAction::replace) {
        add(left, *t, {{t->next, t->pushed, r}});
      } else {
        for (const auto& [state, length] : summaries_.pops(t->next, t->pushed))
          add(left, *t, {{t->next, t->pushed, state}, {state, x, r}});
        if (ends && !pda_.at_bottom()) add(left, *t, {{t->next, t->pushed, -1}});
      }
    }
  }

  const Pda& pda_;
  Summaries summaries_;
  std::vector<std::vector<const Transition*>> moves_;
  std::map<Triple, int> numbers_;
  std::vector<Triple> triples_;
  std::vector<Production> productions_;
};

// Returns the total weight of each nonterminal with this factor of each symbol, or nothing if it is
// not finite.
std::optional<std::vector<double>> totals(const TripleConstruction& form, double factor) {
  std::vector<Monomial> system;
  for (const auto& p : form.productions()) {
    Monomial term{p.left, p.weight * (p.symbol < 0 ? 1 : factor)};
    for (std::size_t k = 0; k < p.parts.size(); ++k) term.variables[k] = p.parts[k];
    system.push_back(term);
  }
  const auto size = form.triples().size();
  std::vector<double> x;
  try {
    x = least_fixed_point(static_cast<int>(size), system);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
  // Newton's method may also stop at numbers that are no solution.
  std::vector<double> again(size);
  for (const auto& term : system) {
    double value = term.coefficient;
    for (const int variable : term.variables)
      if (variable >= 0) value *= x[variable];
    again[term.left] += value;
  }
  for (std::size_t a = 0; a < size; ++a)
    if (!std::isfinite(x[a]) || x[a] <= 0 || std::fabs(again[a] - x[a]) > 1e-9 * x[a])
      return std::nullopt;
  return x;
}

std::pair<std::vector<double>, double> finite_totals(const TripleConstruction& form) {
  if (auto x = totals(form, 1)) return {*std::move(x), 0};
  // Half of the first factor that works is far from the border, where totals lose digits.
  bool found = false;
  for (int k = 1; k < 1000; ++k) {
    auto x = totals(form, std::ldexp(1.0, -k));
    if (x && found) return {*std::move(x), -k * std::numbers::ln2};
    found = x.has_value();
  }
  fail(kWhere, "the total weight of the accepted runs is not a number in the range of a double");
}

std::vector<std::string> names_of(const Pda& pda, const std::vector<Triple>& triples) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const auto& [q, x, r] : triples) {
    auto name = fmt::format("<{},{}", pda.states()[q], pda.stack_symbols()[x]);
    name += r < 0 ? ">" : fmt::format(",{}>", pda.states()[r]);
    if (!nonterminal_name_error(name).empty()) name = fmt::format("N{}", names.size());
    while (!taken.insert(name).second) name += "'";
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

PdaGrammar grammar_from_pda(const Pda& pda) {
  const TripleConstruction form(pda);
  const auto [total, log_factor] = finite_totals(form);
  const auto names = names_of(pda, form.triples());
  GrammarSource source;
  source.name = pda.name();
  source.start = names.front();
  source.unambiguous = pda.deterministic();
  std::vector<bool> used(pda.alphabet().size());
  auto productions = form.productions();
  std::stable_sort(productions.begin(), productions.end(),
                   [](const auto& a, const auto& b) { return a.left < b.left; });
  const StopCheck stop;
  for (const auto& p : productions) {
    stop();
    NamedRule rule{names[p.left], {}, p.weight / total[p.left]};
    if (p.symbol >= 0) {
      rule.weight *= std::exp(log_factor);
      used[p.symbol] = true;
      rule.right.push_back({true, pda.alphabet().symbol(p.symbol)});
    }
    for (const int part : p.parts) {
      rule.weight *= total[part];
      rule.right.push_back({false, names[part]});
    }
    source.rules.push_back(std::move(rule));
  }
  for (int a = 0; a < pda.alphabet().size(); ++a)
    if (used[a]) source.symbols.push_back(pda.alphabet().symbol(a));
  return {Grammar(source), std::log(total.front()), log_factor};
}

}  // namespace pushdown
