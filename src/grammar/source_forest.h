// All derivations of a string by the source side of a synchronous grammar, shared: the forest that
// synchronous_parse.h works on.
#pragma once
#include <cstdint>

#include "grammar/synchronous.h"

namespace pushdown {

class SourceForest {
 public:
  // A rule with, for each nonterminal of its source side, the node that it becomes.
  struct Way {
    int rule;
    std::vector<int> children;
  };
  // The nonterminal over word[begin .. end).
  struct Node {
    int nonterminal, begin, end;
    std::vector<Way> ways;
  };

  // Throws std::invalid_argument when an id is outside the source alphabet, the word is longer than
  // 2,000 symbols, or there are more than 2 million ways.
  SourceForest(const SynchronousGrammar& grammar, const Word& word);

  // Only nodes that stand in a derivation of the whole word; none when there is no derivation. The
  // root is node 0.
  const std::vector<Node>& nodes() const { return nodes_; }
  // The nodes of one span. Unary rules, and rules whose other parts are empty, have a child of the
  // same span, so that what is computed from the children needs `repeat`: until nothing changes.
  struct Group {
    std::vector<int> nodes;
    bool repeat = false;
  };
  // From the shortest spans to the longest: the children of a node are in its own group or before.
  const std::vector<Group>& groups() const { return groups_; }

 private:
  void derive(const SynchronousGrammar& grammar, const Word& word);
  void grow(const SynchronousGrammar& grammar, const Word& word);
  void group();
  // The ends of what the nonterminal derives from a place on, as a set of bits.
  std::uint64_t* row(int nonterminal, int begin) {
    return &derives_[(static_cast<std::size_t>(nonterminal) * (length_ + 1) + begin) * words_];
  }
  bool derives(int nonterminal, int begin, int end) {
    return (row(nonterminal, begin)[end / 64] >> (end % 64) & 1) != 0;
  }

  int length_;
  std::size_t words_;  // of 64 bits in a row
  std::vector<std::uint64_t> derives_;
  std::vector<Node> nodes_;
  std::vector<Group> groups_;
};

}  // namespace pushdown
