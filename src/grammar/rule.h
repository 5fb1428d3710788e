// The rules of a context-free grammar, numbered and as written.
#pragma once
#include <compare>
#include <string>
#include <vector>

namespace pushdown {

struct Symbol {
  bool terminal = false;
  int id = 0;  // in the alphabet, or among the nonterminals

  friend bool operator==(const Symbol&, const Symbol&) = default;
  friend auto operator<=>(const Symbol&, const Symbol&) = default;
};

struct Rule {
  int left = 0;
  std::vector<Symbol> right;
  double weight = 0;   // probability given the left side
  std::string origin;  // "dyck.lua:12", or empty
};

// A symbol of a rule as written, before symbols are numbered.
struct NamedSymbol {
  bool terminal = false;
  std::string name;
};
struct NamedRule {
  std::string left;
  std::vector<NamedSymbol> right;
  double weight = 1;  // any non-negative number
  std::string origin = {};
};

}  // namespace pushdown
