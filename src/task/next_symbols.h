// The symbols that may follow each prefix of a string. This is the criterion of Gers and
// Schmidhuber (2001) and Suzgun et al. (2019): a network knows a language if it predicts the whole
// set after every symbol.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "grammar/grammar.h"

namespace pushdown {

// Bit a: symbol a may follow. Bit V, where V is the size of the alphabet: the string may end here.
// No bit: the prefix begins no string of the language.
using SymbolSet = std::uint64_t;
// For each string, the sets after 0 .. n symbols.
using NextSymbols = std::vector<std::vector<SymbolSet>>;
using NextSymbolsPtr = std::shared_ptr<const NextSymbols>;

// Throws std::invalid_argument for an alphabet of more than 63 symbols, or if a symbol id is
// outside the grammar's alphabet.
NextSymbols next_symbols(const Grammar& grammar, const std::vector<Word>& words);

}  // namespace pushdown
