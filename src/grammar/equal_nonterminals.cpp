#include "grammar/equal_nonterminals.h"

#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/stopping.h"

namespace pushdown {
namespace equal_nonterminals {

// Rounds to 40 of the 53 bits, so that sums in different orders are equal.
double rounded(double weight) {
  int exponent = 0;
  const double mantissa = std::frexp(weight, &exponent);
  return std::ldexp(std::round(std::ldexp(mantissa, 40)), exponent - 40);
}

// Refines the partition until it is stable. Only the nonterminals whose rules contain one that
// changed its class are looked at again. The largest part of a class keeps its number, so each
// nonterminal changes at most log n times (Hopcroft 1971).
class Partition {
 public:
  explicit Partition(const GreibachForm& form)
      : rules_(form.names.size()), users_(form.names.size()), class_(form.names.size()) {
    for (const auto& rule : form.rules) {
      rules_[rule.left].push_back(&rule);
      for (const int used : rule.rest) users_[used].push_back(rule.left);
    }
    members_.emplace_back();
    for (int a = 0; a < static_cast<int>(class_.size()); ++a) members_[0].insert(a);
    auto changed = members_[0];
    if (form.empty_mass > 0) {
      members_[0].erase(form.start);
      members_.push_back({form.start});
      class_[form.start] = 1;
    }
    const StopCheck stop;
    while (!changed.empty()) {
      stop();
      changed = refine(changed);
    }
  }

  // Returns the class of each nonterminal.
  const std::vector<int>& classes() const { return class_; }

 private:
  using Signature = std::map<std::pair<int, std::vector<int>>, double>;

  Signature signature(int a) const {
    Signature sums;
    for (const auto* rule : rules_[a]) {
      std::vector<int> rest;
      for (const int used : rule->rest) rest.push_back(class_[used]);
      sums[{rule->terminal, std::move(rest)}] += rule->weight;
    }
    for (auto& [right, weight] : sums) weight = rounded(weight);
    return sums;
  }

  // Divides the classes of these nonterminals; returns those whose rules have changed thereby.
  std::set<int> refine(const std::set<int>& changed) {
    std::map<int, std::map<Signature, std::vector<int>>> parts;  // by class
    for (const int a : changed) parts[class_[a]][signature(a)].push_back(a);
    std::set<int> moved;
    for (auto& [number, by_signature] : parts) {
      std::vector<std::vector<int>> groups;
      std::size_t looked_at = 0;
      for (auto& [signature, group] : by_signature) {
        looked_at += group.size();
        groups.push_back(std::move(group));
      }
      // The others still have the signature that they had in common.
      if (looked_at < members_[number].size()) {
        std::vector<int> others;
        for (const int a : members_[number])
          if (!changed.contains(a)) others.push_back(a);
        groups.push_back(std::move(others));
      }
      std::size_t largest = 0;
      for (std::size_t k = 1; k < groups.size(); ++k)
        if (groups[k].size() > groups[largest].size()) largest = k;
      for (std::size_t k = 0; k < groups.size(); ++k) {
        if (k == largest) continue;
        const int fresh = static_cast<int>(members_.size());
        members_.emplace_back(groups[k].begin(), groups[k].end());
        for (const int a : groups[k]) {
          class_[a] = fresh;
          members_[number].erase(a);
          moved.insert(a);
        }
      }
    }
    std::set<int> next;
    for (const int a : moved) next.insert(users_[a].begin(), users_[a].end());
    return next;
  }

  std::vector<std::vector<const GreibachRule*>> rules_;  // by left side
  std::vector<std::vector<int>> users_;                  // left sides of rules that contain it
  std::vector<int> class_;
  std::vector<std::set<int>> members_;  // of each class
};

}  // namespace equal_nonterminals

void merge_equal_nonterminals(GreibachForm& form) {
  const auto classes = equal_nonterminals::Partition(form).classes();
  std::map<int, int> first;  // nonterminal of each class
  std::vector<int> kept(classes.size());
  for (std::size_t a = 0; a < classes.size(); ++a)
    kept[a] = first.try_emplace(classes[a], static_cast<int>(a)).first->second;
  form.start = kept[form.start];
  std::map<std::tuple<int, int, std::vector<int>>, std::size_t> places;
  std::vector<GreibachRule> rules;
  for (auto& rule : form.rules) {
    if (kept[rule.left] != rule.left) continue;
    for (int& used : rule.rest) used = kept[used];
    const auto [place, is_new] =
        places.try_emplace({rule.left, rule.terminal, rule.rest}, rules.size());
    if (is_new)
      rules.push_back(std::move(rule));
    else
      rules[place->second].weight += rule.weight;
  }
  form.rules = std::move(rules);
}

}  // namespace pushdown
