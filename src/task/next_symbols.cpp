#include "task/next_symbols.h"

#include "base/check.h"
#include "base/stopping.h"
#include "grammar/membership.h"

namespace pushdown {

NextSymbols next_symbols(const Grammar& grammar, const std::vector<Word>& words) {
  const int symbols = grammar.alphabet().size();
  check(symbols < 64, "task.next_symbols",
        "sets of next symbols need an alphabet of at most 63 symbols, got {}", symbols);
  Membership membership(grammar);
  NextSymbols result;
  const StopCheck stop;
  for (const auto& word : words) {
    membership.clear();
    stop();
    std::vector<SymbolSet> sets;
    bool viable = membership.viable();
    for (std::size_t t = 0; t <= word.size(); ++t) {
      SymbolSet set = 0;
      if (viable) {
        if (membership.accepts()) set |= SymbolSet{1} << symbols;
        for (int symbol = 0; symbol < symbols; ++symbol) {
          membership.push(symbol);
          if (membership.viable()) set |= SymbolSet{1} << symbol;
          membership.pop();
        }
      }
      sets.push_back(set);
      if (t == word.size()) break;
      check(word[t] >= 0 && word[t] < symbols, "task.next_symbols",
            "symbol {} is outside the alphabet of {}", word[t], symbols);
      viable = (set >> word[t] & 1) != 0;
      if (viable) membership.push(word[t]);
    }
    result.push_back(std::move(sets));
  }
  return result;
}

}  // namespace pushdown
