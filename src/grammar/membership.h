// Exact membership in the language of a grammar, and exact viability of prefixes, one symbol at a
// time. No probabilities: a rule counts if its weight is above 0, so nothing can be rounded away.
//
// Over the rules of at most two symbols (normal_form.h), with X, Y any symbols, after t symbols:
//   whole [A,i,t]  w_i .. w_{t-1} is a string of A
//                  = exists A -> X Y and k:  whole[X,i,k] and whole[Y,k,t],  closed under A -> X
//   prefix[A,i,t]  w_i .. w_{t-1} begins some string of A (all symbols are productive)
//                  = exists A -> X Y and k:  whole[X,i,k] and prefix[Y,k,t], closed under A -> X
//                    and under A -> X Y (what begins X begins A)
// A column t is a set of starts i for each symbol, kept as bits, so the sum over i is one pass of
// machine words. A symbol costs O(t (symbols + rules t / 64)), a string of n symbols
// O(n^2 (symbols + rules n / 64)).
#pragma once
#include <cstdint>
#include <vector>

#include "grammar/grammar.h"

namespace pushdown {

class Membership {
 public:
  explicit Membership(Grammar grammar);

  const Grammar& grammar() const { return grammar_; }
  const Word& word() const { return word_; }  // what was read

  // Throws std::invalid_argument when the id is outside the alphabet, or there is nothing to take
  // back.
  void push(int symbol);
  void pop();
  void clear() { word_.clear(); }

  bool accepts() const;  // the string read is in the language
  bool viable() const;   // the string read begins some string of the language

  // Reads `word` from the start, up to where it is no longer viable; whether it is in the language.
  bool contains(const Word& word);

 private:
  struct Split {  // left -> first Y
    int left, first;
  };
  enum Table { kWhole, kPrefix };

  void reserve(int length);
  void close_and_split(Table table, int start);
  std::uint64_t* column(Table table, int end, int symbol);
  const std::uint64_t* column(Table table, int end, int symbol) const;

  Grammar grammar_;
  int nonterminals_ = 0, symbols_ = 0;  // symbols: nonterminals, then terminals
  bool empty_ = false, productive_ = false;
  std::vector<std::vector<int>> up_[2];     // [table][symbol]: left sides reached by closure
  std::vector<std::vector<Split>> splits_;  // [Y]
  Word word_;
  int capacity_ = 0, words_ = 0;        // longest string there is room for; words of a set
  std::vector<std::uint64_t> bits_[2];  // [table][end][symbol][word]
  std::vector<int> active_;
};

// At most `most` distinct strings of this length, all there are if there are fewer. Not a sample:
// which ones is unspecified. Throws std::invalid_argument when length is negative or most < 1.
std::vector<Word> strings_of_length(const Grammar& grammar, int length, std::int64_t most);

}  // namespace pushdown
