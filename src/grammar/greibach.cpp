#include "grammar/greibach.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "base/check.h"
#include "base/memory.h"
#include "base/stopping.h"
#include "grammar/fixed_point.h"
#include "grammar/normal_form.h"
#include "grammar/text.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "grammar.greibach";

bool start_is_used(const GreibachForm& form) {
  return std::any_of(form.rules.begin(), form.rules.end(), [&](const GreibachRule& rule) {
    return std::find(rule.rest.begin(), rule.rest.end(), form.start) != rule.rest.end();
  });
}

// Takes the grammar's own rules if all of them are empty or begin with a terminal.
class OwnRules {
 public:
  explicit OwnRules(const Grammar& grammar)
      : grammar_(grammar), size_(static_cast<int>(grammar.nonterminals().size())), empty_(size_) {}

  bool take(GreibachForm& form) {
    std::vector<bool> has_others(size_);
    for (const auto& rule : grammar_.rules()) {
      if (rule.weight == 0) continue;
      if (!rule.right.empty() && !rule.right.front().terminal) return false;
      if (rule.right.empty())
        empty_[rule.left] += rule.weight;
      else
        has_others[rule.left] = true;
    }
    form_ = &form;
    form.names = grammar_.nonterminals();
    form.start = grammar_.start();
    form.empty_mass = empty_[form.start];
    form.mass = grammar_.termination_probabilities();
    for (int a = 0; a < size_; ++a) {
      form.mass[a] -= empty_[a];
      only_empty_.push_back(!has_others[a]);
    }
    const StopCheck stop;
    for (const auto& rule : grammar_.rules()) {
      stop();
      if (rule.weight == 0 || rule.right.empty()) continue;
      if (!add({rule.left, rule.right.front().id, {}, rule.weight}, rule.right, 1)) return false;
    }
    remove_unreachable(form);
    return true;
  }

 private:
  // Adds the rules for the symbols from number `at` on; false if there are too many.
  bool add(GreibachRule rule, const std::vector<Symbol>& right, std::size_t at) {
    constexpr std::size_t kMost = 64;  // alternatives of a rule
    if (at == 1) alternatives_ = 0;
    if (at == right.size()) {
      form_->rules.push_back(std::move(rule));
      return ++alternatives_ <= kMost;
    }
    const auto symbol = right[at];
    if (!symbol.terminal && empty_[symbol.id] > 0) {
      auto shorter = rule;
      shorter.weight *= empty_[symbol.id];
      if (!add(std::move(shorter), right, at + 1)) return false;
      if (only_empty_[symbol.id]) return true;
    }
    rule.rest.push_back(symbol.terminal ? terminal(symbol.id) : symbol.id);
    return add(std::move(rule), right, at + 1);
  }

  // Rules of weight 0 may be the only ones that lead to a nonterminal.
  static void remove_unreachable(GreibachForm& form) {
    std::vector<std::vector<const GreibachRule*>> by_left(form.names.size());
    for (const auto& rule : form.rules) by_left[rule.left].push_back(&rule);
    std::vector<bool> reached(form.names.size());
    std::vector<int> order{form.start};
    reached[form.start] = true;
    for (std::size_t k = 0; k < order.size(); ++k)  // order grows
      for (const auto* rule : by_left[order[k]])
        for (const int next : rule->rest)
          if (!reached[next]) {
            reached[next] = true;
            order.push_back(next);
          }
    std::erase_if(form.rules, [&](const GreibachRule& rule) { return !reached[rule.left]; });
    for (std::size_t a = 0; a < reached.size(); ++a)
      if (!reached[a]) form.mass[a] = 0;
  }

  // Returns the nonterminal that derives this symbol alone.
  int terminal(int symbol) {
    const auto [entry, is_new] = terminals_.try_emplace(symbol, form_->names.size());
    if (is_new) {
      const auto& own = grammar_.nonterminals();
      std::string name;
      do name = "N" + std::to_string(++named_);
      while (std::find(own.begin(), own.end(), name) != own.end());
      form_->names.push_back(name);
      form_->mass.push_back(1);
      form_->rules.push_back({entry->second, symbol, {}, 1.0});
    }
    return entry->second;
  }

  const Grammar& grammar_;
  int size_, named_ = 0;
  GreibachForm* form_ = nullptr;
  std::vector<double> empty_;  // mass of the empty string from each nonterminal
  std::vector<bool> only_empty_;
  std::map<int, int> terminals_;
  std::size_t alternatives_ = 0;
};

class Converter {
 public:
  explicit Converter(const Grammar& grammar)
      : grammar_(grammar), form_(grammar.normal_form()), heads_(form_.size), own_(form_.size) {
    for (auto& rule : closed_rules(form_)) {
      const Symbol first = rule.right.front();
      if (first.terminal)
        own_[rule.left].push_back(std::move(rule));
      else
        heads_[first.id].push_back(std::move(rule));
    }
    find_left_corners();
  }

  void run(GreibachForm& result) {
    const StopCheck stop;
    result.empty_mass = form_.empty_mass;
    result.start = id_of({form_.start, kPlain});
    for (std::size_t k = 0; k < order_.size(); ++k) {  // order_ grows
      stop();
      const Key key = order_[k];
      std::map<std::pair<int, std::vector<int>>, double> merged;
      for (const auto& piece : pieces_of(key)) {
        std::vector<int> rest;
        for (const Key& next : piece.rest) rest.push_back(id_of(next));
        merged[{piece.terminal, rest}] += piece.weight;
      }
      for (const auto& [right, weight] : merged)
        result.rules.push_back({static_cast<int>(k), right.first, right.second, weight});
      check_count(result.rules.size());
    }
    find_masses();
    for (const Key& key : order_) result.mass.push_back(mass_of(key));
    name_all(result);
  }

 private:
  // A nonterminal of the result: (A, kPlain) for A, (B, A) for Y[B,A], (b, kTerminal) for b alone.
  using Key = std::pair<int, int>;
  static constexpr int kPlain = -1, kTerminal = -2;
  struct Piece {
    int terminal;
    std::vector<Key> rest;
    double weight;
  };

  int id_of(Key key) {
    const auto [entry, is_new] = ids_.try_emplace(key, static_cast<int>(order_.size()));
    if (is_new) order_.push_back(key);
    return entry->second;
  }

  // The form can have a rule for every two left corners and every rule, and replaces nonterminals
  // by their rules.
  void check_count(std::size_t rules) const {
    constexpr std::size_t kMost = 1'000'000;
    check(rules <= kMost, kWhere,
          "the Greibach normal form of this grammar has more than {} rules, because of the left "
          "recursion among its {} nonterminals",
          kMost, grammar_.nonterminals().size());
  }

  // Returns whether A derives a string that begins with B in at least one step.
  bool is_corner(int b, int a) const {
    return (above_[component_[b]][a / 64] >> (a % 64) & 1) != 0;
  }

  // Finds the nonterminals above each left corner, which are the same in a whole component.
  void find_left_corners() {
    std::vector<std::vector<int>> successors(form_.size);
    for (int b = 0; b < form_.size; ++b) {
      for (const auto& rule : heads_[b]) successors[b].push_back(rule.left);
      std::sort(successors[b].begin(), successors[b].end());
      successors[b].erase(std::unique(successors[b].begin(), successors[b].end()),
                          successors[b].end());
    }
    const auto components = strong_components(successors);
    component_.resize(form_.size);
    const std::size_t words = (static_cast<std::size_t>(form_.size) + 63) / 64;
    check_memory(kWhere, "the table of left corners",
                 8.0 * static_cast<double>(words * components.size()));
    above_.assign(components.size(), std::vector<std::uint64_t>(words));
    const StopCheck stop;
    for (std::size_t c = 0; c < components.size(); ++c) {
      for (const int b : components[c]) component_[b] = static_cast<int>(c);
      for (const int b : components[c])
        for (const int a : successors[b]) {
          stop();
          above_[c][a / 64] |= std::uint64_t{1} << (a % 64);
          for (std::size_t w = 0; w < words; ++w) above_[c][w] |= above_[component_[a]][w];
        }
    }
  }

  double mass_of(Symbol symbol) const {
    return symbol.terminal ? 1.0 : form_.mass[symbol.id] - form_.nullable[symbol.id];
  }
  double mass_of(Key key) const {
    if (key.second == kTerminal) return 1.0;
    if (key.second == kPlain) return mass_of(Symbol{false, key.first});
    const auto [b, a] = key;
    return corner_mass_[static_cast<std::size_t>(a) * form_.size + b] * mass_of(Symbol{false, a}) /
           mass_of(Symbol{false, b});
  }

  // Solves Y = H + H Y in masses. With x the masses of the nonterminals, x[A] is the mass of A's
  // own rules and the sum of x[B] H[B,A]. So the shares x[B] H[B,A] / x[A] form the rows of a
  // matrix whose sums are known.
  void find_masses() {
    const int size = form_.size;
    const auto entries = static_cast<std::size_t>(size) * size;
    check_memory(kWhere, "the masses of left corners", 8.0 * entries);
    corner_mass_.assign(entries, 0.0);
    SparseMatrix matrix = identity_matrix(size);
    std::vector<double> own(size);
    for (int b = 0; b < size; ++b) {
      for (const auto& rule : heads_[b]) {
        const double share = rule.weight * mass_of(rule.right[1]) * mass_of(Symbol{false, b}) /
                             mass_of(Symbol{false, rule.left});
        matrix[rule.left].emplace_back(b, -share);
        corner_mass_[static_cast<std::size_t>(rule.left) * size + b] += share;
      }
      for (const auto& rule : own_[b])
        own[b] += rule.weight * (rule.right.size() == 2 ? mass_of(rule.right[1]) : 1.0) /
                  mass_of(Symbol{false, b});
    }
    add_up(matrix);
    check(solve_m_matrix(std::move(matrix), corner_mass_, size, own) > 0, kWhere,
          "the left-recursive rules of the grammar have infinite total weight");
  }

  // x[A] = K[A] + K[B] Y[B,A]
  std::vector<Piece> pieces_of_plain(int a) const {
    std::vector<Piece> pieces;
    for (int b = 0; b < form_.size; ++b)
      for (const auto& rule : own_[b]) {
        Piece piece{rule.right[0].id, {}, rule.weight};
        if (rule.right.size() == 2)
          piece.rest.push_back({rule.right[1].id, rule.right[1].terminal ? kTerminal : kPlain});
        if (a == b) pieces.push_back(piece);
        if (!is_corner(b, a)) continue;
        piece.rest.push_back({b, a});
        pieces.push_back(piece);
        check_count(pieces.size());
      }
    return pieces;
  }

  std::vector<Piece> pieces_of(Key key) const {
    StopCheck()();
    const auto [b, a] = key;
    if (a == kTerminal) return {{b, {}, 1.0}};
    if (a == kPlain) return pieces_of_plain(b);
    std::vector<Piece> pieces;
    for (const auto& rule : heads_[b]) {
      const bool last = rule.left == a, more = is_corner(rule.left, a);
      if (!last && !more) continue;
      const Symbol beta = rule.right[1];
      for (auto& piece : pieces_of({beta.id, beta.terminal ? kTerminal : kPlain})) {
        piece.weight *= rule.weight;
        if (last) pieces.push_back(piece);
        if (!more) continue;
        piece.rest.push_back({rule.left, a});
        pieces.push_back(piece);
      }
      check_count(pieces.size());
    }
    return pieces;
  }

  // A nonterminal of the grammar keeps its name; the others become N1, N2, ...
  void name_all(GreibachForm& result) const {
    const auto& own = grammar_.nonterminals();
    std::set<std::string> taken(own.begin(), own.end());
    int number = 0;
    for (const auto& [b, a] : order_) {
      if (a == kPlain && b < static_cast<int>(own.size())) {
        result.names.push_back(own[b]);
        continue;
      }
      std::string name;
      do name = "N" + std::to_string(++number);
      while (!taken.insert(name).second);
      result.names.push_back(name);
    }
  }

  const Grammar& grammar_;
  const NormalForm& form_;
  std::vector<std::vector<ClosedRule>> heads_;     // [B]: rules A -> B beta
  std::vector<std::vector<ClosedRule>> own_;       // [A]: rules A -> a, A -> a beta
  std::vector<int> component_;                     // of each nonterminal, by left corners
  std::vector<std::vector<std::uint64_t>> above_;  // of each component: bits of nonterminals
  std::vector<double> corner_mass_;                // [A, B]: x[B] Y[B,A] / x[A]
  std::map<Key, int> ids_;
  std::vector<Key> order_;
};

// Adds a new start symbol with the rules of the old one.
void separate_start(GreibachForm& form) {
  std::string name = form.names[form.start];
  do name += "'";
  while (std::find(form.names.begin(), form.names.end(), name) != form.names.end());
  const int start = static_cast<int>(form.names.size());
  form.names.push_back(name);
  std::vector<GreibachRule> copies;
  for (const auto& rule : form.rules)
    if (rule.left == form.start) copies.push_back({start, rule.terminal, rule.rest, rule.weight});
  form.rules.insert(form.rules.begin(), copies.begin(), copies.end());
  form.mass.push_back(form.mass[form.start]);
  form.start = start;
}

}  // namespace

GreibachForm greibach_form(const Grammar& grammar) {
  GreibachForm form;
  if (!OwnRules(grammar).take(form)) {
    form = GreibachForm();
    Converter(grammar).run(form);
  }
  if (start_is_used(form)) separate_start(form);
  return form;
}

Grammar greibach_grammar(const Grammar& grammar) {
  const auto form = greibach_form(grammar);
  GrammarSource source;
  source.name = grammar.name();
  source.start = form.names[form.start];
  source.unambiguous = grammar.unambiguous();
  std::set<int> used;
  for (const auto& rule : form.rules) {
    NamedRule named{form.names[rule.left], {{true, grammar.alphabet().symbol(rule.terminal)}}};
    double mass = rule.weight;
    for (const int id : rule.rest) {
      named.right.push_back({false, form.names[id]});
      mass *= form.mass[id];
    }
    named.weight = mass / (form.mass[rule.left] + (rule.left == form.start ? form.empty_mass : 0));
    source.rules.push_back(std::move(named));
    used.insert(rule.terminal);
  }
  if (form.empty_mass > 0)
    source.rules.push_back(
        {source.start, {}, form.empty_mass / (form.mass[form.start] + form.empty_mass)});
  // A terminal that occurs only in rules of weight 0 is now in no rule.
  for (int id = 0; id < grammar.alphabet().size(); ++id)
    if (used.contains(id)) source.symbols.push_back(grammar.alphabet().symbol(id));
  return Grammar(source);
}

}  // namespace pushdown
