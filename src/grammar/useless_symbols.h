// Useless symbols of a grammar (Hopcroft and Ullman 1979, section 4.4): nonterminals that derive no
// terminal string, and nonterminals that no derivation from the start symbol contains.
#pragma once
#include <string>
#include <vector>

#include "grammar/grammar.h"

namespace pushdown {

struct UselessSymbol {
  std::string name;
  std::string origin;  // of its first rule, or of its first use if it has no rules; may be empty
};

struct UselessSymbols {
  std::vector<UselessSymbol> undefined;     // used, but without rules
  std::vector<UselessSymbol> unproductive;  // derive no terminal string; rules of weight 0 do not
                                            // count, and undefined symbols are not listed again
  std::vector<UselessSymbol> unreachable;   // by any rules, also those of weight 0
};

// Returns the useless symbols in the order of their rules. `unreachable` is empty if the start
// symbol has no rules.
UselessSymbols find_useless_symbols(const GrammarSource& source);

// Returns the source without its useless symbols, their rules, and the listed symbols of the
// alphabet that only these rules use. `removed` receives "A (mine.cfg:3) derives no terminal
// string" for each symbol. The language stays the same. The weights are kept, so Grammar divides
// those that remain by their sum. A source whose start symbol is useless is returned as it is.
GrammarSource without_useless_symbols(GrammarSource source, std::vector<std::string>& removed);

// Returns "'A', 'B'", with origins "'A' (mine.cfg:3), 'B' (mine.cfg:7)" if there are several.
std::string listed(const std::vector<UselessSymbol>& symbols);

}  // namespace pushdown
