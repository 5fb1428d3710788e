// Synchronous context-free grammars (Aho and Ullman 1972), among them the inversion transduction
// grammars of Wu 1997: a rule has a left side, a source side and a target side,
//   A -> S1 VT2 O3 | S1 O3 VT2
// and rewrites two strings at once. Nonterminals of the two sides are linked by their index: the
// same indices and nonterminals stand on both, in any order. Terminals are not linked, and each
// side has its own alphabet. A side may be empty or have up to 1,000 symbols, of which any number
// are nonterminals.
//
// A derivation is the sequence of its rules in leftmost order of the source side. It is at once a
// derivation of the source projection, the context-free grammar of the source sides, and, the
// subtrees in another order, of the target projection. Weights are relative to the sum over the
// left side, as in a Grammar, and the relation's probability P(source, target) is the sum over the
// derivations of the pair. Both projections have as many rules as the grammar, in its order, so
// what does not end or is not reached is the same in all three.
//
// SynchronousGrammar is an immutable value that is cheap to copy. Errors are std::invalid_argument
// and name the origin (file:line), the rule and the symbol.
#pragma once
#include "grammar/grammar.h"

namespace pushdown {

// A source and a target string: ids of the source alphabet and of the target alphabet.
struct Pair {
  Word source, target;

  friend bool operator==(const Pair&, const Pair&) = default;
};

struct LengthInterval {
  int shortest = 0, longest = 0;  // both included

  bool contains(std::size_t length) const {
    return length >= static_cast<std::size_t>(shortest) &&
           length <= static_cast<std::size_t>(longest);
  }
};

// As it is written down.
struct LinkedSymbol {
  bool terminal = false;
  std::string name = {};
  int index = 0;  // of a nonterminal, from 1; 0: none was written
};
struct NamedSynchronousRule {
  std::string left = {};
  std::vector<LinkedSymbol> source = {}, target = {};
  double weight = 1;  // any non-negative number
  std::string origin = {};
};
// "A -> S1 'x' | 'y' S1", without the weight.
std::string rule_text(const NamedSynchronousRule& rule);

struct SynchronousSource {
  std::string name = {};   // shown in messages
  std::string start = {};  // empty: the left side of the first rule
  // Orders of the alphabets; symbols not listed follow in order of first use.
  std::vector<std::string> source_symbols = {}, target_symbols = {};
  std::vector<NamedSynchronousRule> rules = {};
};

struct SynchronousRule {
  int left = 0;
  std::vector<Symbol> source, target;
  // For each nonterminal of the target side, from left to right: which nonterminal of the source
  // side it is linked to, 0 being the leftmost.
  std::vector<int> links;
  double weight = 0;  // probability given the left side
};

class SynchronousGrammar {
 public:
  // Throws on what Grammar refuses of either projection, on an index that is missing, stands twice
  // on a side, is missing on the other side or has another nonterminal there, on a nonterminal that
  // ends in a digit or is also a terminal, and on a side that is too long.
  explicit SynchronousGrammar(const SynchronousSource& source);

  const std::string& name() const { return source_side().name(); }
  const std::vector<SynchronousRule>& rules() const;
  const std::vector<std::string>& nonterminals() const { return source_side().nonterminals(); }
  int start() const { return source_side().start(); }
  const Alphabet& source_alphabet() const { return source_side().alphabet(); }
  const Alphabet& target_alphabet() const { return target_side().alphabet(); }
  // The projections. Rule i of each is side i of this grammar.
  const Grammar& source_side() const;
  const Grammar& target_side() const;
  // Probability that a derivation ends: the total mass of all pairs.
  double termination_probability() const { return source_side().termination_probability(); }
  const std::vector<std::string>& warnings() const { return source_side().warnings(); }

  // The pair of a derivation, given as rules in leftmost order of the source side. Throws when they
  // are none.
  Pair pair_of(const std::vector<int>& derivation) const;

  SynchronousSource source() const;  // the same grammar, written down again

 private:
  struct Data;
  std::shared_ptr<const Data> data_;
};

}  // namespace pushdown
