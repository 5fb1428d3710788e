// What methods do with symbols outside an alphabet: their option `unknown`.
#pragma once
#include "bindings/binder/options.h"
#include "bindings/grammar/alphabet.h"

namespace pushdown {

struct UnknownSymbol {
  std::optional<std::string> unknown;
  static OptionRows rows();
};

// The option in the rows of another struct.
template <class X>
OptionRow<X> unknown_row() {
  return {
      "unknown", &X::unknown,
      "a symbol of the alphabet that stands for every symbol outside it, or 'reject': no string "
      "has such a symbol; if absent, such a symbol is an error"};
}

// Returns the symbols, which need not be in any alphabet.
std::vector<std::string> symbols_of(const Tokens& tokens);

// Returns the string, or nothing if it has a symbol outside the alphabet and `unknown` is 'reject'.
// Throws std::invalid_argument for such a symbol without `unknown`, and if that is not a symbol.
std::optional<Word> known_word(const Alphabet& alphabet, const Tokens& tokens,
                               const std::optional<std::string>& unknown);

}  // namespace pushdown
