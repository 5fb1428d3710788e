// A search for ambiguous strings: draws strings and looks for one that has several derivations.
#pragma once
#include <cstdint>
#include <optional>

#include "grammar/grammar.h"

namespace pushdown {

struct AmbiguousString {
  Word word;
  double log_probability;  // of all its derivations
  double log_best;         // of the most probable one; smaller than log_probability
};

// Draws `strings` strings of each length up to `longest` and returns one whose probability exceeds
// that of its best derivation, or nothing. A search without a result proves nothing: ambiguity of a
// grammar is undecidable.
std::optional<AmbiguousString> find_ambiguous_string(const Grammar& grammar, int longest,
                                                     int strings, std::uint64_t seed);

}  // namespace pushdown
