// Brute force for synchronous grammars: the weight of every short pair, by iterating the grammar's
// own equations on tables of pairs. It shares only the rules with the product.
#pragma once
#include <algorithm>
#include <map>
#include <string>

#include "grammar/synchronous.h"

namespace pushdown::oracle {

using Pairs = std::map<std::pair<Word, Word>, double>;

// Inversions, rules of rank three and four, empty sides, unary cycles, cycles that lengthen one
// side only, ambiguity, and every degree of criticality.
inline const std::map<std::string, std::string>& synchronous_texts() {
  static const std::map<std::string, std::string> texts = {
      {"inversion",
       "S -> S1 S2 | S1 S2 [.2]\nS -> S1 S2 | S2 S1 [.2]\nS -> 'a' | 'x' [.4]\nS -> 'b' | 'y' "
       "[.2]"},
      {"rank three",
       "A -> S1 V2 O3 | S1 O3 V2\nS -> 's' | 't' [.7]\nS -> S1 'r' S2 | 'q' S1 S2 [.3]\n"
       "V -> 'v' | 'w'\nO -> S1 | S1 [.5]\nO -> 'o' | 'p' [.5]"},
      {"rank four, not binarisable",
       "A -> B1 B2 B3 B4 | B2 B4 B1 B3 [.6]\nA -> B1 | B1 [.4]\n"
       "B -> 'a' | 'x' [.5]\nB -> 'b' | 'y' [.3]\nB -> A1 | A1 [.1]\nB -> | [.1]"},
      {"unary cycle",
       "S -> T1 | T1 [.5]\nS -> 'a' | 'x' [.5]\nT -> S1 | S1 [.6]\nT -> 'b' | 'y' 'x' [.4]"},
      {"insertions without end",
       "S -> S1 | S1 'x' [.3]\nS -> 'a' S1 | 'y' S1 [.3]\nS -> 'a' | [.2]\nS -> | 'y' [.2]"},
      {"empty sides",
       "S -> N1 S2 N3 | N3 'x' N1 S2 [.4]\nS -> 'a' | 'y' [.4]\nS -> | [.2]\n"
       "N -> | [.4]\nN -> 'b' | [.2]\nN -> | 'x' [.2]\nN -> N1 N2 | N2 N1 [.2]"},
      {"supercritical", "S -> S1 S2 | S2 S1 [.7]\nS -> 'a' | 'x' [.2]\nS -> 'b' | 'y' [.1]"},
      {"two targets of one source",
       "S -> 'a' S1 | 'x' S1 [.3]\nS -> 'a' S1 | S1 'y' [.3]\nS -> | [.4]"},
      {"zero weight", "S -> 'a' S1 | 'x' S1 [.5]\nS -> 'b' | 'y' [.5]\nS -> S1 S2 | S2 S1 [0]"},
  };
  return texts;
}

inline Pairs pair_weights(const SynchronousGrammar& grammar, std::size_t longest_source,
                          std::size_t longest_target) {
  const auto rules = grammar.source().rules;
  std::map<std::string, Pairs> table;
  for (int round = 0; round < 3000; ++round) {
    std::map<std::string, Pairs> next;
    for (const auto& rule : rules) {
      // One choice of a pair for each index after the other.
      std::vector<const LinkedSymbol*> linked;
      for (const auto& symbol : rule.source)
        if (!symbol.terminal) linked.push_back(&symbol);
      std::map<int, std::pair<Word, Word>> chosen;
      const auto yield = [&](const std::vector<LinkedSymbol>& side, const Alphabet& alphabet,
                             bool target) {
        Word word;
        for (const auto& symbol : side) {
          if (symbol.terminal) {
            word.push_back(alphabet.id(symbol.name));
          } else if (const auto found = chosen.find(symbol.index); found != chosen.end()) {
            const auto& part = target ? found->second.second : found->second.first;
            word.insert(word.end(), part.begin(), part.end());
          }
        }
        return word;
      };
      const auto choose = [&](const auto& self, std::size_t place, double weight) -> void {
        auto source = yield(rule.source, grammar.source_alphabet(), false);
        auto target = yield(rule.target, grammar.target_alphabet(), true);
        if (source.size() > longest_source || target.size() > longest_target || weight == 0) return;
        if (place == linked.size()) {
          next[rule.left][{std::move(source), std::move(target)}] += weight;
          return;
        }
        for (const auto& [pair, p] : table[linked[place]->name]) {
          chosen[linked[place]->index] = pair;
          self(self, place + 1, weight * p);
          chosen.erase(linked[place]->index);
        }
      };
      choose(choose, 0, rule.weight);
    }
    double change = 0;
    for (const auto& [name, pairs] : next)
      for (const auto& [pair, p] : pairs) {
        const auto found = table[name].find(pair);
        change = std::max(change, p - (found == table[name].end() ? 0.0 : found->second));
      }
    table = std::move(next);
    if (change < 1e-17) break;
  }
  return table[grammar.source().start];
}

}  // namespace pushdown::oracle
