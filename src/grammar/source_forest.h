// A packed forest of all derivations of a string by the source side of a synchronous grammar, used
// by synchronous_parse.h.
#pragma once
#include <cstdint>

#include "grammar/synchronous.h"

namespace pushdown {

class SourceForest {
 public:
  // A rule together with one child node for each nonterminal of its source side.
  struct Way {
    int rule;
    std::vector<int> children;
  };
  // The nonterminal over word[begin .. end).
  struct Node {
    int nonterminal, begin, end;
    std::vector<Way> ways;
  };

  // Throws std::invalid_argument if an id is outside the source alphabet, the word is longer than
  // 2,000 symbols, or there are more than 2 million ways.
  SourceForest(const SynchronousGrammar& grammar, const Word& word);

  // Returns the nodes that are part of a derivation of the whole word; empty if there is no
  // derivation. The root is node 0.
  const std::vector<Node>& nodes() const { return nodes_; }
  // The nodes of one span. A unary rule, or a rule whose other children are empty, has a child with
  // the same span. If `repeat` is set, values computed from children must be iterated until nothing
  // changes.
  struct Group {
    std::vector<int> nodes;
    bool repeat = false;
  };
  // Ordered from the shortest spans to the longest: the children of a node are in its own group or
  // an earlier one.
  const std::vector<Group>& groups() const { return groups_; }

 private:
  void derive(const SynchronousGrammar& grammar, const Word& word);
  void grow(const SynchronousGrammar& grammar, const Word& word);
  void group();
  // The ends of the strings that the nonterminal derives from `begin`, as a bit set.
  std::uint64_t* row(int nonterminal, int begin) {
    return &derives_[(static_cast<std::size_t>(nonterminal) * (length_ + 1) + begin) * words_];
  }
  bool derives(int nonterminal, int begin, int end) {
    return (row(nonterminal, begin)[end / 64] >> (end % 64) & 1) != 0;
  }

  int length_;
  std::size_t words_;  // number of 64-bit words in a row
  std::vector<std::uint64_t> derives_;
  std::vector<Node> nodes_;
  std::vector<Group> groups_;
};

}  // namespace pushdown
