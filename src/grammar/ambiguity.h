// Whether strings of a grammar have several derivations, found by trying some.
#pragma once
#include <cstdint>
#include <optional>

#include "grammar/grammar.h"

namespace pushdown {

struct AmbiguousString {
  Word word;
  double log_probability;  // of all its derivations
  double log_best;         // of the most probable one, which is less
};

// A string of at most `longest` symbols whose probability exceeds that of its best derivation,
// among `strings` drawn of each length; nothing if there is none among them. Finding none proves
// nothing: whether a grammar is ambiguous is undecidable.
std::optional<AmbiguousString> find_ambiguous_string(const Grammar& grammar, int longest,
                                                     int strings, std::uint64_t seed);

}  // namespace pushdown
