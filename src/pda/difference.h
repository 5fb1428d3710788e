// The shortest string on which two pushdown automata differ.
//
// Strings are tried in the order of their lengths and, within a length, of the alphabet: the
// symbols of the first automaton, then those that only the second one has. After each string, both
// automata are in sets of configurations (state and stack). Configurations that cannot accept a
// string of at most n symbols are dropped (summaries.h), and of the strings that lead to the same
// two sets only the first is continued. So the search is exact up to length n; it takes polynomial
// time where few sets occur, as in languages with counters, and exponential time at worst.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pda/pda.h"

namespace pushdown {

struct DifferenceOptions {
  int up_to = 12;           // longest string
  bool weights = false;     // compare the weights of strings, not only whether they are accepted
  double tolerance = 1e-9;  // relative difference of weights that counts as equal
  std::int64_t limit = 4'000'000;  // of moves
};

struct Difference {
  std::vector<std::string> string;
  double log_weights[2];  // in both automata; -infinity: not accepted
};

// Returns nothing if the automata do not differ on strings of at most `up_to` symbols. A string
// with a symbol that an automaton does not have is not accepted by it. Throws std::invalid_argument
// if the search takes more than `limit` moves; the message says up to which length they are equal.
std::optional<Difference> difference(const Pda& a, const Pda& b,
                                     const DifferenceOptions& options = {});

}  // namespace pushdown
