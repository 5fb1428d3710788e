// Synchronous context-free grammars (Aho and Ullman 1972), including the inversion transduction
// grammars of Wu 1997. A rule has a left side, a source side and a target side,
//   A -> S1 VT2 O3 | S1 O3 VT2
// and rewrites two strings at once. Nonterminals of the two sides are linked by their index: both
// sides have the same indices and nonterminals, in any order. Terminals are not linked, and each
// side has its own alphabet. A side may be empty or have up to 1,000 symbols, any number of which
// may be nonterminals.
//
// A derivation is the sequence of its rules in leftmost order of the source side. It is also a
// derivation of the source projection (the context-free grammar of the source sides) and, with
// subtrees reordered, of the target projection. Weights are relative to the sum over the left side,
// as in a Grammar. The probability P(source, target) is the sum over the derivations of the pair.
// Both projections have the same number of rules as the grammar, in the same order, so all three
// agree on which symbols are unreachable or unproductive.
//
// SynchronousGrammar is an immutable value that is cheap to copy. Errors are std::invalid_argument
// and name the origin (file:line), the rule and the symbol.
#pragma once
#include "grammar/grammar.h"

namespace pushdown {

// A source and a target string, as ids of the source alphabet and of the target alphabet.
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

// A symbol as written.
struct LinkedSymbol {
  bool terminal = false;
  std::string name = {};
  int index = 0;  // of a nonterminal, from 1; 0: no index was written
};
struct NamedSynchronousRule {
  std::string left = {};
  std::vector<LinkedSymbol> source = {}, target = {};
  double weight = 1;  // any non-negative number
  std::string origin = {};
};
// Returns the rule without its weight: "A -> S1 'x' | 'y' S1".
std::string rule_text(const NamedSynchronousRule& rule);

struct SynchronousSource {
  std::string name = {};   // shown in messages
  std::string start = {};  // empty: the left side of the first rule
  // Alphabet orders; symbols not listed follow in order of first use.
  std::vector<std::string> source_symbols = {}, target_symbols = {};
  std::vector<NamedSynchronousRule> rules = {};
};

struct SynchronousRule {
  int left = 0;
  std::vector<Symbol> source, target;
  // For each nonterminal of the target side, from left to right, the linked nonterminal of the
  // source side; 0 is the leftmost.
  std::vector<int> links;
  double weight = 0;  // probability given the left side
};

class SynchronousGrammar {
 public:
  // Throws if Grammar rejects one of the projections; if an index is missing, occurs twice on a
  // side, is missing on the other side or has another nonterminal there; if a nonterminal ends in a
  // digit or is also a terminal; and if a side is too long.
  explicit SynchronousGrammar(const SynchronousSource& source);

  const std::string& name() const { return source_side().name(); }
  const std::vector<SynchronousRule>& rules() const;
  const std::vector<std::string>& nonterminals() const { return source_side().nonterminals(); }
  int start() const { return source_side().start(); }
  const Alphabet& source_alphabet() const { return source_side().alphabet(); }
  const Alphabet& target_alphabet() const { return target_side().alphabet(); }
  // The projections. Rule i of each is one side of rule i of this grammar.
  const Grammar& source_side() const;
  const Grammar& target_side() const;
  // Returns the probability that a derivation terminates: the total mass of all pairs.
  double termination_probability() const { return source_side().termination_probability(); }
  const std::vector<std::string>& warnings() const { return source_side().warnings(); }

  // Returns the pair of a derivation, given as rules in leftmost order of the source side. Throws
  // if the rules are not a derivation.
  Pair pair_of(const std::vector<int>& derivation) const;

  SynchronousSource source() const;  // the source form of this grammar

 private:
  struct Data;
  std::shared_ptr<const Data> data_;
};

}  // namespace pushdown
