// Probabilistic context-free grammars.
//
// A grammar has nonterminals, terminals (its alphabet), a start symbol and rules A -> X1 ... Xk (k
// = 0 is an epsilon rule). The weight of a rule is its probability given A: the weights passed in
// are divided by their sum per left side. If they are at most 1, and so meant as probabilities, a
// sum that differs from 1 by more than rounding is a warning. The grammar defines G(w), the sum of
// the probabilities of the derivations of w. The sum of G(w) over all strings is the termination
// probability, which is below 1 for a supercritical grammar (a warning, not an error).
//
// Grammar is an immutable value that is cheap to copy. Errors are std::invalid_argument and name
// the origin (file:line) of the rule and the symbol.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/alphabet.h"
#include "grammar/rule.h"

namespace pushdown {

struct GrammarSource {
  std::string name = {};                  // shown in messages
  std::string start = {};                 // empty: the left side of the first rule
  std::vector<std::string> symbols = {};  // order of the alphabet; symbols not listed follow in
                                          // order of first use; a listed symbol must be used
  std::vector<NamedRule> rules = {};
  bool unambiguous = false;  // promise: exactly one derivation per string (see ambiguity.h)
};

struct NormalForm;

class Grammar {
 public:
  // Throws if there are no rules, a nonterminal has no rules, a weight is negative or not finite,
  // the weights of a left side sum to zero, a symbol is unreachable or derives no terminal string,
  // or a name cannot be written as text (see grammar/symbol_text.h).
  explicit Grammar(const GrammarSource& source);

  const std::string& name() const;
  const Alphabet& alphabet() const;
  const std::vector<std::string>& nonterminals() const;
  const std::vector<Rule>& rules() const;
  int start() const;
  bool unambiguous() const;
  // Returns the probability that a derivation from the start symbol terminates: the total mass of
  // all strings.
  double termination_probability() const;
  // Returns the same for every nonterminal.
  const std::vector<double>& termination_probabilities() const;
  const std::vector<std::string>& warnings() const;
  const NormalForm& normal_form() const;

  const std::string& symbol_name(Symbol symbol) const;
  // Returns a rule as text without its weight: "S -> 'a' S 'b'".
  std::string rule_text(const Rule& rule) const;
  GrammarSource source() const;  // the source form of this grammar

 private:
  struct Data;
  std::shared_ptr<const Data> data_;
};

using GrammarPtr = std::shared_ptr<const Grammar>;

}  // namespace pushdown
