// Exact membership in the language of a grammar, and exact viability of prefixes, one symbol at a
// time. Uses no probabilities: a rule counts if its weight is above 0, so rounding cannot lose
// anything.
//
// Over the rules of at most two symbols (normal_form.h), with X, Y any symbols, after t symbols:
//   whole [A,i,t]  w_i .. w_{t-1} is a string of A
//                  = exists A -> X Y and k:  whole[X,i,k] and whole[Y,k,t],  closed under A -> X
//   prefix[A,i,t]  w_i .. w_{t-1} begins some string of A (all symbols are productive)
//                  = exists A -> X Y and k:  whole[X,i,k] and prefix[Y,k,t], closed under A -> X
//                    and under A -> X Y (what begins X begins A)
// A column t stores a set of starts i for each symbol as bits. The sum over i is therefore one pass
// over machine words, and starts where nothing begins cost nothing. A symbol costs at most O(t
// (symbols + rules t / 64)), and a viability test costs the same again.
#pragma once
#include <cstdint>
#include <vector>

#include "grammar/grammar.h"

namespace pushdown {

class Membership {
 public:
  explicit Membership(Grammar grammar);

  const Grammar& grammar() const { return grammar_; }
  const Word& word() const { return word_; }  // the symbols read so far

  // Throws std::invalid_argument if the id is outside the alphabet, or if there is nothing to take
  // back.
  void push(int symbol);
  void pop();
  void clear() { word_.clear(); }

  bool accepts() const;  // the string read is in the language
  bool viable();         // the string read begins some string of the language

  // Reads `word` from the start, not always to its end, and returns whether it is in the language.
  bool contains(const Word& word);

 private:
  struct Split {  // left -> first Y
    int left, first;
  };
  using Closure = std::vector<std::vector<int>>;  // [symbol]: left sides reached from it

  void reserve(int length);
  void complete(std::uint64_t* column, const Closure& up);
  void close_and_split(std::uint64_t* column, const Closure& up, int start);
  std::size_t column_size() const { return static_cast<std::size_t>(symbols_) * words_; }
  std::uint64_t* whole(int end) { return whole_.data() + end * column_size(); }
  const std::uint64_t* whole(int end) const { return whole_.data() + end * column_size(); }

  Grammar grammar_;
  int nonterminals_ = 0, symbols_ = 0;  // symbols: nonterminals, then terminals
  bool empty_ = false, productive_ = false;
  Closure whole_up_, prefix_up_;
  std::vector<std::vector<Split>> splits_;  // [Y]
  Word word_;
  int capacity_ = 0, words_ = 0;             // longest string there is room for; words per set
  std::vector<std::uint64_t> whole_;         // [end][symbol][word]
  std::vector<std::uint64_t> prefix_, any_;  // [symbol][word] and [word], of the current end
  std::vector<int> active_;
};

// Returns `most` distinct strings of this length, or all of them if there are fewer. This is not a
// sample; which strings it returns is unspecified. Throws std::invalid_argument if length is
// negative or most < 1.
std::vector<Word> strings_of_length(const Grammar& grammar, int length, std::int64_t most);

// Returns all strings of at most `longest` symbols, each once: the shortest first, and those of the
// same length in the order of the alphabet. Throws std::invalid_argument if `longest` is negative
// or there are more than `limit`, and std::runtime_error if there is too little memory.
std::vector<Word> strings_up_to(const Grammar& grammar, int longest, std::int64_t limit);

}  // namespace pushdown
