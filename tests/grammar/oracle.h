// Brute-force oracles for grammars: the weight of every short string from every nonterminal, by
// iterating the grammar's own equations on tables of strings. They share no code with the product:
// no binarization, no removal of epsilon or unary rules, no chart.
#pragma once
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "grammar/grammar.h"

namespace pushdown::oracle {

using Strings = std::map<Word, double>;

// Grammars with unary cycles, nullable chains, ambiguity, recursion through a nullable start, long
// right sides and every degree of criticality.
inline const std::map<std::string, std::string>& grammar_texts() {
  static const std::map<std::string, std::string> texts = {
      {"unary cycle",
       "S -> A [.5] | 'a' S 'b' [.3] | 'c' [.2]\n"
       "A -> B [.6] | 'a' [.4]\n"
       "B -> S [.5] | A [.2] | 'b' [.3]"},
      {"nullable chain",
       "S -> A B C [.7] | S S [.1] | [.2]\n"
       "A -> 'a' [.5] | [.5]\n"
       "B -> A A [.5] | 'b' [.3] | [.2]\n"
       "C -> B [.5] | 'c' [.5]"},
      {"ambiguous", "S -> S S [.4] | 'a' [.5] | 'b' [.1]"},
      {"nullable recursive start", "S -> S S [.3] | 'a' S 'b' [.3] | [.4]"},
      {"long rules",
       "S -> 'x' A 'y' A 'y' [.3] | A A A A [.3] | A 'x' A [.2] | A A A 'y' [.2]\n"
       "A -> 'x' [.2] | [.3] | 'y' S [.1] | S [.1] | 'x' A 'x' 'y' [.3]"},
      {"supercritical", "S -> S S [.7] | 'a' [.2] | 'b' [.1]"},
      {"critical", "S -> S S [.5] | 'a' [.25] | 'b' 'a' [.25]"},
      {"self loop", "S -> S [.5] | 'a' [.3] | S 'b' [.2]"},
      {"nullable left recursion", "S -> S A [.5] | A [.5]\nA -> [.6] | 'a' [.3] | 'b' [.1]"},
      {"zero weight", "S -> 'a' S [0] | 'b' S 'b' [.5] | 'a' [.5]"},
      {"two cycles through epsilon",
       "S -> A N [.4] | N A [.3] | 'a' [.3]\nA -> S N N [.6] | 'b' [.4]\nN -> [.7] | 'c' N [.3]"},
  };
  return texts;
}

// Weights of all strings of at most `longest` symbols, for every nonterminal; `combine` adds
// derivations or keeps the best one.
template <class Combine>
std::vector<Strings> string_weights(const Grammar& grammar, std::size_t longest, Combine combine) {
  std::vector<Strings> table(grammar.nonterminals().size());
  for (int round = 0; round < 4000; ++round) {
    std::vector<Strings> next(table.size());
    for (const auto& rule : grammar.rules()) {
      if (rule.weight == 0) continue;
      Strings partial{{{}, rule.weight}};
      for (const auto symbol : rule.right) {
        const Strings below = symbol.terminal ? Strings{{{symbol.id}, 1.0}} : table[symbol.id];
        Strings longer;
        for (const auto& [left, p] : partial)
          for (const auto& [right, q] : below) {
            if (left.size() + right.size() > longest) continue;
            Word word = left;
            word.insert(word.end(), right.begin(), right.end());
            auto& value = longer[word];
            value = combine(value, p * q);
          }
        partial = std::move(longer);
      }
      for (const auto& [word, p] : partial) {
        auto& value = next[rule.left][word];
        value = combine(value, p);
      }
    }
    double change = 0;
    for (std::size_t a = 0; a < table.size(); ++a)
      for (const auto& [word, p] : next[a]) {
        const auto found = table[a].find(word);
        change = std::max(change, p - (found == table[a].end() ? 0.0 : found->second));
      }
    table = std::move(next);
    if (change < 1e-17) break;
  }
  return table;
}

inline Strings sums(const Grammar& grammar, std::size_t longest) {
  return string_weights(grammar, longest, [](double a, double b) { return a + b; })
      .at(grammar.start());
}

inline Strings maxima(const Grammar& grammar, std::size_t longest) {
  return string_weights(grammar, longest, [](double a, double b) { return std::max(a, b); })
      .at(grammar.start());
}

// Every string over `symbols` symbols of at most `longest` symbols.
inline std::vector<Word> all_words(int symbols, std::size_t longest) {
  std::vector<Word> words{{}};
  for (std::size_t begin = 0, length = 0; length < longest; ++length) {
    const std::size_t end = words.size();
    for (std::size_t i = begin; i < end; ++i)
      for (int s = 0; s < symbols; ++s) {
        words.push_back(words[i]);
        words.back().push_back(s);
      }
    begin = end;
  }
  return words;
}

inline double weight_of(const Strings& strings, const Word& word) {
  const auto found = strings.find(word);
  return found == strings.end() ? 0.0 : found->second;
}

}  // namespace pushdown::oracle
